import { hash } from 'node:crypto'
import { parse } from 'smol-toml'
import * as z from 'zod'
import { parseDuration } from '../core/duration.ts'
import { ToolError } from '../core/errors.ts'
import { parseSettings, type ToolSetting } from './agent-authority.ts'
import type { Orchestration } from './run-record.ts'

/** `.kogu/panels/NAME.toml`: a prompt with a model and its tools, a text that may be drawn, or a folder. */
export type Panel = AiPanel | TextPanel | FolderPanel

interface About {
  readonly name: string
  readonly description: string
  /** Of the whole text: trust is bound to it. */
  readonly hash: string
}

/** One prompt with a model and a set of tools. The file is the source of an agent. */
export interface AiPanel extends About {
  readonly kind: 'ai'
  /** The agent's own prompt. */
  readonly system?: string
  /** What the person says, with `{{input}}` and `{{variable}}`. */
  readonly prompt: string
  readonly model?: string
  readonly temperature?: number
  readonly maxTokens?: number
  readonly mode?: 'ask' | 'accept-edits' | 'read-only' | 'auto'
  readonly maxTurns?: number
  readonly maxTimeMs?: number
  readonly maxCostUsd?: number
  readonly onLimit?: 'stop' | 'ask'
  readonly orchestration?: 'none' | Orchestration
  readonly tools: readonly ToolSetting[]
}

/** A text that it hands over as it is: rows for a table or a chart, Mermaid for a diagram. */
export interface TextPanel extends About {
  readonly kind: 'text' | 'table' | 'chart' | 'diagram'
  /** With `{{input}}` and `{{variable}}`. */
  readonly text: string
}

/** A folder of the workspace, whose files it hands over. */
export interface FolderPanel extends About {
  readonly kind: 'folder'
  readonly folder: string
}

export const PANEL_KINDS = ['ai', 'text', 'folder', 'table', 'chart', 'diagram'] as const

const about = { name: z.string().optional(), description: z.string().default('') }

const ai = z.strictObject({
  ...about,
  kind: z.literal('ai').default('ai'),
  system: z.string().optional(),
  prompt: z.string().default('{{input}}'),
  model: z.string().optional(),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().min(1).optional(),
  mode: z.enum(['ask', 'accept-edits', 'read-only', 'auto']).optional(),
  orchestration: z.enum(['none', 'automatic', 'approval']).optional(),
  limits: z
    .strictObject({
      max_turns: z.int().min(1).optional(),
      max_time: z
        .string()
        .refine(text => (parseDuration(text) ?? 0) > 0, 'Write a time such as "10m" or "90s".')
        .optional(),
      max_cost: z.number().min(0).optional(),
      on_limit: z.enum(['stop', 'ask']).optional(),
    })
    .default({}),
  tools: z.record(z.string(), z.looseObject({ enabled: z.boolean().default(true) })).default({}),
})

const text = z.strictObject({
  ...about,
  kind: z.enum(['text', 'table', 'chart', 'diagram']),
  text: z.string(),
})

const folder = z.strictObject({
  ...about,
  kind: z.literal('folder'),
  folder: z
    .string()
    .min(1)
    .refine(
      path => !/^([/\\~]|[A-Za-z]:)/.test(path) && !path.split(/[/\\]/).includes('..'),
      'Name a folder inside the workspace.',
    ),
})

/** Its name is that of its file, so that there is one answer to what `--panel NAME` means. */
export function parsePanel(source: string, name: string, file: string): Panel {
  const data = parseToml(source, file)
  const { kind = 'ai' } = data
  const known = { name, hash: hash('sha256', source) }
  switch (kind) {
    case 'ai':
      return { ...known, ...toAi(read(ai, data, name, file)) }
    case 'folder':
      return { ...known, ...read(folder, data, name, file) }
    case 'text':
    case 'table':
    case 'chart':
    case 'diagram':
      return { ...known, ...read(text, data, name, file) }
    default:
      throw broken(file, `kind: must be one of ${PANEL_KINDS.join(', ')}`)
  }
}

