import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { canonicalJson } from '../../core/canonical-json.ts'
import { isTooDeep } from '../../core/foreign-schema.ts'
import { escapeControls } from '../../core/visible.ts'

/** A tool as a server defines it: foreign words, kept as they came, because the pin is over them. */
export interface ToolDefinition {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema?: unknown
  readonly outputSchema?: unknown
  readonly annotations?: unknown
}

// One bad tool must not hide the others, so that each is looked at by itself.
const definition = z.looseObject({
  name: z.string().min(1).max(128),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
})

export interface ReadDefinitions {
  readonly tools: readonly ToolDefinition[]
  /** One sentence for each that cannot be used. */
  readonly problems: readonly string[]
}

const MOST_TOOLS = 1000

export function readDefinitions(values: readonly unknown[]): ReadDefinitions {
  const tools = new Map<string, ToolDefinition>()
  const problems: string[] = []
  for (const value of values.slice(0, MOST_TOOLS)) {
    const parsed = definition.safeParse(value)
    if (!parsed.success) {
      problems.push('a tool without a usable name is left out.')
      continue
    }
    const { name, title, description, inputSchema, outputSchema, annotations } = parsed.data
    if (isTooDeep(value)) problems.push(`the tool ${shown(name)} is left out: it is nested too deeply.`)
    else if (tools.has(name)) problems.push(`the tool ${shown(name)} is offered twice; the first counts.`)
    else tools.set(name, { name, title, description, inputSchema, outputSchema, annotations })
  }
  if (values.length > MOST_TOOLS) problems.push(`${values.length - MOST_TOOLS} more tools are left out.`)
  return { tools: [...tools.values()], problems }
}

/** Over everything that a model or a person reads of the tool. */
export function pinOf({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: ToolDefinition): string {
  const all = { name, title, description, inputSchema, outputSchema, annotations }
  return hash('sha256', canonicalJson(all)).slice(0, 32)
}

/** Of a whole list, for the configuration. */
export function listPin(tools: readonly ToolDefinition[]): string {
  return `sha256:${hash('sha256', tools.map(pinOf).sort().join('\n'))}`
}

/** What it costs in a prompt: about four characters each, of what a model gets of it. */
export function definitionTokens({ name, description = '', ...schemas }: ToolDefinition): number {
  const { inputSchema = '', outputSchema = '' } = schemas
  const text = `${name}${description}${JSON.stringify(inputSchema)}${JSON.stringify(outputSchema)}`
  return Math.ceil(text.length / 4)
}

/** What is another now, as words. */
export function changedParts(before: ToolDefinition, now: ToolDefinition): string[] {
  const parts = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const
  return parts.filter(part => !isDeepStrictEqual(before[part], now[part]))
}

const LONGEST_NAME = 64
const KEPT_HASH = 8

/**
 * `server__tool`, always: a name that is only prefixed when two clash could be taken over by whoever comes second. Names
 * that are too long keep their end, which tells them apart, and a hash of the whole.
 */
export function toolName(server: string, tool: string): string {
  const clean = `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  const isChanged = clean !== `${server}__${tool}`
  if (clean.length <= LONGEST_NAME && !isChanged) return clean
  const id = hash('sha256', `${server}__${tool}`).slice(0, KEPT_HASH)
  const room = LONGEST_NAME - server.length - '__'.length - '_'.length - KEPT_HASH
  const tail = clean.slice(server.length + 2).slice(-Math.max(room, 8))
  return `${server}__${tail}_${id}`
}

const LONGEST_DESCRIPTION = 2048

/** Foreign words for a prompt: nothing hidden in them, and not too many. */
export function cleanText(text: string, most = LONGEST_DESCRIPTION): string {
  const visible = escapeControls(text)
  return visible.length <= most ? visible : `${visible.slice(0, most - 1)}…`
}

function shown(name: string): string {
  return JSON.stringify(cleanText(name, 100))
}
