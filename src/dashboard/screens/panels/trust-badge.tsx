import { Badge } from '@mantine/core'
import { CircleAlert, CircleCheck, Eye } from 'lucide-react'
import { useWords } from '../../i18n/language.tsx'
import type { Panel } from './types.ts'
import { words } from './words.ts'

const LOOKS = {
  trusted: { icon: CircleCheck, color: 'green' },
  new: { icon: Eye, color: 'yellow' },
  changed: { icon: Eye, color: 'yellow' },
  broken: { icon: CircleAlert, color: 'red' },
} as const

/** Whether a person has looked at the file as it is: only then does it run. */
export function TrustBadge({ state }: Pick<Panel, 'state'>) {
  const t = useWords(words)
  const { icon: Icon, color } = LOOKS[state]
  return (
    <Badge color={color} leftSection={<Icon size={13} aria-hidden />} style={{ flex: 'none' }}>
      {t(state)}
    </Badge>
  )
}
