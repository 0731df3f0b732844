import { Group, Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { words as common } from '../../components/words.ts'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { words } from './words.ts'

const SPANS = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const
const KINDS = { calls: 'call-finished', answers: 'approval-answered', notes: 'note' } as const

export interface FilterValues {
  readonly kind: string
  readonly outcome: string
  readonly tool: string
  readonly text: string
  readonly span: string
  readonly run: string
  readonly by: string
  readonly risk: string
  readonly agent: string
}

const REPLACED: readonly string[] = ['text', 'tool', 'agent', 'run']

export function useFilters() {
  const [kind, setKind] = useUrlState('kind')
  const [outcome, setOutcome] = useUrlState('outcome')
  const [tool, setTool] = useUrlState('tool')
  const [text, setText] = useUrlState('text')
  const [span, setSpan] = useUrlState('span')
  const [run, setRun] = useUrlState('run')
  const [by, setBy] = useUrlState('by')
  const [risk, setRisk] = useUrlState('risk')
  const [agent, setAgent] = useUrlState('agent')
  const set = {
    ...{ kind: setKind, outcome: setOutcome, tool: setTool, text: setText, span: setSpan },
    ...{ run: setRun, by: setBy, risk: setRisk, agent: setAgent },
  }
  const change = (name: keyof FilterValues, value: string): void =>
    set[name](value, { replace: REPLACED.includes(name) })
  const filters: FilterValues = { kind, outcome, tool, text, span, run, by, risk, agent }
  return [filters, change] as const
}

/** As the query of the API. */
export function useFilterPath(filters: FilterValues): string {
  const { kind, outcome, tool, text, span, run, by, risk, agent } = filters
  const [typed] = useDebouncedValue(text, 250)
  const [named] = useDebouncedValue(tool, 250)
  const [maker] = useDebouncedValue(agent, 250)
  // A range that ends now would be another query with every render.
  const [now] = useState(() => Date.now())
  return useMemo(() => {
    const type =
      kind === 'everything' ? undefined : KINDS[(kind === '' ? 'calls' : kind) as keyof typeof KINDS]
    const ms = SPANS[span as keyof typeof SPANS]
    const query = new URLSearchParams({
      ...(type === undefined ? {} : { type }),
      ...(outcome === '' ? {} : { outcome }),
      ...(named === '' ? {} : { tool: named }),
      ...(typed === '' ? {} : { text: typed }),
      ...(run === '' ? {} : { run }),
      ...(by === '' ? {} : { by }),
      ...(risk === '' ? {} : { risk }),
      ...(maker === '' ? {} : { agent: maker }),
      ...(ms === undefined ? {} : { since: new Date(now - ms).toISOString() }),
    })
    return query.toString()
  }, [kind, outcome, named, typed, span, run, by, risk, maker, now])
}

// All in one row on a desk, two beside each other on a phone.
const FIELD = { flex: '1 1 116px', minWidth: 0 }

export function Filters({
  filters,
  onChange,
}: {
  filters: FilterValues
  onChange: (name: keyof FilterValues, value: string) => void
}) {
  const t = useWords(words)
  const c = useWords(common)
  const pick = (
    name: keyof FilterValues,
    label: string,
    data: readonly { value: string; label: string }[],
    empty: string,
  ) => (
    <Select
      label={label}
      placeholder={empty}
      clearable
      style={FIELD}
      comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
      data={[...data]}
      value={filters[name] === '' ? null : filters[name]}
      onChange={value => onChange(name, value ?? '')}
    />
  )
  return (
    <Group gap="sm" align="flex-end">
      {pick(
        'kind',
        t('kind'),
        [
          { value: 'answers', label: t('answers') },
          { value: 'notes', label: t('notes') },
          { value: 'everything', label: t('everything') },
        ],
        t('calls'),
      )}
      {pick(
        'span',
        t('since'),
        [
          { value: 'hour', label: t('hour') },
          { value: 'day', label: t('day') },
          { value: 'week', label: t('week') },
        ],
        t('always'),
      )}
      {pick(
        'outcome',
        t('decision'),
        (['allow', 'ask', 'deny'] as const).map(value => ({ value, label: c(value) })),
        t('any'),
      )}
      {pick(
        'by',
        t('decider'),
        (['rule', 'grant', 'user', 'mode', 'reviewers', 'hard-stop', 'timeout'] as const).map(value => ({
          value,
          label: t(`pick_${value}`),
        })),
        t('anyone'),
      )}
      {pick(
        'risk',
        t('risk'),
        (['low', 'high'] as const).map(value => ({ value, label: c(`${value}Risk`) })),
        t('any'),
      )}
      <TextInput
        label={t('tool')}
        style={FIELD}
        value={filters.tool}
        onChange={event => onChange('tool', event.currentTarget.value)}
      />
      <TextInput
        label={t('agent')}
        style={FIELD}
        value={filters.agent}
        onChange={event => onChange('agent', event.currentTarget.value)}
      />
      {filters.run !== '' && (
        <TextInput
          label={t('run')}
          style={FIELD}
          value={filters.run}
          onChange={event => onChange('run', event.currentTarget.value)}
        />
      )}
      <TextInput
        label={t('text')}
        style={FIELD}
        data-filter
        value={filters.text}
        onChange={event => onChange('text', event.currentTarget.value)}
      />
    </Group>
  )
}
