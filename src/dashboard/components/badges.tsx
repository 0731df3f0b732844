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

interface Look {
  readonly icon: LucideIcon
  readonly color: string
  readonly word: keyof (typeof words)['en']
}

const RUNS: Readonly<Record<string, Look>> = {
  completed: { icon: CircleCheck, color: 'green', word: 'completed' },
  denials: { icon: TriangleAlert, color: 'orange', word: 'withDenials' },
  failed: { icon: CircleX, color: 'red', word: 'failed' },
  cancelled: { icon: Ban, color: 'gray', word: 'cancelled' },
  running: { icon: Play, color: 'indigo', word: 'running' },
  waiting: { icon: Clock, color: 'yellow', word: 'waiting' },
  paused: { icon: CirclePause, color: 'gray', word: 'paused' },
  pending: { icon: Clock, color: 'gray', word: 'pending' },
}

const OUTCOMES: Readonly<Record<'allow' | 'ask' | 'deny', Look>> = {
  allow: { icon: ShieldCheck, color: 'green', word: 'allow' },
  ask: { icon: CircleHelp, color: 'yellow', word: 'ask' },
  deny: { icon: Ban, color: 'red', word: 'deny' },
}

const RISKS: Readonly<Record<string, Look>> = {
  low: { icon: ShieldCheck, color: 'gray', word: 'lowRisk' },
  medium: { icon: ShieldAlert, color: 'yellow', word: 'mediumRisk' },
  high: { icon: ShieldAlert, color: 'red', word: 'highRisk' },
}

const UNKNOWN: Look = { icon: Clock, color: 'gray', word: 'pending' }

function LookBadge({ look: { icon: Icon, color, word } }: { look: Look }) {
  const t = useWords(words)
  return (
    <Badge color={color} leftSection={<Icon size={13} aria-hidden />}>
      {t(word)}
    </Badge>
  )
}

export function RunBadge({ run }: { run: Pick<Run, 'status' | 'stop_reason' | 'denied'> }) {
  return <LookBadge look={RUNS[stateOf(run)] ?? UNKNOWN} />
}

function stateOf({
  status,
  stop_reason: reason,
  denied = 0,
}: Pick<Run, 'status' | 'stop_reason' | 'denied'>) {
  if (status === 'completed') return denied > 0 ? 'denials' : status
  if (status !== 'pending') return status
  if (reason === 'awaiting_approval' || reason === 'needs_approval') return 'waiting'
  return reason === 'paused' ? reason : status
}

export function OutcomeBadge({ outcome }: { outcome: 'allow' | 'ask' | 'deny' }) {
  return <LookBadge look={OUTCOMES[outcome]} />
}

/** Of a question. */
export function RiskBadge({ risk }: { risk: 'low' | 'medium' | 'high' }) {
  return <LookBadge look={RISKS[risk] ?? UNKNOWN} />
}

/** Of a tool, before anything is known of a call: whether it can change anything at all. */
export function ToolRiskBadge({ risk }: { risk: 'low' | 'high' }) {
  return <LookBadge look={risk === 'low' ? LOW : CHANGES} />
}

const LOW: Look = { icon: ShieldCheck, color: 'gray', word: 'lowRisk' }
const CHANGES: Look = { icon: ShieldAlert, color: 'yellow', word: 'canChange' }
