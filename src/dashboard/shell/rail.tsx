import { Badge, Divider, NavLink, ScrollArea, Stack } from '@mantine/core'
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { useGet } from '../api/api.ts'
import type { Page, Run } from '../api/types.ts'
import { useWords } from '../i18n/language.tsx'
import { SCREENS, type ScreenKey } from './screens.ts'
import { useWaiting } from './waiting.ts'
import { words } from './words.ts'

/** The first of the second group: what is set up, below what happens. */
const SECOND_GROUP: ScreenKey = 'tools'

export interface RailProps {
  /** Icons only; each keeps its name for those who listen or point. */
  readonly isNarrow: boolean
  readonly onNavigate: () => void
  readonly onToggle?: () => void
}

export function Rail({ isNarrow, onNavigate, onToggle }: RailProps) {
  const t = useWords(words)
  const [location] = useLocation()
  const waiting = useWaiting().length
  const running = useGet<Page<Run>>('runs', '/api/runs?status=running&limit=20').data?.items.length ?? 0
  const counts: Partial<Record<ScreenKey, number>> = { approvals: waiting, runs: running }
  return (
    <ScrollArea type="auto">
      <Stack gap={2}>
        {SCREENS.map(({ key, path, icon: Icon }) => (
          <div key={key}>
            {key === SECOND_GROUP && <Divider my="xs" />}
            <NavLink
              component={Link}
              href={path}
              {...(isNarrow ? { 'aria-label': t(key), title: t(key) } : { label: t(key) })}
              active={path === '/' ? location === '/' : location.startsWith(path)}
              aria-current={location === path ? 'page' : undefined}
              leftSection={<Icon size={18} aria-hidden />}
              rightSection={
                isNarrow ? undefined : <Count value={counts[key] ?? 0} urgent={key === 'approvals'} />
              }
              onClick={onNavigate}
              py={7}
              {...(isNarrow ? { px: 9 } : {})}
              style={{ borderRadius: 'var(--mantine-radius-sm)' }}
            />
          </div>
        ))}
        {onToggle !== undefined && (
          <NavLink
            component="button"
            onClick={onToggle}
            aria-label={t(isNarrow ? 'wideRail' : 'narrowRail')}
            title={t(isNarrow ? 'wideRail' : 'narrowRail')}
            aria-expanded={!isNarrow}
            leftSection={
              isNarrow ? <PanelLeftOpen size={18} aria-hidden /> : <PanelLeftClose size={18} aria-hidden />
            }
            py={7}
            {...(isNarrow ? { px: 9 } : {})}
            style={{ borderRadius: 'var(--mantine-radius-sm)' }}
          />
        )}
      </Stack>
    </ScrollArea>
  )
}

function Count({ value, urgent }: { value: number; urgent: boolean }) {
  if (value === 0) return null
  return (
    <Badge size="sm" variant={urgent ? 'filled' : 'light'} color={urgent ? 'red.9' : 'gray'}>
      {value}
    </Badge>
  )
}
