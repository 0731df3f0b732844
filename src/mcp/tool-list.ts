import type { Entry, Registry } from '../core/registry.ts'
import type { JsonSchema } from '../core/schema.ts'
import type { AnyTool } from '../core/tool.ts'
import { briefDefinition, offerTools, type ToolOffer } from '../core/tool-offer.ts'
import type { DoorParts } from './door-parts.ts'

/** A tool as `tools/list` shows it. */
export interface ListedTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema & { readonly type: 'object' }
  readonly outputSchema?: JsonSchema & { readonly type: 'object' }
  readonly annotations: {
    readonly title: string
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
  readonly [key: string]: unknown
}

/** Which names tools are offered under. `claude`: those that Claude Code gives its own tools, where a tool has one. */
export type NameSet = 'kogu' | 'claude'

/** What `tools/list` answers. */
export async function offeredTools({ runtime, names, budget }: DoorParts): Promise<ListedTool[]> {
  await runtime.registry.settled()
  const enabled = runtime.registry.list().filter(runtime.isEnabled)
  return listTools(offerTools(enabled, budget), names)
}

/** Always in the same order: clients keep the list in their prompt cache. */
function listTools({ full, brief }: ToolOffer, names: NameSet): ListedTool[] {
  const all = [...full.map(entry => toListed(entry, names)), ...brief.map(entry => toBrief(entry, names))]
  return all.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The entry that a client means by a listed name, or by any other name of the tool. */
export function findTool(registry: Registry, name: string): Entry | undefined {
  return registry.candidates(name)[0]
}

/** The list itself says nothing about an input that is not an object; a client that checks would drop all tools. */
function toListed(entry: Entry, names: NameSet): ListedTool {
  const { tool } = entry
  const output = tool.output?.json
  return {
    name: nameOf(tool, names),
    title: tool.title,
    description: tool.description,
    inputSchema: { ...tool.input.json, type: 'object' },
    ...(output?.type === 'object' ? { outputSchema: { ...output, type: 'object' as const } } : {}),
    annotations: annotationsOf(entry),
  }
}

function toBrief(entry: Entry, names: NameSet): ListedTool {
  return {
    name: nameOf(entry.tool, names),
    title: entry.tool.title,
    description: briefDefinition(entry.tool),
    inputSchema: { type: 'object' },
    annotations: annotationsOf(entry),
  }
}

function nameOf({ name, aliases }: AnyTool, names: NameSet): string {
  if (names === 'kogu') return name
  return aliases.find(alias => /^[A-Z][A-Za-z]*$/.test(alias)) ?? name
}

/** All four, because what is left out counts as the worst. What changes anything can overwrite, delete or execute. */
function annotationsOf({ tool, risk }: Entry): ListedTool['annotations'] {
  const isHarmless = risk === 'low'
  return {
    title: tool.title,
    readOnlyHint: isHarmless,
    destructiveHint: !isHarmless,
    idempotentHint: isHarmless,
    openWorldHint: reachesOut(tool),
  }
}

/** Whether it can touch anything beyond the workspace: another machine, or whatever a command does. */
function reachesOut({ name, category, isPartOfKogu }: AnyTool): boolean {
  return isPartOfKogu !== true || category === 'Execution' || name.startsWith('web_')
}
