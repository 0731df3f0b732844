import { hash } from 'node:crypto'
import { parse } from 'smol-toml'
import * as z from 'zod'
import { ToolError } from '../core/errors.ts'
import { parseSettings, type ToolSetting } from './agent-authority.ts'
import type { Orchestration } from './run-record.ts'

/** `.kogu/panels/NAME.toml`: one prompt with a model and a set of tools. The file is the source of an agent. */
export interface Panel {
  readonly name: string
  readonly description: string
  /** The agent's own prompt. */
  readonly system?: string
  /** What the person says, with `{{input}}` and `{{variable}}`. */
  readonly prompt: string
  readonly model?: string
  readonly temperature?: number
  readonly maxTokens?: number
  readonly mode?: 'ask' | 'accept-edits' | 'read-only' | 'auto'
  readonly maxTurns?: number
  readonly maxCostUsd?: number
  readonly orchestration?: 'none' | Orchestration
  readonly tools: readonly ToolSetting[]
  /** Of the whole text: trust is bound to it. */
  readonly hash: string
}

const schema = z.strictObject({
  name: z.string().optional(),
  description: z.string().default(''),
  system: z.string().optional(),
  prompt: z.string().default('{{input}}'),
  model: z.string().optional(),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().min(1).optional(),
  mode: z.enum(['ask', 'accept-edits', 'read-only', 'auto']).optional(),
  orchestration: z.enum(['none', 'automatic', 'approval']).optional(),
  limits: z
    .strictObject({ max_turns: z.int().min(1).optional(), max_cost: z.number().min(0).optional() })
    .default({}),
  tools: z.record(z.string(), z.looseObject({ enabled: z.boolean().default(true) })).default({}),
})

/** Its name is that of its file, so that there is one answer to what `--panel NAME` means. */
export function parsePanel(text: string, name: string, file: string): Panel {
  let data: unknown
  try {
    data = parse(text)
  } catch (error) {
    throw broken(file, error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))
  }
  const result = schema.safeParse(data)
  if (!result.success) {
    const [issue] = result.error.issues
    throw broken(file, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`)
  }
  const { system, model, temperature, max_tokens, mode, limits, tools, ...rest } = result.data
  if (rest.name !== undefined && rest.name !== name)
    throw broken(file, `its name is '${rest.name}', not '${name}'`)
  return {
    name,
    description: rest.description,
    prompt: rest.prompt,
    tools: Object.entries(tools).map(([tool, { enabled, ...config }]) => {
      parseSettings(tool, config)
      return { tool, enabled, ...(Object.keys(config).length === 0 ? {} : { config }) }
    }),
    hash: hash('sha256', text),
    ...(rest.orchestration === undefined ? {} : { orchestration: rest.orchestration }),
    ...(system === undefined ? {} : { system }),
    ...(model === undefined ? {} : { model }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(max_tokens === undefined ? {} : { maxTokens: max_tokens }),
    ...(mode === undefined ? {} : { mode }),
    ...(limits.max_turns === undefined ? {} : { maxTurns: limits.max_turns }),
    ...(limits.max_cost === undefined ? {} : { maxCostUsd: limits.max_cost }),
  }
}

function broken(file: string, detail: string): ToolError {
  return new ToolError('invalid_input', `The panel ${file} cannot be read: ${detail}`, {
    hint: 'See docs/agents.md',
  })
}

/** Fills in what the person gave. A variable that is missing is a mistake, not an empty text. */
export function fillPrompt(panel: Panel, input: string, variables: Readonly<Record<string, string>>): string {
  const values: Record<string, string> = { ...variables, input }
  return panel.prompt.replaceAll(/\{\{\s*([\w-]+)\s*\}\}/g, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined || (name === 'input' && value === '')) {
      const how = name === 'input' ? `kogu run --panel ${panel.name} "…"` : `--var ${name}=…`
      throw new ToolError('invalid_input', `The panel '${panel.name}' needs '${name}'.`, {
        hint: `Give it: ${how}`,
      })
    }
    return value
  })
}
