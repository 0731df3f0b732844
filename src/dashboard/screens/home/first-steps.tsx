import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { CircleCheck, CircleDashed } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { shortModel } from '../runs/short-model.ts'
import type { Home } from './home.ts'
import { words } from './words.ts'

/** What is left to do before Kogu can be used. Gone once it is done. */
export function FirstSteps({ home: { setup } }: { home: Home }) {
  const t = useWords(words)
  const isTrustOpen = setup.trust === 'untrusted' || setup.trust === 'changed'
  if (setup.model !== null && !isTrustOpen && setup.runs > 0) return null
  return (
    <Paper p="md" component="section" bg="var(--kogu-surface)">
      <Title order={2} mb="sm">
        {t('welcome')}
      </Title>
      <Stack gap="sm">
        <Step
          isDone={setup.model !== null}
          title={t('model')}
          text={
            setup.model === null ? t('modelMissing') : t('modelFound', { model: shortModel(setup.model) })
          }
          action={
            <Group gap="xs">
              {setup.model !== null && <TestModel />}
              <Button component={Link} href={routes.providers()} size="xs" variant="default">
                {t('addProvider')}
              </Button>
            </Group>
          }
        />
        <Step
          isDone={!isTrustOpen}
          title={t('trust')}
          text={isTrustOpen ? <Brought status={t(TRUST_WORDS[setup.trust])} /> : t(TRUST_WORDS[setup.trust])}
          action={
            isTrustOpen ? (
              <Button component={Link} href={routes.settings({ section: 'trust' })} size="xs">
                {t('review')}
              </Button>
            ) : undefined
          }
        />
        <Step
          isDone={setup.runs > 0}
          title={t('tryIt')}
          text={setup.runs > 0 ? t('tryDone') : t('tryText')}
          action={
            <Group gap="xs">
              <SamplePipeline isFirst={setup.runs === 0} />
              <Button component={Link} href={routes.panels()} size="xs" variant="default">
                {t('openPanels')}
              </Button>
            </Group>
          }
        />
      </Stack>
    </Paper>
  )
}

const TRUST_WORDS = {
  'not-needed': 'trustNotNeeded',
  trusted: 'trustDone',
  untrusted: 'trustNeeded',
  changed: 'trustChanged',
} as const

function Step({
  isDone,
  title,
  text,
  action,
}: {
  isDone: boolean
  title: string
  text: ReactNode
  action?: ReactNode
}) {
  const t = useWords(words)
  const Icon = isDone ? CircleCheck : CircleDashed
  return (
    <Group justify="space-between" gap="sm">
      <Group gap="sm" wrap="nowrap" style={{ flex: '1 1 260px' }} align="flex-start">
        <Icon
          size={20}
          aria-label={isDone ? t('done') : t('open')}
          color={isDone ? 'var(--mantine-color-green-7)' : 'var(--mantine-color-dimmed)'}
          style={{ flex: 'none', marginTop: 2 }}
        />
        <div>
          <Text fw={600}>{title}</Text>
          <Text size="sm" c="dimmed">
            {typeof text === 'string' ? <Untrusted text={text} /> : text}
          </Text>
        </div>
      </Group>
      {action}
    </Group>
  )
}

interface Tested {
  readonly ok: boolean
  readonly ms: number
  readonly error: { readonly message: string } | null
}

/** One short request to the model that runs use. */
function TestModel() {
  const t = useWords(words)
  const format = useFormat()
  const test = useAction(() => request<Tested>('POST', '/api/models/test', {}), { topics: [] })
  const { data } = test
  return (
    <>
      <Text size="sm" role="status" c={data?.ok === false ? 'red' : 'dimmed'}>
        {data !== undefined && (
          <Untrusted
            text={data.ok ? t('tested', { time: format.duration(data.ms) }) : (data.error?.message ?? '')}
            most={200}
          />
        )}
      </Text>
      <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        {t('test')}
      </Button>
    </>
  )
}

/** A pipeline that searches, lets a model work and writes a file. It asks before the file is written. */
const SAMPLE = { name: 'sample-research', template: 'market-research' }

function SamplePipeline({ isFirst }: { isFirst: boolean }) {
  const t = useWords(words)
  const [, navigate] = useLocation()
  const make = useAction(
    async () => {
      const made = await request<readonly { name: string }[]>('GET', '/api/pipelines')
      if (!made.some(({ name }) => name === SAMPLE.name)) await request('POST', '/api/pipelines', SAMPLE)
    },
    { topics: ['pipelines'], onDone: () => navigate(routes.pipeline(SAMPLE.name)) },
  )
  return (
    <Button
      size="xs"
      variant={isFirst ? 'filled' : 'default'}
      loading={make.isPending}
      onClick={() => make.mutate()}
    >
      {t('samplePipeline')}
    </Button>
  )
}

/** What the project's files would switch on, counted. */
function Brought({ status }: { status: string }) {
  const { data } = useGet<Trust>('settings', '/api/trust')
  const counts = Object.entries(Object.groupBy(data?.lines ?? [], ({ kind }) => kind))
  return (
    <>
      {status}{' '}
      <Untrusted
        text={counts.map(([kind, lines = []]) => `${kind}: ${lines.length}`).join(', ')}
        most={200}
      />
    </>
  )
}

interface Trust {
  readonly lines: readonly { readonly kind: string }[]
}
