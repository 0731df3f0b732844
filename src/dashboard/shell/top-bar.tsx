import {
  ActionIcon,
  Anchor,
  Burger,
  Button,
  Group,
  Kbd,
  Menu,
  Text,
  Tooltip,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import { openSpotlight } from '@mantine/spotlight'
import { Hourglass, Languages, Monitor, Moon, Search, Sun } from 'lucide-react'
import { Link } from 'wouter'
import { useGet } from '../api/api.ts'
import { Untrusted } from '../components/untrusted.tsx'
import { dayOf } from '../i18n/day.ts'
import { useFormat } from '../i18n/format.ts'
import { useLanguage, useWords } from '../i18n/language.tsx'
import { LANGUAGES, type Language } from '../i18n/words.ts'
import { useLive } from '../live/live-provider.tsx'
import { routes } from '../routes.ts'
import { useWaiting } from './waiting.ts'
import { words } from './words.ts'

export function TopBar({ menuOpened, onMenu }: { menuOpened: boolean; onMenu: () => void }) {
  const t = useWords(words)
  return (
    <Group h="100%" px={{ base: 'xs', sm: 'md' }} gap="sm" wrap="nowrap" justify="space-between">
      <Group gap="xs" wrap="nowrap" style={{ minWidth: 0 }}>
        <Burger size="sm" hiddenFrom="sm" opened={menuOpened} onClick={onMenu} aria-label={t('menu')} />
        <Anchor component={Link} href="/" underline="never" c="inherit" fw={700} aria-label="Kogu">
          <Group gap={8} wrap="nowrap">
            <img src="/icon.svg" width={22} height={22} alt="" />
            <span>Kogu</span>
          </Group>
        </Anchor>
        <Workspace />
      </Group>
      <UnstyledButton
        visibleFrom="md"
        onClick={openSpotlight}
        className="kogu-sunken"
        px="sm"
        py={5}
        style={{ flex: '0 1 340px' }}
      >
        <Group gap="xs" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Search size={15} aria-hidden />
            <Text size="sm" c="dimmed">
              {t('search')}
            </Text>
          </Group>
          <Kbd size="xs">Ctrl K</Kbd>
        </Group>
      </UnstyledButton>
      <Group gap="xs" wrap="nowrap">
        <LiveState />
        <Waiting />
        <Today />
        <LanguageMenu />
        <ThemeMenu />
      </Group>
    </Group>
  )
}

function Workspace() {
  const { data } = useGet<{ workspace: string }>('session', '/api/auth/session')
  if (data === undefined) return null
  const name = data.workspace.split('/').filter(Boolean).at(-1) ?? data.workspace
  return (
    <Tooltip label={<Untrusted text={data.workspace} />}>
      <Text size="sm" c="dimmed" truncate visibleFrom="xs" maw={220} tabIndex={0}>
        <Untrusted text={name} most={60} />
      </Text>
    </Tooltip>
  )
}

function LiveState() {
  const t = useWords(words)
  const format = useFormat()
  const { state, retry } = useLive()
  const [colour, text] =
    state.kind === 'live'
      ? ['var(--mantine-color-green-6)', t('live')]
      : state.kind === 'offline'
        ? ['var(--mantine-color-red-6)', t('offlineSince', { time: format.time(state.since) })]
        : [
            'var(--mantine-color-yellow-6)',
            state.kind === 'reconnecting'
              ? t('reconnecting', { time: format.duration(state.inMs) })
              : t('connecting'),
          ]
  return (
    <Group gap={6} wrap="nowrap" role="status" data-live={state.kind}>
      <span className="kogu-dot" style={{ background: colour }} aria-hidden />
      <Text size="sm" visibleFrom="sm">
        {text}
      </Text>
      <VisuallyHidden hiddenFrom="sm">{text}</VisuallyHidden>
      {state.kind === 'offline' && (
        <Button size="compact-xs" variant="default" onClick={retry}>
          {t('retry')}
        </Button>
      )}
    </Group>
  )
}

/** On every screen, and never in the way: a link, and a sentence for those who listen. */
function Waiting() {
  const t = useWords(words)
  const count = useWaiting().length
  const [first] = useWaiting()
  return (
    <>
      <Button
        component={Link}
        href={first === undefined ? routes.approvals() : routes.approval(first.id)}
        size="compact-sm"
        variant={count > 0 ? 'filled' : 'subtle'}
        color={count > 0 ? 'red.9' : 'gray'}
        leftSection={<Hourglass size={14} aria-hidden />}
        fw={count > 0 ? 700 : 400}
        aria-label={t('waiting', { count })}
      >
        {count}
      </Button>
      <VisuallyHidden role="status" aria-live="polite">
        {count > 0 ? t('announce', { count }) : ''}
      </VisuallyHidden>
    </>
  )
}

/** What the day has cost so far. */
function Today() {
  const t = useWords(words)
  const format = useFormat()
  const { data } = useGet<{ costUsd: number }>('usage', `/api/usage/summary?since=${dayOf(Date.now())}`)
  if (data === undefined) return null
  return (
    <Anchor component={Link} href={routes.usage()} size="sm" c="dimmed" visibleFrom="md">
      {t('today', { cost: format.money(data.costUsd, '') })}
    </Anchor>
  )
}

const NAMES: Readonly<Record<Language, string>> = { en: 'English', ja: '日本語', ko: '한국어' }

function LanguageMenu() {
  const t = useWords(words)
  const { language, setLanguage } = useLanguage()
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('language')} visibleFrom="xs">
          <Languages size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {LANGUAGES.map(each => (
          <Menu.Item
            key={each}
            lang={each}
            fw={each === language ? 700 : 400}
            onClick={() => setLanguage(each)}
          >
            {NAMES[each]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function ThemeMenu() {
  const t = useWords(words)
  const { setColorScheme } = useMantineColorScheme()
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('theme')}>
          <Sun size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Monitor size={15} aria-hidden />} onClick={() => setColorScheme('auto')}>
          {t('system')}
        </Menu.Item>
        <Menu.Item leftSection={<Sun size={15} aria-hidden />} onClick={() => setColorScheme('light')}>
          {t('light')}
        </Menu.Item>
        <Menu.Item leftSection={<Moon size={15} aria-hidden />} onClick={() => setColorScheme('dark')}>
          {t('dark')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
