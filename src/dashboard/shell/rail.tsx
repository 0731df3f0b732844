import { Badge, Divider, NavLink, ScrollArea, Stack } from '@mantine/core'
import { Link, useLocation } from 'wouter'
import { useGet } from '../api/api.ts'
import type { Page, Run } from '../api/types.ts'
import { useWords } from '../i18n/language.tsx'
import { SCREENS, type ScreenKey } from './screens.ts'
import { useWaiting } from './waiting.ts'
import { words } from './words.ts'

/** The first of the second group: what is set up, below what happens. */
const SECOND_GROUP: ScreenKey = 'tools'

export function Rail({ onNavigate }: { onNavigate: () => void }) {
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
              label={t(key)}
              active={path === '/' ? location === '/' : location.startsWith(path)}
              aria-current={location === path ? 'page' : undefined}
              leftSection={<Icon size={18} aria-hidden />}
              rightSection={<Count value={counts[key] ?? 0} urgent={key === 'approvals'} />}
              onClick={onNavigate}
              py={7}
              style={{ borderRadius: 'var(--mantine-radius-sm)' }}
            />
          </div>
        ))}
      </Stack>
    </ScrollArea>
  )
}

function Count({ value, urgent }: { value: number; urgent: boolean }) {
  if (value === 0) return null
  return (
    <Badge size="sm" variant={urgent ? 'filled' : 'light'} color={urgent ? 'red' : 'gray'}>
      {value}
    </Badge>
  )
}
