import { expect, test } from 'vitest'
import * as z from 'zod'
import { localProvider } from '../core/provider.ts'
import { Registry } from '../core/registry.ts'
import { fromZod } from '../core/schema.ts'
import { toolNamed } from '../core/testing.ts'
import { offerTools, tokensOf } from '../core/tool-offer.ts'
import { findToolsTool } from './find-tools.ts'
import { createToolBench } from './testing.ts'

const foreign = (name: string, description: string) =>
  toolNamed(name, {
    description,
    input: fromZod(() => z.object({ repository: z.string().describe('x'.repeat(2000)) })),
  })
const issues = foreign('github__create_issue', 'Open an issue in a repository. Labels are optional.')
const pages = foreign('notion__search', 'Search pages.')

async function createRegistry(): Promise<Registry> {
  const registry = new Registry()
  const own = { ...toolNamed('read_file', { description: 'Read a file.' }), isPartOfKogu: true as const }
  await registry.add(
    localProvider('builtin', 'B', -100, [own, { ...findToolsTool(registry), isPartOfKogu: true as const }]),
  )
  await registry.add(localProvider('mcp:github', 'GitHub', 100, [issues]))
  await registry.add(localProvider('mcp:notion', 'Notion', 100, [pages]))
  return registry
}
const names = (entries: readonly { tool: { name: string } }[]) => entries.map(({ tool }) => tool.name)

test('within the budget every tool is offered in full, and nothing has to be found', async () => {
  const { full, brief } = offerTools((await createRegistry()).list(), 100_000)
  expect(names(full)).toEqual(['github__create_issue', 'notion__search', 'read_file'])
  expect(brief).toEqual([])
})

test('beyond it the most expensive providers are offered briefly, and our own tools never', async () => {
  const entries = (await createRegistry()).list()
  const some = offerTools(entries, tokensOf(pages) + 500)
  expect(names(some.brief)).toEqual(['github__create_issue'])
  expect(names(some.full)).toEqual(['notion__search', 'read_file', 'find_tools'])
  expect(names(offerTools(entries, 0).brief)).toEqual(['github__create_issue', 'notion__search'])
})

test('definitions are found by words and names, and there is always something to go on with', async () => {
  const bench = createToolBench()
  const tool = findToolsTool(await createRegistry())
  const found = await bench.call(tool, { query: 'create an issue' })
  expect(found.data.tools[0]).toMatchObject({
    name: 'github__create_issue',
    provider: 'mcp:github',
    parameters: { properties: { repository: {} } },
  })
  expect((await bench.call(tool, { query: 'github__create_issue' })).data.tools[0].name).toBe(issues.name)
  expect((await bench.call(tool, { query: 'zebra' })).text).toContain('notion__search: Search pages.')
  await bench.close()
})
