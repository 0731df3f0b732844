import { Alert, Badge, Button, Checkbox, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Ban, CircleCheck, CircleX, Clock, Octagon, Play, Workflow } from 'lucide-react'
import { useState } from 'react'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { DataRegion, Empty, ErrorCard } from '../../components/data-region.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { inAddress, routes, useUrlState } from '../../routes.ts'
import { words as pinWords } from './pin/words.ts'
import type { Definition, Pipeline, PipelineRun } from './types.ts'
import { type PipelineEditing, pipelinePath } from './use-editing.ts'
import { words } from './words.ts'

const LOOKS = {
  running: { icon: Play, color: 'indigo' },
  waiting: { icon: Clock, color: 'yellow' },
  stopped: { icon: Ban, color: 'gray' },
  completed: { icon: CircleCheck, color: 'green' },
  failed: { icon: CircleX, color: 'red' },
} as const

function PipelineRunBadge({ status }: Pick<PipelineRun, 'status'>) {
  const t = useWords(words)
  const { icon: Icon, color } = LOOKS[status]
  return (
    <Badge color={color} leftSection={<Icon size={13} aria-hidden />} style={{ flex: 'none' }}>
      {t(`run_${status}`)}
    </Badge>
  )
}

/** How the run that is shown stands, and how to steer it. */
export function RunBar({ pipeline, run }: { pipeline: Pipeline; run: PipelineRun }) {
  const t = useWords(words)
  const pin = useWords(pinWords)
  const format = useFormat()
  const steer = useAction(
    (how: 'stop' | 'resume') => request('POST', `/api/pipeline-runs/${run.id}/${how}`, {}),
    { topics: ['pipelines'] },
  )
  const steps = Object.values(run.steps)
  const done = steps.filter(({ status }) => status === 'done' || status === 'skipped').length
  const canResume =
    !run.is_working && (run.status === 'stopped' || (run.status === 'waiting' && run.problem !== null))
  return (
    <div className="kogu-card" style={{ padding: '8px 12px' }}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs" role="status">
          <PipelineRunBadge status={run.status} />
          <Text size="sm">
            {t('progress', { done, all: steps.length })} · {format.ago(run.started_at)}
          </Text>
          {run.rehearse && <Badge color="gray">{pin('rehearse')}</Badge>}
          <Text size="xs" c="dimmed" ff="monospace">
            {run.id}
          </Text>
        </Group>
        <Group gap="xs">
          {run.is_working && (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<Octagon size={14} aria-hidden />}
              onClick={() => steer.mutate('stop')}
            >
              {t('stop')}
            </Button>
          )}
          {canResume && (
            <Button size="compact-sm" variant="default" onClick={() => steer.mutate('resume')}>
              {t('resume')}
            </Button>
          )}
        </Group>
      </Group>
      {run.problem !== null && (
        <Alert color="red" mt="xs" py="xs">
          <Untrusted text={run.problem} most={600} />
        </Alert>
      )}
      {run.hash !== pipeline.hash && (
        <Text size="xs" c="dimmed" mt={4}>
          {t('otherVersion')}
        </Text>
      )}
    </div>
  )
}

