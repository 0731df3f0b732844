import { Badge, Group } from '@mantine/core'
import {
  CircleCheck,
  CircleOff,
  type LucideIcon,
  PowerOff,
  ShieldAlert,
  ShieldQuestionMark,
} from 'lucide-react'
import { useWords } from '../../i18n/language.tsx'
import type { McpServer } from './types.ts'
import { words } from './words.ts'

export function ServerBadge({ server }: { server: McpServer }) {
  const t = useWords(words)
  const { icon: Icon, color, word } = stateOf(server)
  return (
    <Group gap={6} wrap="nowrap">
      <Badge color={color} leftSection={<Icon size={13} aria-hidden />}>
        {t(word)}
      </Badge>
      {server.held > 0 && (
        <Badge color="orange" leftSection={<ShieldAlert size={13} aria-hidden />}>
          {t('held', { count: server.held })}
        </Badge>
      )}
    </Group>
  )
}

function stateOf({ trust, available }: McpServer): {
  icon: LucideIcon
  color: string
  word: 'off' | 'untrusted' | 'changed' | 'connected' | 'notRunning'
} {
  if (trust === 'off') return { icon: PowerOff, color: 'gray', word: 'off' }
  if (trust === 'not trusted') return { icon: ShieldQuestionMark, color: 'yellow', word: 'untrusted' }
  if (trust === 'changed') return { icon: ShieldAlert, color: 'orange', word: 'changed' }
  return available
    ? { icon: CircleCheck, color: 'green', word: 'connected' }
    : { icon: CircleOff, color: 'red', word: 'notRunning' }
}
