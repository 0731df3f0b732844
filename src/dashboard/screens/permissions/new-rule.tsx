import { Button, Drawer, Group, Radio, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { ConfigFileDrawer, type ConfigLayer } from '../../components/config-file/config-file-drawer.tsx'
import { appendToml } from '../../components/config-file/toml-edit.ts'
import { words as shared } from '../../components/words.ts'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

interface Draft {
  readonly id: string
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly tool: string
  readonly command: readonly string[]
  readonly path: readonly string[]
  readonly host: readonly string[]
  readonly reason: string
}

const EMPTY: Draft = {
  id: '',
  decision: 'ask',
  tool: 'run_command',
  command: [],
  path: [],
  host: [],
  reason: '',
}

/** A rule as a form; its lines are reviewed as a difference of the file before they are saved. */
export function NewRule({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useWords(words)
  const say = useWords(shared)
  const tools = useGet<Tool[]>('tools', '/api/tools', { enabled: opened })
  const [draft, setDraft] = useState(EMPTY)
  const [layer, setLayer] = useState<ConfigLayer>('user')
  const [reviewing, setReviewing] = useState(false)
  const set = (values: Partial<Draft>): void => setDraft(before => ({ ...before, ...values }))
  const names = ['*', 'http', ...(tools.data ?? []).map(({ name }) => name)]
  const close = (): void => {
    setReviewing(false)
    onClose()
  }
  return (
    <>
      <Drawer opened={opened && !reviewing} onClose={onClose} title={t('newRule')}>
        <Stack>
          <TextInput
            label={t('name')}
            value={draft.id}
            onChange={event => set({ id: event.currentTarget.value })}
          />
          <Radio.Group
            label={t('decision')}
            value={draft.decision}
            onChange={value => set({ decision: value as Draft['decision'] })}
          >
            <Group mt={4}>
              {(['allow', 'ask', 'deny'] as const).map(value => (
                <Radio key={value} value={value} label={say(value)} />
              ))}
            </Group>
          </Radio.Group>
          <Select
            label={t('tool')}
            data={[...new Set(names)]}
            value={draft.tool}
            onChange={value => set({ tool: value ?? '*' })}
            searchable
            allowDeselect={false}
          />
          <TagsInput
            label={t('command')}
            description={t('commandHint')}
            value={[...draft.command]}
            onChange={command => set({ command })}
            allowDuplicates
          />
          <TagsInput
            label={t('paths')}
            description={t('pathsHint')}
            value={[...draft.path]}
            onChange={path => set({ path })}
          />
          <TagsInput label={t('hosts')} value={[...draft.host]} onChange={host => set({ host })} />
          <TextInput
            label={t('reason')}
            value={draft.reason}
            onChange={event => set({ reason: event.currentTarget.value })}
          />
          <Radio.Group label={t('layer')} value={layer} onChange={value => setLayer(value as ConfigLayer)}>
            <Group mt={4}>
              {(['user', 'project', 'local'] as const).map(value => (
                <Radio key={value} value={value} label={t(value)} />
              ))}
            </Group>
          </Radio.Group>
          <Group justify="flex-end">
            <Button disabled={!/^[\w.-]+$/.test(draft.id)} onClick={() => setReviewing(true)}>
              {t('review')}
            </Button>
          </Group>
        </Stack>
      </Drawer>
      <ConfigFileDrawer
        layer={layer}
        opened={opened && reviewing}
        onClose={close}
        propose={text => appendToml(text, toToml(draft))}
      />
    </>
  )
}

function toToml({ id, decision, tool, command, path, host, reason }: Draft): string {
  const list = (name: string, values: readonly string[]): string[] =>
    values.length === 0 ? [] : [`${name} = ${JSON.stringify(values)}`]
  return [
    '[[permissions.rules]]',
    `id = ${JSON.stringify(id)}`,
    `decision = ${JSON.stringify(decision)}`,
    `tool = ${JSON.stringify(tool)}`,
    ...list('command', command),
    ...list('path', path),
    ...list('host', host),
    ...(reason === '' ? [] : [`reason = ${JSON.stringify(reason)}`]),
    '',
  ].join('\n')
}
