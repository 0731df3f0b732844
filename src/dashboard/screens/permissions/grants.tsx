import { Button } from '@mantine/core'
import { Handshake } from 'lucide-react'
import { Link } from 'wouter'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import type { AuditSummary, Grant } from './types.ts'
import { words } from './words.ts'

export function Grants() {
  const t = useWords(words)
  const format = useFormat()
  const grants = useGet<Grant[]>('grants', '/api/grants')
  const summary = useGet<AuditSummary>('audit', '/api/audit/summary')
  const revoke = useAction((id: string) => request('DELETE', `/api/grants/${encodeURIComponent(id)}`), {
    topics: ['grants'],
  })
  const columns: readonly Column<Grant>[] = [
    {
      key: 'covers',
      label: t('covers'),
      phone: 'title',
      render: ({ covers }) => <Untrusted text={covers} />,
    },
    { key: 'decision', label: t('decision'), render: ({ decision }) => <OutcomeBadge outcome={decision} /> },
    {
      key: 'where',
      label: t('where'),
      phone: 'hide',
      render: ({ workspace }) => <Untrusted text={workspace} />,
    },
    {
      key: 'for',
      label: t('holdsFor'),
      phone: 'hide',
      render: ({ scope, agent, run }) => (
        <Untrusted
          text={
            scope === 'session'
              ? t('forRun', { run: run ?? '' })
              : agent === null
                ? t('forAll')
                : t('forAgent', { agent })
          }
        />
      ),
    },
    { key: 'who', label: t('who'), phone: 'hide', render: ({ user }) => <Untrusted text={user} /> },
    { key: 'since', label: t('givenAt'), phone: 'hide', render: grant => format.ago(grant.created_at) },
    {
      key: 'uses',
      label: t('uses'),
      align: 'right',
      render: ({ id }) => (
        <Link href={routes.audit({ text: id })}>{format.number(summary.data?.rules[id]?.hits ?? 0)}</Link>
      ),
    },
    {
      key: 'expires',
      label: t('expires'),
      render: ({ expires_at }) => (expires_at === null ? t('untilRevoked') : format.dateTime(expires_at)),
    },
    {
      key: 'revoke',
      label: t('actions'),
      render: ({ id }) => (
        <Button
          size="compact-xs"
          variant="default"
          loading={revoke.isPending}
          onClick={() => revoke.mutate(id)}
        >
          {t('revoke')}
        </Button>
      ),
    },
  ]
  return (
    <DataRegion
      query={grants}
      isEmpty={list => list.length === 0}
      empty={
        <Empty icon={<Handshake size={32} aria-hidden />} title={t('noGrants')}>
          {t('noGrantsHint')}
        </Empty>
      }
    >
      {list => <DataTable label={t('grants')} columns={columns} rows={list} rowKey={({ id }) => id} />}
    </DataRegion>
  )
}
