import { Button, Group, Modal, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Octagon } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { request } from '../../../api/api.ts'
import { useAction } from '../../../api/use-action.ts'
import { CopyText } from '../../../components/copy-text.tsx'
import { Untrusted, UntrustedBlock, visibleLine } from '../../../components/untrusted.tsx'
import { useFormat } from '../../../i18n/format.ts'
import { useWords } from '../../../i18n/language.tsx'
import { SendMessage } from '../steer/send-message.tsx'
import type { TreeRow } from './agent-tree.ts'
import { words } from './words.ts'

/** About the agent that is chosen in the tree: what it was told, what it may do, and how to steer it. */
export function AgentDetails({ run, row }: { run: string; row: TreeRow }) {
  const t = useWords(words)
  const { agent } = row
  const draft = useState('')
  const { prompt, task, tools } = agent
  const name = visibleLine(agent.name, 60)
  const mayEnd = agent.completed_at === null
  return (
    <Stack
      component="section"
      aria-label={t('details', { name })}
      className="kogu-card"
      p="md"
      gap="sm"
      mt="md"
    >
      <Group justify="space-between">
        <Title order={3}>
          <Untrusted text={agent.name} most={80} />
        </Title>
        <Group gap="xs">
          {mayEnd && agent.parent_execution_id !== null && <StopSubtree run={run} row={row} />}
          <CopyText text={prompt === null ? task : `${prompt}\n\n${task}`} label={t('copyPrompt')} />
        </Group>
      </Group>
      {agent.description !== null && (
        <Fact label={t('why')}>
          <Untrusted text={agent.description} most={2_000} />
        </Fact>
      )}
      <Fact label={t('limits')}>
        <LimitsLeft row={row} />
      </Fact>
      <Fact label={t('tools')}>
        {tools.length === 0 ? t('noTools') : <Untrusted text={tools.join(', ')} most={4_000} />}
      </Fact>
      <Fact label={t('task')}>
        <UntrustedBlock text={task} lines={8} most={20_000} label={t('task')} />
      </Fact>
      {prompt !== null && prompt !== '' && (
        <Fact label={t('prompt')}>
          <UntrustedBlock text={prompt} lines={8} most={20_000} label={t('prompt')} />
        </Fact>
      )}
      {mayEnd && (
        <SendMessage run={run} execution={agent.execution_id} label={t('message', { name })} draft={draft} />
      )}
    </Stack>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </div>
  )
}

function LimitsLeft({ row }: { row: TreeRow }) {
  const t = useWords(words)
  const format = useFormat()
  const { turns, cost_usd: money, tokens, calls } = row.agent.limits_left
  return [
    t('turns', { count: turns }),
    ...(money === null ? [] : [t('money', { amount: format.money(money, '') })]),
    ...(tokens === null ? [] : [t('tokens', { count: format.number(tokens) })]),
    ...(calls === null ? [] : [t('calls', { count: calls })]),
  ].join(' · ')
}

function StopSubtree({ run, row: { agent, below } }: { run: string; row: TreeRow }) {
  const t = useWords(words)
  const [opened, ask] = useDisclosure(false)
  const stop = useAction(
    () =>
      request(
        'POST',
        `/api/runs/${encodeURIComponent(run)}/agents/${encodeURIComponent(agent.execution_id)}/stop`,
        {},
      ),
    { topics: ['runs', 'approvals'], onDone: ask.close },
  )
  return (
    <>
      <Button
        size="compact-sm"
        color="red"
        variant="light"
        disabled={agent.stopping}
        leftSection={<Octagon size={14} aria-hidden />}
        onClick={ask.open}
      >
        {agent.stopping ? t('stopping') : t('stopSubtree')}
      </Button>
      <Modal
        opened={opened}
        onClose={ask.close}
        title={<Untrusted text={t('stopTitle', { name: agent.name })} most={120} />}
        closeButtonProps={{ 'aria-label': t('cancel') }}
      >
        <Text size="sm">{t('stopText')}</Text>
        {below > 0 && (
          <Text size="sm" mt="xs">
            {t('stopBelow', { count: below })}
          </Text>
        )}
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={ask.close}>
            {t('cancel')}
          </Button>
          <Button color="red" loading={stop.isPending} onClick={() => stop.mutate()}>
            {t('stopSubtree')}
          </Button>
        </Group>
      </Modal>
    </>
  )
}