function parseToml(source: string, file: string): Record<string, unknown> {
  try {
    return parse(source)
  } catch (error) {
    throw broken(file, error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))
  }
}

function read<Content extends { readonly name?: string | undefined }>(
  schema: z.ZodType<Content>,
  data: Record<string, unknown>,
  name: string,
  file: string,
): Omit<Content, 'name'> {
  const result = schema.safeParse(data)
  if (!result.success) {
    const [issue] = result.error.issues
    const place = issue?.path.join('.') ?? ''
    const kind =
      place === '' ? `a panel of the kind '${typeof data.kind === 'string' ? data.kind : 'ai'}'` : place
    throw broken(file, `${kind}: ${issue?.message ?? ''}`)
  }
  const { name: said, ...rest } = result.data
  if (said !== undefined && said !== name) throw broken(file, `its name is '${said}', not '${name}'`)
  return rest
}

function toAi(given: Omit<z.output<typeof ai>, 'name'>): Omit<AiPanel, 'name' | 'hash'> {
  const { system, model, temperature, max_tokens, mode, orchestration, limits, tools, ...rest } = given
  const maxTimeMs = limits.max_time === undefined ? undefined : parseDuration(limits.max_time)
  return {
    ...rest,
    tools: Object.entries(tools).map(([tool, { enabled, ...config }]) => {
      parseSettings(tool, config)
      return { tool, enabled, ...(Object.keys(config).length === 0 ? {} : { config }) }
    }),
    ...(orchestration === undefined ? {} : { orchestration }),
    ...(system === undefined ? {} : { system }),
    ...(model === undefined ? {} : { model }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(max_tokens === undefined ? {} : { maxTokens: max_tokens }),
    ...(mode === undefined ? {} : { mode }),
    ...(limits.max_turns === undefined ? {} : { maxTurns: limits.max_turns }),
    ...(maxTimeMs === undefined ? {} : { maxTimeMs }),
    ...(limits.max_cost === undefined ? {} : { maxCostUsd: limits.max_cost }),
    ...(limits.on_limit === undefined ? {} : { onLimit: limits.on_limit }),
  }
}

function broken(file: string, detail: string): ToolError {
  return new ToolError('invalid_input', `The panel ${file} cannot be read: ${detail}`, {
    hint: 'See docs/agents.md',
  })
}

const VARIABLE = /\{\{\s*([\w-]+)\s*\}\}/g

/** Names that a panel wants values for, each once. */
export function variablesOf(panel: Panel): string[] {
  if (panel.kind === 'folder') return []
  const all = [...sourceOf(panel).matchAll(VARIABLE)].map(([, name = '']) => name)
  return [...new Set(all)]
}

function sourceOf(panel: AiPanel | TextPanel): string {
  return panel.kind === 'ai' ? panel.prompt : panel.text
}

/** A text that names a long value many times would otherwise fill the memory. */
const MOST_CHARACTERS = 1_000_000

/** Fills in what the person or the pipeline gave. A variable that is missing is a mistake, not an empty text. */
export function fillPanel(
  panel: AiPanel | TextPanel,
  input: string,
  variables: Readonly<Record<string, string>>,
): string {
  const values: Record<string, string> = { ...variables, input }
  let room = MOST_CHARACTERS
  return sourceOf(panel).replaceAll(VARIABLE, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined || (name === 'input' && value === '')) throw missing(panel, name)
    room -= value.length
    if (room < 0)
      throw new ToolError(
        'invalid_input',
        `The values of the panel '${panel.name}' have more than ${MOST_CHARACTERS} characters together.`,
      )
    return value
  })
}

function missing({ kind, name: panel }: AiPanel | TextPanel, name: string): ToolError {
  const byHand = name === 'input' ? `kogu run --panel ${panel} "…"` : `--var ${name}=…`
  const inPipeline = name === 'input' ? 'a prompt, or a step before it' : `vars = { ${name} = "…" }`
  return new ToolError('invalid_input', `The panel '${panel}' needs '${name}'.`, {
    hint: `Give it: ${kind === 'ai' ? byHand : inPipeline}`,
  })
}
