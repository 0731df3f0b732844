import { Badge, Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { CalendarClock, CirclePause } from 'lucide-react'
import { useState } from 'react'
import { request, toShownError, useGet } from '../../../api/api.ts'
import { useAction } from '../../../api/use-action.ts'
import { DataRegion, ErrorCard } from '../../../components/data-region.tsx'
import { Untrusted } from '../../../components/untrusted.tsx'
import { useFormat } from '../../../i18n/format.ts'
import { useWords } from '../../../i18n/language.tsx'
import { inAddress } from '../../../routes.ts'
import type { Definition } from '../types.ts'
import { words } from './words.ts'

interface Schedule {
  readonly id: string
  readonly cron: string
  readonly timezone: string | null
  readonly catch_up: 'once' | 'skip' | 'all'
  readonly input: Readonly<Record<string, unknown>>
  readonly paused: boolean
  readonly next_times: readonly string[]
  readonly last: { readonly at: string; readonly run: string | null; readonly problem: string | null } | null
}

/** When it runs by itself, while a server is there. */
export function Schedules({ definition }: { definition: Definition }) {
  const t = useWords(words)
  const path = `/api/schedules?pipeline=${inAddress(definition.name)}`
  const schedules = useGet<Schedule[]>('pipelines', path)
  return (
    <Stack gap="md">
      <DataRegion query={schedules}>
        {list => (
          <Stack gap="sm">
            {list.length === 0 && (
              <Text size="sm" c="dimmed">
                {t('noSchedules')}
              </Text>
            )}
            {list.map(schedule => (
              <ScheduleCard key={schedule.id} schedule={schedule} />
            ))}
          </Stack>
        )}
      </DataRegion>
      <NewSchedule key={definition.name} definition={definition} />
    </Stack>
  )
}

function ScheduleCard({ schedule }: { schedule: Schedule }) {
  const t = useWords(words)
  const format = useFormat()
  const { id, cron, timezone, paused, next_times, last, input } = schedule
  const steer = useAction(
    (verb: 'pause' | 'resume' | 'delete') =>
      verb === 'delete'
        ? request('DELETE', `/api/schedules/${id}`)
        : request('POST', `/api/schedules/${id}/${verb}`, {}),
    { topics: ['pipelines'] },
  )
  return (
    <div className="kogu-card" style={{ padding: 'var(--mantine-spacing-sm)' }}>
      <Group justify="space-between">
        <Group gap="xs">
          {paused ? (
            <Badge color="gray" leftSection={<CirclePause size={13} aria-hidden />}>
              {t('paused')}
            </Badge>
          ) : (
            <Badge color="green" leftSection={<CalendarClock size={13} aria-hidden />}>
              {t('scheduled')}
            </Badge>
          )}
          <code>{cron}</code>
          <Text size="sm" c="dimmed">
            {timezone ?? ''}
          </Text>
        </Group>
        <Group gap={4}>
          <Button
            size="compact-xs"
            variant="default"
            loading={steer.isPending}
            onClick={() => steer.mutate(paused ? 'resume' : 'pause')}
          >
            {paused ? t('goOn') : t('pause')}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => steer.mutate('delete')}>
            {t('deleteSchedule')}
          </Button>
        </Group>
      </Group>
      {Object.keys(input).length > 0 && (
        <Text size="sm">
          <Untrusted text={JSON.stringify(input)} />
        </Text>
      )}
      {next_times.length > 0 && (
        <Text size="sm">
          {t('nextTimes', { times: next_times.slice(0, 3).map(format.dateTime).join(' · ') })}
        </Text>
      )}
      {last !== null && (
        <Text size="sm" c="dimmed">
          {t('lastTime', { at: format.dateTime(last.at) })}{' '}
          <Untrusted text={last.problem ?? last.run ?? ''} />
        </Text>
      )}
    </div>
  )
}

function NewSchedule({ definition }: { definition: Definition }) {
  const t = useWords(words)
  const format = useFormat()
  const [cron, setCron] = useState('0 9 * * 1')
  const [catchUp, setCatchUp] = useState<Schedule['catch_up']>('once')
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [checked] = useDebouncedValue(cron, 300)
  const times = useQuery({
    queryKey: ['pipelines', 'next-times', checked],
    queryFn: () =>
      request<{ times: string[] }>('POST', '/api/schedules/next-times', { cron: checked, count: 3 }),
    retry: false,
  })
  const create = useAction(
    () =>
      request('POST', '/api/schedules', {
        ...{ pipeline: definition.name, cron, catch_up: catchUp },
        input: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')),
      }),
    { topics: ['pipelines'], quiet: true },
  )
  return (
    <Stack
      gap="sm"
      component="form"
      onSubmit={event => {
        event.preventDefault()
        create.mutate()
      }}
    >
      <TextInput
        label={t('cron')}
        description={t('cronAbout')}
        value={cron}
        error={times.error === null ? undefined : toShownError(times.error).detail}
        onChange={event => setCron(event.currentTarget.value)}
      />
      {times.data !== undefined && times.error === null && (
        <Text size="sm" role="status">
          {t('nextTimes', { times: times.data.times.map(format.dateTime).join(' · ') })}
        </Text>
      )}
      <NativeSelect
        label={t('catchUp')}
        value={catchUp}
        onChange={event => setCatchUp(event.currentTarget.value as Schedule['catch_up'])}
        data={(['once', 'skip', 'all'] as const).map(value => ({ value, label: t(CATCH_UPS[value]) }))}
      />
      {Object.entries(definition.input ?? {}).map(([name, field]) => (
        <TextInput
          key={name}
          label={name}
          description={field.description}
          required={field.required === true && field.default === undefined}
          value={values[name] ?? ''}
          onChange={event => {
            const { value } = event.currentTarget
            setValues(before => ({ ...before, [name]: value }))
          }}
        />
      ))}
      {create.error !== null && <ErrorCard error={create.error} />}
      <Group justify="flex-end">
        <Button type="submit" disabled={times.error !== null} loading={create.isPending}>
          {t('addSchedule')}
        </Button>
      </Group>
    </Stack>
  )
}

const CATCH_UPS = { once: 'catchUpOnce', skip: 'catchUpSkip', all: 'catchUpAll' } as const
