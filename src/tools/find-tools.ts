import * as z from 'zod'
import type { Registry } from '../core/registry.ts'
import { type AnyTool, defineTool } from '../core/tool.ts'
import { FIND_TOOLS, summaryOf } from '../core/tool-offer.ts'

const MOST_FOUND = 20

const input = () =>
  z.object({
    query: z.string().min(1).max(500).describe('What you want to do, or names of tools.'),
    limit: z.int().min(1).max(MOST_FOUND).default(5).describe('Maximum number of definitions to return.'),
  })

/** Returns full definitions of tools that a prompt only names. */
export function findToolsTool(registry: Pick<Registry, 'list' | 'settled'>): AnyTool {
  return defineTool({
    name: FIND_TOOLS,
    title: 'Find tools',
    description:
      'Return the full definitions of matching tools: descriptions and parameters. Use it before you call a tool that is ' +
      'listed with only one line; then call that tool by its own name.',
    category: 'ReadOnly',
    risk: 'low',
    input,
    output: {
      tools: { type: 'array', items: { type: 'object' } },
    },
    access: () => [],
    async run({ query, limit }) {
      await registry.settled()
      const words = wordsOf(query)
      const others = registry.list().filter(({ tool }) => tool.name !== FIND_TOOLS)
      const found = others
        .map(entry => ({ ...entry, score: score(entry.tool, words) }))
        .filter(entry => entry.score > 0)
        .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
        .slice(0, limit)
      const tools = found.map(({ tool, provider }) => ({
        name: tool.name,
        provider: provider.id,
        description: tool.description,
        parameters: tool.input.json,
      }))
      const text = tools.map(tool => JSON.stringify(tool)).join('\n')
      return {
        text: text === '' ? nothingFound(others.map(({ tool }) => tool)) : text,
        data: { tools },
        // Descriptions are words of those who offer the tools.
        label: { origin: 'other', trusted: false, source: 'descriptions of tools' },
      }
    },
  })
}

function nothingFound(tools: readonly AnyTool[]): string {
  const names = tools.slice(0, 200).map(tool => `${tool.name}: ${summaryOf(tool)}`)
  return `No tool matches these words. There are:\n${names.join('\n')}`
}

function wordsOf(text: string): string[] {
  return text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word.length > 1)
}

/** A name counts more than a word of the description. */
function score({ name, title, description, input: schema }: AnyTool, words: readonly string[]): number {
  const ofName = new Set(wordsOf(`${name} ${title}`))
  const ofText = new Set(wordsOf(`${description} ${Object.keys(propertiesOf(schema.json)).join(' ')}`))
  return words.reduce((sum, word) => {
    if (name.toLowerCase() === word) return sum + 20
    return sum + (ofName.has(word) ? 5 : ofText.has(word) ? 1 : 0)
  }, 0)
}

function propertiesOf({ properties }: Record<string, unknown>): object {
  return typeof properties === 'object' && properties !== null ? properties : {}
}
