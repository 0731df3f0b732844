import {
  Alert,
  Anchor,
  Autocomplete,
  Badge,
  Button,
  Group,
  NativeSelect,
  NumberInput,
  Radio,
  SimpleGrid,
  Slider,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { Check, X } from 'lucide-react'
import { Link } from 'wouter'
import { useGet } from '../../api/api.ts'
import { toChoices, visibleLine } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { nearestModels } from './nearest-models.ts'
import type { SectionProps } from './prompts.tsx'
import type { Model, Models } from './types.ts'
import { words } from './words.ts'

/** Provider, model and what is sent to it. What a model does not take is disabled, with the reason. */
export function ModelSection({ settings, onChange }: SectionProps) {
  const t = useWords(words)
  const models = useGet<Models>('models', '/api/models').data
  const { provider, name, known } = findModel(models, settings.model)
  const vendor = models?.providers.find(each => each.name === provider)
  const chooseProvider = (next: string): void => {
    const first = models?.providers.find(each => each.name === next)?.models[0]?.id
    onChange({ model: next === '' ? undefined : (first ?? `${next}/`) })
  }
  return (
    <Stack gap="sm">
      <Title order={2}>{t('model')}</Title>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NativeSelect
          label={t('provider')}
          value={settings.model === undefined ? '' : provider}
          onChange={event => chooseProvider(event.currentTarget.value)}
          data={[
            { value: '', label: t('defaultIs', { model: models?.default ?? '–' }) },
            ...toChoices(providersOf(models, provider)),
          ]}
        />
        <Autocomplete
          label={t('model')}
          disabled={settings.model === undefined}
          value={settings.model === undefined ? '' : name}
          data={[...new Set((vendor?.models ?? []).map(model => model.name))]}
          onChange={next => onChange({ model: joinModel(provider, next) })}
        />
      </SimpleGrid>
      {known !== undefined && <Abilities model={known} />}
      {known === undefined && settings.model !== undefined && (
        <Nearest
          wanted={settings.model}
          models={vendor?.models ?? []}
          onChoose={model => onChange({ model })}
        />
      )}
      {vendor?.has_key === false && vendor.key_place !== null && (
        <Alert color="yellow" py="xs">
          {t('noKey', { place: vendor.key_place })}{' '}
          <Anchor component={Link} href={routes.providers()} size="sm">
            {t('addKey')}
          </Anchor>
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="lg">
        <Temperature settings={settings} onChange={onChange} known={known} />
        <NumberInput
          label={t('maxTokens')}
          description={
            known?.max_output == null ? t('maxTokensAbout') : t('maxTokensOf', { max: known.max_output })
          }
          min={1}
          {...(known?.max_output == null ? {} : { max: known.max_output })}
          allowDecimal={false}
          value={settings.max_tokens ?? ''}
          placeholder={t('notSet')}
          onChange={value => onChange({ max_tokens: typeof value === 'number' ? value : undefined })}
        />
      </SimpleGrid>
    </Stack>
  )
}

/** A vendor takes models away: what is not in its list may be a new one, or gone. */
function Nearest({
  wanted,
  models,
  onChoose,
}: {
  wanted: string
  models: readonly Model[]
  onChoose: (id: string) => void
}) {
  const t = useWords(words)
  const near = nearestModels(wanted, models)
  if (near.length === 0) return null
  return (
    <Alert color="yellow" py="xs">
      <Text size="sm">{t('modelUnknown')}</Text>
      <Group gap="xs" mt={6}>
        {near.map(({ id, name }) => (
          <Button key={id} size="compact-sm" variant="default" onClick={() => onChoose(id)}>
            {visibleLine(name, 60)}
          </Button>
        ))}
      </Group>
    </Alert>
  )
}

function Temperature({ settings, onChange, known }: SectionProps & { known: Model | undefined }) {
  const t = useWords(words)
  const format = useFormat()
  const isRefused = known?.temperature === false
  const { temperature } = settings
  return (
    <div>
      <Group justify="space-between" gap="xs" mih={26}>
        <Text size="sm" fw={500} id="temperature">
          {t('temperature')}:{' '}
          {isRefused || temperature === undefined ? t('notSet') : format.number(temperature)}
        </Text>
        {temperature !== undefined && (
          <Button size="compact-xs" variant="subtle" onClick={() => onChange({ temperature: undefined })}>
            {t('reset')}
          </Button>
        )}
      </Group>
      <Slider
        aria-labelledby="temperature"
        thumbLabel={t('temperature')}
        min={0}
        max={2}
        step={0.05}
        disabled={isRefused}
        label={null}
        value={temperature ?? 0.7}
        onChange={value => onChange({ temperature: Math.round(value * 100) / 100 })}
      />
      {isRefused && (
        <Text size="xs" c="dimmed">
          {t('noTemperature')}
        </Text>
      )}
    </div>
  )
}

function Abilities({ model }: { model: Model }) {
  const t = useWords(words)
  const format = useFormat()
  const ability = (has: boolean, label: string) => (
    <Badge
      color={has ? 'green' : 'gray'}
      leftSection={has ? <Check size={12} aria-hidden /> : <X size={12} aria-hidden />}
    >
      {has ? label : t('without', { ability: label })}
    </Badge>
  )
  return (
    <Group gap={6}>
      {ability(model.tools, t('tools'))}
      {ability(model.images, t('images'))}
      {model.context !== null && (
        <Text size="xs" c="dimmed">
          {t('context', { count: model.context })}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {model.price === null
          ? t('noPrice')
          : t('price', {
              input: format.money(model.price.input, ''),
              output: format.money(model.price.output, ''),
            })}
      </Text>
    </Group>
  )
}

export function Orchestration({ settings, onChange }: SectionProps) {
  const t = useWords(words)
  return (
    <Stack gap="sm">
      <Radio.Group
        label={t('orchestration')}
        value={settings.orchestration ?? 'none'}
        onChange={value => onChange({ orchestration: MODES.find(mode => mode === value) })}
      >
        <Stack gap={8} mt={6}>
          <Radio value="none" label={t('none')} description={t('noneAbout')} />
          <Radio value="automatic" label={t('automatic')} description={t('automaticAbout')} />
          <Radio value="approval" label={t('approval')} description={t('approvalAbout')} />
        </Stack>
      </Radio.Group>
      <NativeSelect
        label={t('mode')}
        description={t('modeAbout')}
        value={settings.mode ?? ''}
        onChange={event => onChange({ mode: event.currentTarget.value || undefined })}
        data={[
          { value: '', label: t('notSet') },
          { value: 'ask', label: t('modeAsk') },
          { value: 'accept-edits', label: t('modeEdits') },
          { value: 'read-only', label: t('modeReadOnly') },
          { value: 'auto', label: t('modeAuto') },
        ]}
      />
    </Stack>
  )
}

const MODES = ['none', 'automatic', 'approval'] as const

/** `anthropic/claude-…`; `rehearsal:FILE` has a colon. */
export function findModel(models: Models | undefined, id: string | undefined) {
  const wanted = id ?? models?.default ?? ''
  const [, provider = '', name = wanted] = /^([\w-]+)[/:]([\s\S]*)$/.exec(wanted) ?? []
  const known = models?.providers.flatMap(each => each.models).find(model => model.id === wanted)
  return { provider, name, known }
}

function joinModel(provider: string, name: string): string {
  return provider === '' ? name : `${provider}${provider === 'rehearsal' ? ':' : '/'}${name}`
}

function providersOf(models: Models | undefined, own: string): string[] {
  const names = models?.providers.map(({ name }) => name) ?? []
  return own === '' || names.includes(own) ? names : [...names, own]
}
