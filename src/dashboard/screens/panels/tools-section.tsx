import {
  Alert,
  Anchor,
  Button,
  Checkbox,
  Group,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
  Tooltip,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Search, Settings2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { request, useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { DataRegion } from '../../components/data-region.tsx'
import { Untrusted, visibleLine } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { ConfigureDrawer } from './configure-drawer.tsx'
import { findModel } from './model-section.tsx'
import type { SectionProps } from './prompts.tsx'
import type { Models, PanelSettings, ToolSettings, Verdict } from './types.ts'
import { words } from './words.ts'

/** One row for each tool: whether it is enabled, its category, what its calls in this panel meet, and its settings. */
export function ToolsSection({ name, settings, onChange }: SectionProps & { readonly name: string }) {
  const t = useWords(words)
  const tools = useGet<Tool[]>('tools', '/api/tools')
  const verdicts = useVerdicts(name, settings)
  const [filter, setFilter] = useState('')
  const [onlyEnabled, setOnlyEnabled] = useState(false)
  const [configured, configure] = useState<Tool | null>(null)
  const own = settings.tools ?? {}
  const models = useGet<Models>('models', '/api/models').data
  const hasNoTools = findModel(models, settings.model).known?.tools === false
  const set = (name: string, next: ToolSettings | undefined): void => {
    const { [name]: _before, ...others } = own
    onChange({ tools: next === undefined ? others : { ...others, [name]: next } })
  }
  return (
    <DataRegion query={tools}>
      {all => {
        const shown = all.filter(
          tool =>
            (!onlyEnabled || isEnabled(own, tool)) && tool.name.toLowerCase().includes(filter.toLowerCase()),
        )
        const groups = Map.groupBy(shown, ({ provider }) => (provider === 'builtin' ? '' : provider))
        return (
          <Stack gap="sm">
            <Group justify="space-between">
              <Title order={2}>
                {t('toolCount', { on: all.filter(tool => isEnabled(own, tool)).length, all: all.length })}
              </Title>
              <Group gap="sm">
                <Switch
                  label={t('onlyEnabled')}
                  checked={onlyEnabled}
                  onChange={event => setOnlyEnabled(event.currentTarget.checked)}
                />
                <TextInput
                  size="xs"
                  data-filter
                  aria-label={t('findTool')}
                  placeholder={t('findTool')}
                  leftSection={<Search size={14} aria-hidden />}
                  value={filter}
                  onChange={event => setFilter(event.currentTarget.value)}
                />
              </Group>
            </Group>
            {hasNoTools && (
              <Alert color="yellow" py="xs">
                {t('noToolUse')}
              </Alert>
            )}
            {[...groups].map(([group, list]) => (
              <ToolGroup key={`${group} ${filter === ''}`} name={group} count={list.length}>
                <div className="kogu-card">
                  {list.map((tool, index) => (
                    <ToolRow
                      key={tool.name}
                      tool={tool}
                      isFirst={index === 0}
                      own={settingsOf(own, tool)}
                      verdict={verdicts.find(each => each.tool === tool.name)}
                      isRefused={hasNoTools}
                      onToggle={on => set(keyOf(own, tool), toggled(settingsOf(own, tool), on))}
                      onConfigure={() => configure(tool)}
                    />
                  ))}
                </div>
              </ToolGroup>
            ))}
            {configured !== null && (
              <ConfigureDrawer
                tool={configured}
                own={settingsOf(own, configured)}
                onClose={() => configure(null)}
                onSave={next => {
                  set(keyOf(own, configured), next)
                  configure(null)
                }}
              />
            )}
          </Stack>
        )
      }}
    </DataRegion>
  )
}

/** Of the panel as it is edited. What cannot be judged yet, such as a setting that is half written, has no verdict. */
function useVerdicts(panel: string, { mode, orchestration, tools }: PanelSettings): readonly Verdict[] {
  const [edited] = useDebouncedValue(JSON.stringify({ panel, mode, orchestration, tools }), 300)
  const { data } = useQuery({
    queryKey: ['rules', '/api/tools/verdicts', edited],
    queryFn: () => request<Verdict[]>('POST', '/api/tools/verdicts', JSON.parse(edited)),
    placeholderData: keepPreviousData,
    retry: false,
  })
  return data ?? []
}

interface RowProps {
  readonly tool: Tool
  readonly isFirst: boolean
  readonly own: ToolSettings | undefined
  readonly verdict: Verdict | undefined
  /** The model takes no tools: one can still be taken away. */
  readonly isRefused: boolean
  readonly onToggle: (on: boolean) => void
  readonly onConfigure: () => void
}

function ToolRow({ tool, isFirst, own, verdict, isRefused, onToggle, onConfigure }: RowProps) {
  const t = useWords(words)
  const isOn = own !== undefined && own.enabled !== false
  const hasOwn = own !== undefined && Object.keys(own).some(key => key !== 'enabled')
  return (
    <Group
      px="sm"
      py={8}
      gap="sm"
      justify="space-between"
      style={isFirst ? undefined : { borderTop: '1px solid var(--kogu-line)' }}
    >
      <Checkbox
        data-tool-name={tool.name}
        checked={isOn}
        disabled={isRefused && !isOn}
        onChange={event => onToggle(event.currentTarget.checked)}
        label={
          <>
            <Text ff="monospace" size="sm" fw={600} component="span">
              <Untrusted text={tool.name} most={80} />
            </Text>{' '}
            <Text size="xs" c="dimmed" component="span">
              ({categoryName(tool.category)})
            </Text>
          </>
        }
        styles={{ body: { alignItems: 'center' } }}
      />
      <Group gap="xs">
        {isOn && verdict !== undefined && <Outcome verdict={verdict} />}
        <Button
          size="compact-sm"
          variant="default"
          aria-label={
            hasOwn ? t('configureOwn', { tool: tool.name }) : t('configureTool', { tool: tool.name })
          }
          leftSection={<Settings2 size={14} aria-hidden />}
          onClick={onConfigure}
        >
          {t('configure')}
          {hasOwn && ' •'}
        </Button>
      </Group>
    </Group>
  )
}

function shortPath(path: string): string {
  return path.split('/').slice(-2).join('/')
}

/** By the engine that judges real calls, with a typical call: the list never promises what would not happen. */
function Outcome({ verdict: { outcome, reasons, rule } }: { verdict: Verdict }) {
  const t = useWords(words)
  const reason = reasons[0] ?? ''
  return (
    <Group gap={6}>
      {outcome === 'deny' && rule !== null && (
        <Anchor component={Link} href={routes.permissions({ rule: rule.id })} size="xs">
          {t('byRule', {
            rule: rule.line === undefined ? rule.id : `${rule.id} (${shortPath(rule.source)}:${rule.line})`,
          })}
        </Anchor>
      )}
      {reason === '' ? (
        <OutcomeBadge outcome={outcome} />
      ) : (
        <Tooltip label={<Untrusted text={reason} />}>
          <span>
            <OutcomeBadge outcome={outcome} />
          </span>
        </Tooltip>
      )}
    </Group>
  )
}

/** As the first dashboard named them. */
function categoryName(category: string): string {
  return category === 'VersionControl' ? 'VCS' : category
}

type Own = Readonly<Record<string, ToolSettings>>

/** A panel may name a tool by any of its names. */
function keyOf(own: Own, { name, aliases }: Tool): string {
  return [name, ...aliases].find(each => Object.hasOwn(own, each)) ?? name
}

function settingsOf(own: Own, tool: Tool): ToolSettings | undefined {
  return own[keyOf(own, tool)]
}

function isEnabled(own: Own, tool: Tool): boolean {
  const found = settingsOf(own, tool)
  return found !== undefined && found.enabled !== false
}

/** Switched off, its settings stay for the next time; without any, its table goes. */
function toggled(own: ToolSettings | undefined, on: boolean): ToolSettings | undefined {
  const { enabled: _before, ...config } = own ?? {}
  if (on) return config
  return Object.keys(config).length === 0 ? undefined : { ...config, enabled: false }
}

/** Tools of others can be folded away. While something is looked for they are open. */
function ToolGroup({ name, count, children }: { name: string; count: number; children: ReactNode }) {
  const t = useWords(words)
  if (name === '') return <section aria-label={t('tools')}>{children}</section>
  return (
    <section aria-label={visibleLine(name)}>
      <details open>
        <summary>
          <Text span size="xs" fw={600} c="dimmed">
            <Untrusted text={name} /> ({count})
          </Text>
        </summary>
        {children}
      </details>
    </section>
  )
}
