import { Badge } from '@mantine/core'
import { CircleAlert, CircleCheck, Eye, TriangleAlert, Workflow } from 'lucide-react'
import { useGet } from '../../api/api.ts'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Page } from '../../components/page.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { NewPipeline } from './new-pipeline.tsx'
import type { Pipeline } from './types.ts'
import { words } from './words.ts'

export function PipelineList() {
  const t = useWords(words)
  const format = useFormat()
  const pipelines = useGet<Pipeline[]>('pipelines', '/api/pipelines')
  const columns: readonly Column<Pipeline>[] = [
    { key: 'name', label: t('name'), phone: 'title', render: ({ name }) => <Untrusted text={name} /> },
    { key: 'state', label: t('state'), render: pipeline => <StateBadge pipeline={pipeline} /> },
    {
      key: 'description',
      label: t('description'),
      phone: 'hide',
      render: ({ definition }) => <Untrusted text={definition?.description ?? ''} />,
    },
    {
      key: 'steps',
      label: t('steps'),
      align: 'right',
      render: ({ definition }) => format.number(definition?.step.length ?? 0),
    },
  ]
  return (
    <Page title={t('pipelines')} intro={t('intro')} actions={<NewPipeline />}>
      <DataRegion
        query={pipelines}
        isEmpty={list => list.length === 0}
        empty={
          <Empty
            icon={<Workflow size={32} aria-hidden />}
            title={t('intro')}
            action={<NewPipeline />}
            guide="pipelines"
          >
            {t('emptyList')}
          </Empty>
        }
      >
        {list => (
          <DataTable
            label={t('pipelines')}
            columns={columns}
            rows={list}
            rowKey={({ name }) => name}
            href={({ name }) => routes.pipeline(name)}
          />
        )}
      </DataRegion>
    </Page>
  )
}

export function StateBadge({ pipeline: { state, problems } }: { pipeline: Pipeline }) {
  const t = useWords(words)
  if (state !== 'broken' && problems.length > 0)
    return (
      <Badge color="orange" leftSection={<TriangleAlert size={13} aria-hidden />}>
        {t('problems', { count: problems.length })}
      </Badge>
    )
  const Icon = { trusted: CircleCheck, untrusted: Eye, broken: CircleAlert }[state]
  const color = { trusted: 'green', untrusted: 'yellow', broken: 'red' }[state]
  return (
    <Badge color={color} leftSection={<Icon size={13} aria-hidden />}>
      {t(state)}
    </Badge>
  )
}
