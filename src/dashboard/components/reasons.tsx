import { List } from '@mantine/core'
import { Untrusted } from './untrusted.tsx'

/** Why a call was decided as it was; rules and tools of others have a word in it. */
export function Reasons({ reasons }: { reasons: readonly string[] }) {
  return (
    <List size="sm">
      {reasons.map(reason => (
        <List.Item key={reason}>
          <Untrusted text={reason} most={600} />
        </List.Item>
      ))}
    </List>
  )
}