/** Asks for the inputs and starts; what is not saved is saved first. */
export function RunButton({ pipeline, editing }: { pipeline: Pipeline; editing: PipelineEditing }) {
  const t = useWords(words)
  const [opened, dialog] = useDisclosure(false)
  const isBlocked = editing.content === null || editing.problems.length > 0 || editing.isStale
  const mayRun = !isBlocked && (editing.isDirty || pipeline.state === 'trusted')
  return (
    <>
      <Button leftSection={<Play size={16} aria-hidden />} disabled={!mayRun} onClick={dialog.open}>
        {editing.isDirty ? t('saveAndRun') : t('run')}
      </Button>
      <Modal
        opened={opened}
        onClose={dialog.close}
        title={t('run')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        {editing.content !== null && (
          <RunForm definition={editing.content} editing={editing} onClose={dialog.close} />
        )}
      </Modal>
    </>
  )
}

function RunForm({
  definition,
  editing,
  onClose,
}: {
  definition: Definition
  editing: PipelineEditing
  onClose: () => void
}) {
  const t = useWords(words)
  const pin = useWords(pinWords)
  const [, setRun] = useUrlState('run')
  const [values, setValues] = useState<Readonly<Record<string, string | boolean>>>({})
  const [rehearse, setRehearse] = useState(false)
  const inputs = Object.entries(definition.input ?? {})
  const start = useAction(
    async () => {
      if (editing.isDirty && !(await editing.save())) return undefined
      return request<PipelineRun>('POST', `${pipelinePath(definition.name)}/run`, { input: values, rehearse })
    },
    {
      topics: ['pipelines'],
      quiet: true,
      onDone(begun) {
        if (begun === undefined) return
        setRun(begun.id)
        onClose()
      },
    },
  )
  const missing = inputs.some(
    ([name, field]) => field.required === true && field.default === undefined && (values[name] ?? '') === '',
  )
  return (
    <Stack
      component="form"
      onSubmit={event => {
        event.preventDefault()
        if (!missing) start.mutate()
      }}
    >
      {inputs.length === 0 && <Text size="sm">{t('noInputsToGive')}</Text>}
      {inputs.map(([name, field], index) =>
        field.type === 'boolean' ? (
          <Checkbox
            key={name}
            label={name}
            description={field.description}
            checked={Boolean(values[name] ?? field.default)}
            onChange={event => {
              const { checked } = event.currentTarget
              setValues(before => ({ ...before, [name]: checked }))
            }}
          />
        ) : (
          <TextInput
            key={name}
            label={name}
            description={field.description}
            required={field.required === true && field.default === undefined}
            placeholder={field.default === undefined ? '' : String(field.default)}
            inputMode={field.type === 'number' ? 'decimal' : 'text'}
            data-autofocus={index === 0 || undefined}
            value={String(values[name] ?? '')}
            onChange={event => {
              const { value } = event.currentTarget
              setValues(before => withValue(before, name, value))
            }}
          />
        ),
      )}
      <Checkbox
        label={pin('rehearse')}
        description={pin('rehearseAbout')}
        checked={rehearse}
        onChange={event => setRehearse(event.currentTarget.checked)}
      />
      {start.error !== null && <ErrorCard error={start.error} />}
      <Group justify="flex-end">
        <Button
          type="submit"
          data-autofocus={inputs.length === 0 || undefined}
          disabled={missing}
          loading={start.isPending}
        >
          {editing.isDirty ? t('saveAndRun') : t('run')}
        </Button>
      </Group>
    </Stack>
  )
}

/** An empty text is not given: the default holds. */
function withValue(before: Readonly<Record<string, string | boolean>>, name: string, value: string) {
  const { [name]: _old, ...others } = before
  return value === '' ? others : { ...others, [name]: value }
}

export function RunList({ name }: { name: string }) {
  const t = useWords(words)
  const format = useFormat()
  const runs = useGet<PipelineRun[]>('pipelines', `/api/pipeline-runs?pipeline=${inAddress(name)}&limit=20`)
  return (
    <DataRegion
      query={runs}
      isEmpty={list => list.length === 0}
      empty={<Empty icon={<Workflow size={28} aria-hidden />} title={t('noRuns')} guide="pipelines" />}
    >
      {list => (
        <DataTable
          label={t('runs')}
          rows={list}
          rowKey={({ id }) => id}
          href={({ id }) => `${routes.pipeline(name)}?run=${id}`}
          columns={[
            { key: 'id', label: t('run'), phone: 'title', render: ({ id }) => <code>{id}</code> },
            { key: 'state', label: t('state'), render: ({ status }) => <PipelineRunBadge status={status} /> },
            {
              key: 'at',
              label: t('started'),
              align: 'right',
              render: ({ started_at }) => format.ago(started_at),
            },
          ]}
        />
      )}
    </DataRegion>
  )
}
