import { Badge } from '@mantine/core'
import {
  Ban,
  CircleCheck,
  CircleHelp,
  CirclePause,
  CircleX,
  Clock,
  type LucideIcon,
  Play,
  ShieldAlert,
  ShieldCheck,
  TriangleAlert,
} from 'lucide-react'
import type { Run } from '../api/types.ts'
import { useWords } from '../i18n/language.tsx'
import { words } from './words.ts'

// A state is always an icon and a word, never a colour alone.

function IconBadge({ icon: Icon, color, children }: { icon: LucideIcon; color: string; children: string }) {
  return (
    <Badge
      color={color}
      leftSection={<Icon size={13} aria-hidden />}
      style={{ flex: 'none', overflow: 'visible', maxWidth: 'none' }}
      styles={{ label: { overflow: 'visible' } }}
    >
      {children}
    </Badge>
  )
}

export function RunBadge({ run }: { run: Pick<Run, 'status' | 'stop_reason' | 'denied'> }) {
  const t = useWords(words)
  const { status, stop_reason: reason } = run
  if (status === 'completed' && (run.denied ?? 0) > 0)
    return (
      <IconBadge icon={TriangleAlert} color="orange">
        {t('withDenials')}
      </IconBadge>
    )
  if (status === 'completed')
    return (
      <IconBadge icon={CircleCheck} color="green">
        {t('completed')}
      </IconBadge>
    )
  if (status === 'failed')
    return (
      <IconBadge icon={CircleX} color="red">
        {t('failed')}
      </IconBadge>
    )
  if (status === 'cancelled')
    return (
      <IconBadge icon={Ban} color="gray">
        {t('cancelled')}
      </IconBadge>
    )
  if (status === 'running')
    return (
      <IconBadge icon={Play} color="indigo">
        {t('running')}
      </IconBadge>
    )
  if (reason === 'awaiting_approval' || reason === 'needs_approval')
    return (
      <IconBadge icon={Clock} color="yellow">
        {t('waiting')}
      </IconBadge>
    )
  if (reason === 'paused')
    return (
      <IconBadge icon={CirclePause} color="gray">
        {t('paused')}
      </IconBadge>
    )
  return (
    <IconBadge icon={Clock} color="gray">
      {t('pending')}
    </IconBadge>
  )
}

export function OutcomeBadge({ outcome }: { outcome: 'allow' | 'ask' | 'deny' }) {
  const t = useWords(words)
  if (outcome === 'allow')
    return (
      <IconBadge icon={ShieldCheck} color="green">
        {t('allow')}
      </IconBadge>
    )
  if (outcome === 'deny')
    return (
      <IconBadge icon={Ban} color="red">
        {t('deny')}
      </IconBadge>
    )
  return (
    <IconBadge icon={CircleHelp} color="yellow">
      {t('ask')}
    </IconBadge>
  )
}

export function RiskBadge({ risk }: { risk: string }) {
  const t = useWords(words)
  if (risk === 'low')
    return (
      <IconBadge icon={ShieldCheck} color="gray">
        {t('lowRisk')}
      </IconBadge>
    )
  if (risk === 'medium')
    return (
      <IconBadge icon={ShieldAlert} color="yellow">
        {t('mediumRisk')}
      </IconBadge>
    )
  return (
    <IconBadge icon={ShieldAlert} color="red">
      {t('highRisk')}
    </IconBadge>
  )
}
