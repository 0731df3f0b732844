import { Alert, Badge, Button, Group, Stack, Text, Title, Tooltip } from '@mantine/core'
import { CircleCheck, KeyRound, Plus, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { setTomlKey } from '../../components/config-file/toml-edit.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Page } from '../../components/page.tsx'
import { Untrusted, visibleLine } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { AddProvider } from './add-provider.tsx'
import { EditPrice } from './edit-price.tsx'
import { ProviderHealth } from './provider-health.tsx'
import type { Health, Model, Models, Provider, Tested } from './types.ts'
import { words } from './words.ts'

export default function ProvidersScreen() {
  const t = useWords(words)
  const models = useGet<Models>('models', '/api/models')
  const [adding, setAdding] = useState(false)
  const health = useGet<Health[]>('models', '/api/models/health')
  const [chosen, choose] = useState<string>()
  const [priced, setPriced] = useState<Model>()
  return (
    <Page
      title={t('title')}
      intro={t('intro')}
      actions={
        <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setAdding(true)}>
          {t('add')}
        </Button>
      }
    >
      <DataRegion query={models}>
        {({ providers, prices_of, default: current }) => (
          <Stack gap="lg">
            {providers.map(provider => (
              <ProviderCard
                key={provider.name}
                provider={provider}
                pricesOf={prices_of}
                current={current}
                health={health.data?.find(each => each.provider === provider.name)}
                onDefault={choose}
                onPrice={setPriced}
              />
            ))}
            <Text size="sm" c="dimmed">
              {t('perMillion')}
            </Text>
          </Stack>
        )}
      </DataRegion>
      <EditPrice model={priced} onClose={() => setPriced(undefined)} />
      <AddProvider opened={adding} onClose={() => setAdding(false)} />
      <ConfigFileDrawer
        layer="user"
        opened={chosen !== undefined}
        onClose={() => choose(undefined)}
        propose={text => setTomlKey(text, 'defaults', 'model', chosen ?? '')}
      />
    </Page>
  )
}

interface CardProps {
  readonly provider: Provider
  readonly pricesOf: string
  readonly current: string | null
  readonly health: Health | undefined
  readonly onDefault: (model: string) => void
  readonly onPrice: (model: Model) => void
}

function ProviderCard({ health, ...card }: CardProps) {
  const t = useWords(words)
  const { provider, current } = card
  const { name, kind, base_url, key_place, has_key, is_default, models } = provider
  return (
    <section
      className="kogu-card"
      aria-label={visibleLine(name)}
      style={{ padding: 'var(--mantine-spacing-md)' }}
    >
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs">
            <Title order={2}>
              <Untrusted text={name} />
            </Title>
            <Badge color="gray">{kind}</Badge>
            {is_default && (
              <Badge color="indigo" leftSection={<CircleCheck size={13} aria-hidden />}>
                {t('default')}
              </Badge>
            )}
            <KeyBadge hasKey={has_key} place={key_place} />
          </Group>
          <TestButton model={current?.startsWith(`${name}/`) === true ? current : (models[0]?.id ?? null)} />
        </Group>
        <Text size="sm" c="dimmed">
          {key_place === null ? t('noKeyNeeded') : t('keyPlace', { place: key_place })}
          {base_url !== null && (
            <>
              {' · '}
              <Untrusted text={base_url} />
            </>
          )}
        </Text>
        <ProviderHealth health={health} />
        {models.length === 0 ? (
          <Text size="sm">{t('none', { provider: name })}</Text>
        ) : (
          <ModelTable {...card} />
        )}
      </Stack>
    </section>
  )
}

function KeyBadge({ hasKey, place }: { hasKey: boolean; place: string | null }) {
  const t = useWords(words)
  if (place === null) return null
  return hasKey ? (
    <Badge color="green" leftSection={<KeyRound size={13} aria-hidden />}>
      {t('keyFound')}
    </Badge>
  ) : (
    <Badge color="gray" leftSection={<TriangleAlert size={13} aria-hidden />}>
      {t('keyMissing')}
    </Badge>
  )
}

function TestButton({ model }: { model: string | null }) {
  const t = useWords(words)
  const format = useFormat()
  const test = useAction((id: string) => request<Tested>('POST', '/api/models/test', { model: id }), {
    topics: ['models'],
  })
  if (model === null) return null
  const { data } = test
  return (
    <Stack gap={4} align="flex-end">
      <Tooltip label={t('testHint')}>
        <Button
          variant="default"
          size="compact-sm"
          loading={test.isPending}
          onClick={() => test.mutate(model)}
        >
          {t('test')}
        </Button>
      </Tooltip>
      {data !== undefined && (
        <Alert color={data.ok ? 'green' : 'red'} py={4} px="sm" role="status">
          <Untrusted
            text={
              data.ok
                ? t('testOk', {
                    model: data.model,
                    time: format.duration(data.ms),
                    tokens: data.tokens ?? 0,
                    cost: format.money(data.cost_usd, t('unknown')),
                  })
                : t('testFailed', {
                    model: data.model,
                    reason: [data.error?.message, data.error?.hint].filter(Boolean).join(' '),
                  })
            }
            most={600}
          />
        </Alert>
      )}
    </Stack>
  )
}

function ModelTable({ provider, pricesOf, current, onDefault, onPrice }: Omit<CardProps, 'health'>) {
  const t = useWords(words)
  const format = useFormat()
  const price = (value: number | undefined): string => format.money(value ?? null, t('unknown'))
  const count = (value: number | null): string => (value === null ? t('unknown') : format.number(value))
  const columns: readonly Column<Model>[] = [
    {
      key: 'model',
      label: t('model'),
      phone: 'title',
      render: model => <Untrusted text={model.name} />,
      below: model =>
        (['tools', 'images', 'temperature'] as const)
          .filter(each => model[each])
          .map(each => t(each))
          .join(', '),
    },
    { key: 'context', label: t('context'), align: 'right', render: model => count(model.context) },
    {
      key: 'max',
      label: t('maxOutput'),
      align: 'right',
      phone: 'hide',
      render: model => count(model.max_output),
    },
    { key: 'in', label: t('input'), align: 'right', render: model => price(model.price?.input) },
    {
      key: 'cached',
      label: t('cached'),
      align: 'right',
      phone: 'hide',
      render: model => price(model.price?.cached),
    },
    {
      key: 'write',
      label: t('cacheWrite'),
      align: 'right',
      phone: 'hide',
      render: model => price(model.price?.cacheWrite),
    },
    { key: 'out', label: t('output'), align: 'right', render: model => price(model.price?.output) },
    {
      key: 'source',
      label: t('source'),
      phone: 'hide',
      render: model => t(model.price_source, { date: pricesOf }),
    },
    {
      key: 'default',
      label: t('actions'),
      render: model => (
        <Group gap={4}>
          {model.id === current ? (
            <Badge color="indigo">{t('default')}</Badge>
          ) : (
            <Button size="compact-xs" variant="subtle" onClick={() => onDefault(model.id)}>
              {t('makeDefault')}
            </Button>
          )}
          <Button
            size="compact-xs"
            variant="subtle"
            aria-label={`${t('editPrice')}: ${visibleLine(model.name)}`}
            onClick={() => onPrice(model)}
          >
            {t('editPrice')}
          </Button>
        </Group>
      ),
    },
  ]
  return <DataTable label={provider.name} columns={columns} rows={provider.models} rowKey={({ id }) => id} />
}
