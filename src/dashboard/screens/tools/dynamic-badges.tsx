import { Anchor, Badge } from '@mantine/core'
import { Archive, CircleCheck, CircleHelp, CircleX, Clock, type LucideIcon, ShieldAlert } from 'lucide-react'
import { Link } from 'wouter'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import type { DynamicTool } from './types.ts'
import { words } from './words.ts'

const LOOKS: Readonly<Record<DynamicTool['status'], { icon: LucideIcon; color: string }>> = {
  unverified: { icon: CircleHelp, color: 'yellow' },
  pending: { icon: Clock, color: 'gray' },
  passed: { icon: CircleCheck, color: 'green' },
  failed: { icon: CircleX, color: 'red' },
  deprecated: { icon: Archive, color: 'gray' },
  quarantined: { icon: ShieldAlert, color: 'red' },
}

export function StatusBadge({ status }: { status: DynamicTool['status'] }) {
  const t = useWords(words)
  const { icon: Icon, color } = LOOKS[status]
  return (
    <Badge color={color} leftSection={<Icon size={13} aria-hidden />}>
      {t(status)}
    </Badge>
  )
}

/** From 0 to 100; what nothing speaks for or against has no number. */
export function Score({ value }: { value: number | null }) {
  const t = useWords(words)
  if (value === null) return <Badge color="gray">{t('notMeasured')}</Badge>
  const score = Math.round(value * 100)
  const color = score >= 80 ? 'green' : score >= 50 ? 'yellow' : 'red'
  return <Badge color={color}>{score}</Badge>
}

/** `12/12`; undefined when nothing was tried. */
export function sayTests({ verified }: Pick<DynamicTool, 'verified'>): string | undefined {
  return verified === null ? undefined : `${verified.passed}/${verified.total}`
}

/** Who made it, and in which run. */
export function Author({ tool }: { tool: Pick<DynamicTool, 'created_by' | 'created_in'> }) {
  const t = useWords(words)
  return (
    <>
      <Untrusted text={tool.created_by} />
      {tool.created_in !== null && (
        <>
          {' · '}
          <Anchor component={Link} href={routes.audit({ run: tool.created_in })} size="sm">
            {t('itsRun')}
          </Anchor>
        </>
      )}
    </>
  )
}
