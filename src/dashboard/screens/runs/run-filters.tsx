import { Group, NumberInput, Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { words as common } from '../../components/words.ts'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { words } from './words.ts'

const STATES = ['running', 'pending', 'completed', 'failed', 'cancelled'] as const
const SPANS = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const
const NAMES = ['status', 'agent', 'has', 'span', 'text', 'min_cost'] as const

type Name = (typeof NAMES)[number]

interface RunFilterState {
  readonly values: Readonly<Record<Name, string>>
  readonly isFiltered: boolean
  /** Of the list that they leave. */
  readonly path: string
  change(name: Name, value: string): void
  clear(): void
}

/** What the list shows is in its address. */
export function useRunFilters(): RunFilterState {
  const states = {
    status: useUrlState('status'),
    agent: useUrlState('agent'),
    has: useUrlState('has'),
    span: useUrlState('span'),
    text: useUrlState('text'),
    min_cost: useUrlState('min_cost'),
  }
  const values = {
    status: states.status[0],
    agent: states.agent[0],
    has: states.has[0],
    span: states.span[0],
    text: states.text[0],
    min_cost: states.min_cost[0],
  }
  const { status, has, span, min_cost } = values
  const [typed] = useDebouncedValue(values.text, 250)
  const [named] = useDebouncedValue(values.agent, 250)
  // A range that ends now would be another query with every render.
  const [now] = useState(() => Date.now())
  const path = useMemo(() => {
    const ms = SPANS[span as keyof typeof SPANS]
    const given = Object.entries({
      limit: '50',
      status,
      has,
      min_cost,
      agent: named,
      text: typed,
      since: ms === undefined ? '' : new Date(now - ms).toISOString(),
    }).filter((pair): pair is [string, string] => Boolean(pair[1]))
    return `/api/runs?${new URLSearchParams(given)}`
  }, [status, has, span, min_cost, named, typed, now])
  const change = (name: Name, value: string): void =>
    states[name][1](value, { replace: name === 'text' || name === 'agent' || name === 'min_cost' })
  return {
    values,
    path,
    change,
    isFiltered: Object.values(values).some(value => value !== ''),
    clear: () => {
      for (const name of NAMES) change(name, '')
    },
  }
}

// All in one row on a desk, two beside each other on a phone.
const FIELD = { flex: '1 1 140px', minWidth: 0 }

export function RunFilters({ filters: { values, change } }: { filters: RunFilterState }) {
  const t = useWords(words)
  const c = useWords(common)
  const pick = (name: Name, label: string, empty: string, data: { value: string; label: string }[]) => (
    <Select
      label={label}
      placeholder={empty}
      clearable
      style={FIELD}
      data={data}
      value={values[name] === '' ? null : values[name]}
      onChange={value => change(name, value ?? '')}
    />
  )
  return (
    <Group gap="sm" align="flex-end">
      {pick(
        'status',
        t('state'),
        t('allStates'),
        STATES.map(value => ({ value, label: c(value) })),
      )}
      {pick('has', t('has'), t('anything'), [
        { value: 'denials', label: t('denials') },
        { value: 'errors', label: t('failures') },
      ])}
      {pick('span', t('since'), t('always'), [
        { value: 'hour', label: t('hour') },
        { value: 'day', label: t('day') },
        { value: 'week', label: t('week') },
      ])}
      <TextInput
        label={t('agent')}
        style={FIELD}
        value={values.agent}
        onChange={event => change('agent', event.currentTarget.value)}
      />
      <TextInput
        label={t('text')}
        style={FIELD}
        data-filter
        value={values.text}
        onChange={event => change('text', event.currentTarget.value)}
      />
      <NumberInput
        label={t('minCost')}
        style={FIELD}
        min={0}
        step={0.1}
        hideControls
        value={values.min_cost === '' ? '' : Number(values.min_cost)}
        onChange={value => change('min_cost', String(value))}
      />
    </Group>
  )
}
