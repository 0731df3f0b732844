import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DynamicTool, NO_CAPABILITIES } from '../dynamic/definition.ts'
import type { DynamicStore } from '../dynamic/store.ts'
import { openDynamicTools } from './dynamic-tools.ts'

let home: string
let folder: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kogu-tools-'))
  folder = join(home, 'project')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** As one more Kogu over the same folders. */
function open(): DynamicStore {
  return openDynamicTools({
    project: folder,
    user: join(home, 'user'),
    ledger: join(home, 'ledger.json'),
    prepare: () => undefined,
  })
}

function tool(digit: string, more: Partial<DynamicTool> = {}): DynamicTool {
  const category = 0.5
  return {
    id: `dt_${digit.repeat(12)}`,
    name: `tool_${digit}`,
    description: 'd',
    mode: 'function',
    parameters: [],
    code: 'function execute() {}',
    script: '() => 1',
    capabilities: NO_CAPABILITIES,
    examples: [],
    safety: {
      score: 1,
      issues: [],
      allowedOperations: [],
      blockedOperations: [],
      isSafe: true,
      confidence: 1,
    },
    quality: {
      score: 1,
      categoryScores: {
        readability: category,
        errorHandling: category,
        documentation: category,
        testability: category,
        performance: category,
        securityAwareness: category,
      },
      issues: [],
      confidence: 1,
    },
    version: 1,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
    createdBy: 'user',
    tags: [],
    previous: [],
    usageCount: 0,
    confidenceScore: 0.5,
    verificationStatus: 'passed',
    runs: [],
    ...more,
  }
}

const RUN = { at: '2026-01-02T00:00:00Z', ok: true, ms: 1 }
const names = (store: DynamicStore): string[] => store.list().map(each => each.tool.name)
const file = (id: string): string => join(folder, `${id}.json`)

test('what another Kogu makes, quarantines and deletes is seen at the next look, and told', async () => {
  const [one, two] = [open(), open()]
  let told = 0
  two.onChange(async () => {
    told += 1
  })
  await one.save(tool('1'))
  expect(names(two)).toEqual(['tool_1'])
  await one.save(tool('1', { quarantined: 'odd' }), { replaces: tool('1').id })
  expect(two.current(tool('1').id)?.tool.quarantined).toBe('odd')
  await one.remove(tool('1').id)
  expect(two.current(tool('1').id)).toBeUndefined()
  expect(told).toBe(3)
})

test('a use that is counted late brings back nothing that another deleted, and loses no count of another', async () => {
  const [one, two] = [open(), open()]
  await one.save(tool('1'))
  await one.save(tool('2'))
  for (const { tool: each } of two.list()) two.recordRun(each.id, RUN)
  one.recordRun(tool('2').id, RUN)
  await one.remove(tool('1').id)
  two.flush()
  one.flush()
  expect(readdirSync(folder)).toEqual([`${tool('2').id}.json`])
  expect([one, two, open()].map(store => store.current(tool('2').id)?.tool.usageCount)).toEqual([2, 2, 2])
})

test.each([
  ['its script', { script: '() => "changed"' }],
  ['what it may reach', { capabilities: { network: ['evil.test'], read: ['**'], tools: ['run_command'] } }],
  ['its quarantine', { quarantined: undefined }],
])('a file in which somebody changes %s is a tool no more, in a Kogu that runs too', async (_, change) => {
  const store = open()
  await store.save(tool('1', { quarantined: 'odd' }))
  store.recordRun(tool('1').id, RUN)
  const stored = JSON.parse(readFileSync(file(tool('1').id), 'utf8'))
  writeFileSync(file(tool('1').id), JSON.stringify({ ...stored, ...change }))
  store.flush()
  expect(store.current(tool('1').id)).toBeUndefined()
  expect(store.problems()).toHaveLength(1)
})

test('a deleted tool does not come back with its file', async () => {
  const store = open()
  await store.save(tool('1'))
  const text = readFileSync(file(tool('1').id))
  await store.remove(tool('1').id)
  writeFileSync(file(tool('1').id), text)
  expect(names(store)).toEqual([])
  expect(names(open())).toEqual([])
})

test('tools that several make at once are all kept', async () => {
  const digits = ['1', '2', '3', '4']
  await Promise.all(digits.map(digit => open().save(tool(digit))))
  expect(names(open())).toEqual(digits.map(digit => `tool_${digit}`))
})

test('a link is not followed, and a pipe not waited for', () => {
  mkdirSync(folder)
  symlinkSync('/dev/zero', file('dt_000000000001'))
  execFileSync('mkfifo', [file('dt_000000000002')])
  mkdirSync(file('dt_000000000003'))
  expect(open().problems()).toHaveLength(3)
})
