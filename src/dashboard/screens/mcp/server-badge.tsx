import { Badge, Group, Text } from '@mantine/core'
import {
  CircleCheck,
  CircleX,
  KeyRound,
  LoaderCircle,
  type LucideIcon,
  PowerOff,
  ShieldAlert,
  ShieldQuestionMark,
} from 'lucide-react'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import type { McpServer } from './types.ts'
import { words } from './words.ts'

const LOOKS: Readonly<Record<McpServer['state'], { icon: LucideIcon; color: string }>> = {
  off: { icon: PowerOff, color: 'gray' },
  untrusted: { icon: ShieldQuestionMark, color: 'yellow' },
  changed: { icon: ShieldAlert, color: 'orange' },
  connecting: { icon: LoaderCircle, color: 'gray' },
  auth: { icon: KeyRound, color: 'orange' },
  failed: { icon: CircleX, color: 'red' },
  ready: { icon: CircleCheck, color: 'green' },
}

export function ServerBadge({ server }: { server: McpServer }) {
  const t = useWords(words)
  const { icon: Icon, color } = LOOKS[server.state]
  return (
    <Group gap={6}>
      <Badge color={color} leftSection={<Icon size={13} aria-hidden />}>
        {t(server.state)}
      </Badge>
      {server.held > 0 && (
        <Badge color="orange" leftSection={<ShieldAlert size={13} aria-hidden />}>
          {t('held', { count: server.held })}
        </Badge>
      )}
      <HeldTools server={server} />
    </Group>
  )
}

/** `+1 drop_table · 1 changed: search` */
function HeldTools({ server: { new_tools: added, changed_tools: changed } }: { server: McpServer }) {
  const t = useWords(words)
  const parts = [
    ...(added.length === 0 ? [] : [`+${added.length} ${added.join(', ')}`]),
    ...(changed.length === 0
      ? []
      : [t('changedTools', { count: changed.length, names: changed.join(', ') })]),
  ]
  if (parts.length === 0) return null
  return (
    <Text size="xs">
      <Untrusted text={parts.join(' · ')} most={120} />
    </Text>
  )
}
