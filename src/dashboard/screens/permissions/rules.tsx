import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { Lock, Plus, Shield, TriangleAlert } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useGet } from '../../api/api.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { removeTomlRule } from '../../components/config-file/toml-edit.ts'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { usePlace } from '../../components/use-short-path.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import { ToolVerdicts } from './effective.tsx'
import { Candidates } from './history/candidates.tsx'
import { NEVER, RuleMark } from './history/rule-mark.tsx'
import { words as history } from './history/words.ts'
import { StarterPacks } from './packs.tsx'
import { NEW, proposeRule } from './rule-draft.ts'
import { RuleForm } from './rule-form.tsx'
import type { AuditSummary, Finding, Rule } from './types.ts'
import { words } from './words.ts'

export function Rules() {
  const t = useWords(words)
  const rules = useGet<Rule[]>('rules', '/api/rules')
  const summary = useGet<AuditSummary>('audit', '/api/audit/summary')
  const [edited, edit] = useUrlState('edit')
  const [tool] = useUrlState('tool')
  const [input] = useUrlState('input')
  const proposed = useMemo(() => (tool === '' ? undefined : proposeRule(tool, input)), [tool, input])
  const [, navigate] = useLocation()
  const [removing, setRemoving] = useState<Rule>()
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => edit(NEW)}>
      {t('newRule')}
    </Button>
  )
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {t('strictest')}
        </Text>
        {add}
      </Group>
      <Lint />
      <Candidates list={summary.data?.always_approved ?? []} />
      <DataRegion
        query={rules}
        isEmpty={list => list.length === 0}
        empty={
          <Stack>
            <Empty icon={<Shield size={32} aria-hidden />} title={t('noRules')} guide="permissions">
              {t('noRulesHint')}
            </Empty>
            <ToolVerdicts />
          </Stack>
        }
      >
        {list => (
          <RuleTable
            rules={list}
            summary={summary.data}
            onEdit={({ id }) => edit(id)}
            onRemove={setRemoving}
          />
        )}
      </DataRegion>
      <StarterPacks />
      <RuleForm
        proposed={edited === NEW ? proposed : undefined}
        rule={rules.data?.find(({ id }) => id === edited)}
        opened={edited === NEW || rules.data?.some(({ id }) => id === edited) === true}
        onClose={() => navigate(routes.permissions())}
      />
      <ConfigFileDrawer
        layer={removing?.layer ?? 'user'}
        opened={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        propose={text => removeTomlRule(text, removing?.id ?? '')}
      />
    </Stack>
  )
}

function RuleTable({
  rules,
  summary,
  onEdit,
  onRemove,
}: {
  rules: readonly Rule[]
  summary: AuditSummary | undefined
  onEdit: (rule: Rule) => void
  onRemove: (rule: Rule) => void
}) {
  const t = useWords(words)
  const h = useWords(history)
  const format = useFormat()
  const place = usePlace()
  const hasExamples = rules.some(({ definition }) => examplesOf(definition) > 0)
  const columns: readonly Column<Rule>[] = [
    {
      key: 'id',
      label: t('id'),
      phone: 'title',
      render: ({ id }) => <Untrusted text={id} />,
      below: rule => (
        <>
          <Untrusted text={place(rule)} />
          {rule.layer === 'project' && (
            <div>
              <Lock size={11} aria-hidden /> {h('trusted')}
            </div>
          )}
        </>
      ),
    },
    { key: 'decision', label: t('decision'), render: ({ decision }) => <OutcomeBadge outcome={decision} /> },
    {
      key: 'matches',
      label: t('matches'),
      render: ({ id, text, reason }) => (
        <div>
          <Text ff="monospace" size="sm" component="div">
            <Untrusted text={text} most={400} />
          </Text>
          {reason !== null && (
            <Text size="xs" c="dimmed" component="div">
              <Untrusted text={reason} />
            </Text>
          )}
          <RuleMark history={summary === undefined ? undefined : (summary.rules[id] ?? NEVER)} />
        </div>
      ),
    },
    {
      key: 'hits',
      label: t('hits'),
      align: 'right',
      render: ({ id }) => format.number(summary?.rules[id]?.hits ?? 0),
    },
    {
      key: 'last',
      label: t('last'),
      align: 'right',
      phone: 'hide',
      render: ({ id }) => {
        const at = summary?.rules[id]?.last ?? null
        return at === null ? '–' : format.ago(at)
      },
    },
    {
      key: 'examples',
      label: t('examples'),
      align: 'right',
      phone: 'hide',
      // A file whose rules do not match their examples is not loaded.
      render: ({ definition }) => {
        const count = examplesOf(definition)
        return count === 0 ? '–' : `✓ ${format.number(count)}`
      },
    },
    {
      key: 'actions',
      label: t('actions'),
      render: rule => (
        <Group gap={4} wrap="nowrap">
          <Button
            size="compact-xs"
            variant="default"
            component={Link}
            href={routes.permissions({ tab: 'dryRun', rule: rule.id })}
          >
            {t('without')}
          </Button>
          {rule.definition !== null && rule.layer !== null && (
            <>
              <Button size="compact-xs" variant="default" onClick={() => onEdit(rule)}>
                {t('edit')}
              </Button>
              <Button size="compact-xs" variant="default" onClick={() => onRemove(rule)}>
                {t('remove')}
              </Button>
            </>
          )}
        </Group>
      ),
    },
  ]
  return (
    <DataTable
      label={t('rules')}
      columns={columns.filter(({ key }) => key !== 'examples' || hasExamples)}
      rows={rules}
      rowKey={({ id, source, line }) => `${id} ${source} ${line}`}
    />
  )
}

function examplesOf(definition: Rule['definition']): number {
  return [definition?.match, definition?.not_match].flat().filter(each => typeof each === 'string').length
}

function Lint() {
  const t = useWords(words)
  const findings = useGet<Finding[]>('rules', '/api/rules/lint')
  const list = findings.data ?? []
  if (list.length === 0) return null
  return (
    <Alert color="yellow" icon={<TriangleAlert size={18} aria-hidden />} title={t('findings')}>
      <List size="sm">
        {list.map(({ message }) => (
          <List.Item key={message}>
            <Untrusted text={message} most={600} />
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
