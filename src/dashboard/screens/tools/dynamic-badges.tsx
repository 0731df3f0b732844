import { Badge } from '@mantine/core'
import { Archive, CircleCheck, CircleHelp, CircleX, Clock, type LucideIcon, ShieldAlert } from 'lucide-react'
import { useWords } from '../../i18n/language.tsx'
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

/** From 0 to 100. */
export function Score({ value }: { value: number }) {
  const score = Math.round(value * 100)
  const color = score >= 80 ? 'green' : score >= 50 ? 'yellow' : 'red'
  return <Badge color={color}>{score}</Badge>
}
