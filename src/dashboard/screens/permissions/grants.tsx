import { Button } from '@mantine/core'
import { Handshake } from 'lucide-react'
import { Link } from 'wouter'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useShortPath } from '../../components/use-short-path.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { words as history } from './history/words.ts'
import type { AuditSummary, Grant } from './types.ts'
import { words } from './words.ts'

export function Grants() {
  const t = useWords(words)
  const h = useWords(history)
  const format = useFormat()
  const shorten = useShortPath()
  const session = useGet<{ workspace: string }>('session', '/api/auth/session')
  const grants = useGet<Grant[]>('grants', '/api/grants')
  const summary = useGet<AuditSummary>('audit', '/api/audit/summary')
  const revoke = useAction((id: string) => request('DELETE', `/api/grants/${encodeURIComponent(id)}`), {
    topics: ['grants'],
  })
  const placeOf = ({ scope, run, agent, everywhere, workspace }: Grant): string => {
    if (scope === 'session') return h('forRun', { run: run ?? '' })
    if (everywhere) return h('forEverywhere')
    if (workspace !== session.data?.workspace) return h('forOther', { workspace })
    return agent === null ? h('forProject') : h('forPanel', { agent })
  }
  const columns: readonly Column<Grant>[] = [
    {
      key: 'covers',
      label: t('covers'),
      phone: 'title',
      render: ({ covers }) => <Untrusted text={shorten(covers)} />,
    },
    { key: 'decision', label: t('decision'), render: ({ decision }) => <OutcomeBadge outcome={decision} /> },
    {
      key: 'for',
      label: t('holdsFor'),
      render: grant => <Untrusted text={placeOf(grant)} most={120} />,
    },
    { key: 'who', label: t('who'), phone: 'hide', render: ({ user }) => <Untrusted text={user} /> },
    {
      key: 'since',
      label: t('givenAt'),
      phone: 'hide',
      render: ({ created_at, call }) => (
        <>
          {format.ago(created_at)}
          {call !== null && (
            <>
              {' · '}
              <Link href={routes.audit({ call })}>{h('fromCallLink')}</Link>
            </>
          )}
        </>
      ),
    },
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
        <Empty icon={<Handshake size={32} aria-hidden />} title={t('noGrants')} guide="permissions">
          {t('noGrantsHint')}
        </Empty>
      }
    >
      {list => <DataTable label={t('grants')} columns={columns} rows={list} rowKey={({ id }) => id} />}
    </DataRegion>
  )
}
