import type { Entry } from './registry.ts'
import type { AnyTool } from './tool.ts'

/** The tool that returns the definitions of the others. */
export const FIND_TOOLS = 'find_tools'

export interface ToolOffer {
  /** Offered with everything a model has to know. */
  readonly full: readonly Entry[]
  /** Offered by name and one line; `find_tools` has the rest. */
  readonly brief: readonly Entry[]
}

/**
 * What of the tools goes into a prompt. Two hundred tools cost a hundred thousand tokens, most of them for schemas that
 * are never used. Beyond the budget, tools that are not part of Kogu are offered briefly, the most expensive provider
 * first, and `find_tools` is offered with them.
 */
export function offerTools(entries: readonly Entry[], budget: number): ToolOffer {
  const others = entries.filter(({ tool }) => tool.name !== FIND_TOOLS)
  const finder = entries.filter(({ tool }) => tool.name === FIND_TOOLS)
  const costs = new Map<string, number>()
  for (const { tool, provider } of others) {
    if (tool.isPartOfKogu !== true) costs.set(provider.id, (costs.get(provider.id) ?? 0) + tokensOf(tool))
  }
  let total = others.reduce((sum, { tool }) => sum + tokensOf(tool), 0)
  const shortened = new Set<string>()
  for (const [id, cost] of [...costs].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))) {
    if (total <= budget) break
    shortened.add(id)
    total -= cost
  }
  const isBrief = ({ provider, tool }: Entry): boolean =>
    shortened.has(provider.id) && tool.isPartOfKogu !== true
  const brief = others.filter(isBrief)
  const full = others.filter(entry => !isBrief(entry))
  return { full: brief.length === 0 ? full : [...full, ...finder], brief }
}

/** About four characters each. */
export function tokensOf({ name, description, input, output }: AnyTool): number {
  const text = `${name}${description}${JSON.stringify(input.json)}${JSON.stringify(output?.json ?? '')}`
  return Math.ceil(text.length / 4)
}

const LONGEST_SUMMARY = 120

/** The first sentence of a description, and where the rest is. */
export function briefDefinition(tool: AnyTool): string {
  return `${summaryOf(tool)} (Call ${FIND_TOOLS} for its parameters.)`
}

export function summaryOf({ description, title }: AnyTool): string {
  const [first = ''] = description.trim().split(/(?<=[.!?])\s|\n/)
  const line = first === '' ? title : first
  return line.length > LONGEST_SUMMARY ? `${line.slice(0, LONGEST_SUMMARY - 1)}…` : line
}
