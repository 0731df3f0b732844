import {
  Button,
  Checkbox,
  Drawer,
  Group,
  Radio,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useState } from 'react'
import { useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { ConfigFileDrawer, type ConfigLayer } from '../../components/config-file/config-file-drawer.tsx'
import { replaceTomlRule } from '../../components/config-file/toml-edit.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { words as shared } from '../../components/words.ts'
import { useWords } from '../../i18n/language.tsx'
import { Report } from './report.tsx'
import { EMPTY_RULE, exceptKind, type RuleDraft, toDraft, toToml } from './rule-draft.ts'
import { TRIAL_DAYS, type TrialSpan, TrialSpanChoice } from './trial-span.tsx'
import type { Rule } from './types.ts'
import { useTrial } from './use-trial.ts'
import { words } from './words.ts'

export interface RuleFormProps {
  /** Undefined: a new one. */
  readonly rule: Rule | undefined
  /** What a new one begins with. */
  readonly proposed: RuleDraft | undefined
  readonly opened: boolean
  readonly onClose: () => void
}

/** A rule as a form beside what it would have changed; its lines are reviewed as a difference of the file before they are saved. */
export function RuleForm({ rule, proposed, opened, onClose }: RuleFormProps) {
  const t = useWords(words)
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      size="min(1100px, 100%)"
      title={rule === undefined ? t('newRule') : t('editRule', { id: rule.id })}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {opened && <Form key={rule?.id ?? ''} rule={rule} initial={proposed ?? EMPTY_RULE} onClose={onClose} />}
    </Drawer>
  )
}

interface FormProps extends Pick<RuleFormProps, 'rule' | 'onClose'> {
  readonly initial: RuleDraft
}

function Form({ rule, initial, onClose }: FormProps) {
  const t = useWords(words)
  const [draft, setDraft] = useState(() => (rule === undefined ? initial : toDraft(rule)))
  const [layer, setLayer] = useState<ConfigLayer>(rule?.layer ?? 'user')
  const [reviewing, setReviewing] = useState(false)
  const isNamed = /^[\w.-]{1,100}$/.test(draft.id)
  const propose = (text: string): string => replaceTomlRule(text, rule?.id ?? draft.id, toToml(draft))
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
        <Stack>
          <Fields draft={draft} isNew={rule === undefined} onChange={setDraft} />
          <Radio.Group label={t('layer')} value={layer} onChange={value => setLayer(value as ConfigLayer)}>
            <Group mt={4}>
              {(['user', 'project', 'local'] as const).map(value => (
                <Radio
                  key={value}
                  value={value}
                  label={t(value)}
                  disabled={rule !== undefined && value !== layer}
                />
              ))}
            </Group>
          </Radio.Group>
          <Group justify="flex-end">
            <Button disabled={!isNamed} onClick={() => setReviewing(true)}>
              {t('review')}
            </Button>
          </Group>
        </Stack>
        <Trial draft={draft} propose={isNamed ? propose : undefined} layer={layer} onChange={setDraft} />
      </SimpleGrid>
      <ConfigFileDrawer layer={layer} opened={reviewing} onClose={onClose} propose={propose} />
    </>
  )
}

interface TrialProps {
  readonly draft: RuleDraft
  readonly propose: ((text: string) => string) | undefined
  readonly layer: ConfigLayer
  readonly onChange: (draft: RuleDraft) => void
}

/** What the file with this rule would have decided. */
function Trial({ draft, propose, layer, onChange }: TrialProps) {
  const t = useWords(words)
  const [span, setSpan] = useState<TrialSpan>('days7')
  const days = TRIAL_DAYS[span]
  const trial = useTrial(propose, { layer, days })
  const addExample = (example: string, by: string): void => {
    const key = by.startsWith(`${draft.id} `) ? 'match' : 'notMatch'
    if (!draft[key].includes(example)) onChange({ ...draft, [key]: [...draft[key], example] })
  }
  return (
    <Stack gap="sm" component="section" aria-label={t('dryRun')}>
      <Title order={2}>{t('dryRun')}</Title>
      <TrialSpanChoice value={span} onChange={setSpan} />
      {propose === undefined && (
        <Text size="sm" c="dimmed">
          {t('nameFirst')}
        </Text>
      )}
      {trial.error != null && <ErrorCard error={trial.error} />}
      {trial.data !== undefined && <Report report={trial.data} days={days} onAddExample={addExample} />}
    </Stack>
  )
}

interface FieldsProps {
  readonly draft: RuleDraft
  readonly isNew: boolean
  readonly onChange: (draft: RuleDraft) => void
}

function Fields({ draft, isNew, onChange }: FieldsProps) {
  const t = useWords(words)
  const say = useWords(shared)
  const tools = useGet<Tool[]>('tools', '/api/tools')
  const set = (values: Partial<RuleDraft>): void => onChange({ ...draft, ...values })
  const names = [...new Set(['*', 'http', ...(tools.data ?? []).map(({ name }) => name)])]
  const tags = (key: TagKey, label: string, description?: string, data: string[] = []) => (
    <TagsInput
      label={label}
      {...(description === undefined ? {} : { description })}
      value={[...draft[key]]}
      onChange={value => set({ [key]: value })}
      data={data}
      allowDuplicates
      splitChars={key === 'match' || key === 'notMatch' ? [] : [',']}
      acceptValueOnBlur
    />
  )
  return (
    <>
      <TextInput
        label={t('name')}
        value={draft.id}
        disabled={!isNew}
        onChange={event => set({ id: event.currentTarget.value })}
      />
      <Radio.Group
        label={t('decision')}
        value={draft.decision}
        onChange={value => set({ decision: value as RuleDraft['decision'] })}
      >
        <Group mt={4}>
          {(['allow', 'ask', 'deny'] as const).map(value => (
            <Radio key={value} value={value} label={say(value)} />
          ))}
        </Group>
      </Radio.Group>
      {tags('tool', t('tool'), undefined, names)}
      {tags('command', t('command'), t('commandHint'))}
      {tags('path', t('paths'), t('pathsHint'))}
      {tags('host', t('hosts'))}
      {tags('effects', t('effects'), t('effectsHint'))}
      {tags('except', t('except'), t(EXCEPT_HINTS[exceptKind(draft)]))}
      {tags('agents', t('agents'), t('agentsHint'))}
      <TextInput
        label={t('reason')}
        value={draft.reason}
        onChange={event => set({ reason: event.currentTarget.value })}
      />
      {tags('match', t('mustMatch'), t('mustMatchHint'))}
      {tags('notMatch', t('mustNotMatch'), t('mustNotMatchHint'))}
      {draft.decision === 'ask' && (
        <Checkbox
          label={t('always')}
          checked={draft.always}
          onChange={event => set({ always: event.currentTarget.checked })}
        />
      )}
    </>
  )
}

type TagKey = 'tool' | 'command' | 'path' | 'host' | 'effects' | 'except' | 'agents' | 'match' | 'notMatch'

const EXCEPT_HINTS = { command: 'exceptCommand', path: 'exceptPath', host: 'exceptHost' } as const
