import {
  ActionIcon,
  Anchor,
  Button,
  Group,
  NativeSelect,
  NumberInput,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import { withChanges } from '../../components/saved/with-changes.ts'
import { toChoices } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { dropEdges, edgesOf, hasOwnEdges, setEdge } from './definition.ts'
import type { Definition, Edge } from './types.ts'
import { words } from './words.ts'

export interface ConnectionsProps {
  readonly definition: Definition
  readonly step: string
  readonly onChange: (next: Definition, burst?: string) => void
}

/** What a step waits for, and on which condition. An edge from a later step is a loop and needs a limit. */
export function Connections({ definition, step, onChange }: ConnectionsProps) {
  const t = useWords(words)
  const edges = edgesOf(definition)
  const own = edges.map((edge, index) => ({ edge, index })).filter(({ edge }) => edge.to === step)
  const others = definition.step.map(({ id }) => id).filter(id => id !== step)
  const free = others.find(id => !own.some(({ edge }) => edge.from === id))
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2}>{t('connections')}</Title>
        {hasOwnEdges(definition) && (
          <Anchor component="button" type="button" size="sm" onClick={() => onChange(dropEdges(definition))}>
            {t('dropEdges')}
          </Anchor>
        )}
      </Group>
      <Text size="xs" c="dimmed">
        {hasOwnEdges(definition) ? t('ownEdges') : t('impliedEdges')}
      </Text>
      {own.map(({ edge, index }) => (
        <EdgeCard
          key={`${edge.from} ${index}`}
          edge={edge}
          others={others}
          onChange={(next, burst) =>
            onChange(setEdge(definition, index, next), burst === undefined ? '' : `edge.${index}.${burst}`)
          }
        />
      ))}
      {free !== undefined && (
        <Button
          variant="default"
          size="compact-sm"
          style={{ alignSelf: 'flex-start' }}
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange(setEdge(definition, edges.length, { from: free, to: step }))}
        >
          {t('addConnection')}
        </Button>
      )}
    </Stack>
  )
}

interface EdgeCardProps {
  readonly edge: Edge
  readonly others: readonly string[]
  readonly onChange: (edge: Edge | undefined, burst?: string) => void
}

function EdgeCard({ edge, others, onChange }: EdgeCardProps) {
  const t = useWords(words)
  return (
    <div className="kogu-card" style={{ padding: 12 }}>
      <Group align="flex-end" wrap="nowrap" gap="xs">
        <NativeSelect
          style={{ flex: 1 }}
          label={t('from')}
          value={edge.from}
          onChange={event => onChange({ ...edge, from: event.currentTarget.value })}
          data={toChoices(others)}
        />
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t('removeConnection', { from: edge.from })}
          onClick={() => onChange(undefined)}
        >
          <Trash2 size={15} aria-hidden />
        </ActionIcon>
      </Group>
      <TextInput
        mt="xs"
        label={t('when')}
        description={t('whenAbout')}
        placeholder="contains:yes"
        value={edge.when ?? ''}
        onChange={event =>
          onChange(withChanges(edge, { when: event.currentTarget.value || undefined }), 'when')
        }
      />
      <Group mt="xs" align="flex-end">
        <NumberInput
          style={{ flex: 1 }}
          label={t('maxRetries')}
          min={0}
          max={20}
          allowDecimal={false}
          value={edge.max_retries ?? 0}
          onChange={value =>
            onChange(
              withChanges(edge, { max_retries: typeof value === 'number' && value > 0 ? value : undefined }),
              'retries',
            )
          }
        />
        <Switch
          mb={8}
          label={t('summarize')}
          checked={edge.summarize === true}
          onChange={event =>
            onChange(withChanges(edge, { summarize: event.currentTarget.checked || undefined }))
          }
        />
      </Group>
    </div>
  )
}
