import { describe, expect, test } from 'vitest'
import type { Access } from '../core/access.ts'
import type { Mode, Outcome } from '../core/decision.ts'
import { compileOrdered } from './rules/ordered-rules.ts'
import { compileRule, type Rule, type RuleDefinition } from './rules/rules.ts'
import { createTestEngine } from './testing.ts'

// A file that may only tighten (a project's that nobody trusts, the administrator's): whatever it says, no call gets a
// milder decision with it than without it.

const STRICTNESS: Record<Outcome, number> = { allow: 0, ask: 1, deny: 2 }
const context = { home: '/home/kim', workspace: '/' }
const compile = (definition: Omit<RuleDefinition, 'origin'>, origin: RuleDefinition['origin']): Rule =>
  compileRule({ ...definition, origin }, 0, context, name => name)

const TARGETS: Omit<RuleDefinition, 'origin' | 'decision'>[] = [
  { tool: '*' },
  { tool: 'write_file' },
  { path: ['**'] },
  { tool: 'read_file', path: ['.env'] },
  { command: ['**'] },
  { effects: ['runs-code'] },
  { host: ['*'] },
]
const CALLS: [tool: string, access: Access[]][] = [
  ['read_file', [{ kind: 'file_read', path: 'a.txt' }]],
  ['read_file', [{ kind: 'file_read', path: '.env' }]],
  ['write_file', [{ kind: 'file_write', path: 'a.txt' }]],
  ['run_command', [{ kind: 'execute', command: 'ls' }]],
  ['run_command', [{ kind: 'execute', command: 'node x.js' }]],
  ['http', [{ kind: 'network', url: 'https://example.com/', method: 'POST' }]],
  ['github__create', [{ kind: 'custom', name: 'mcp_call', details: 'x' }]],
  ['other', []],
]
const USER: Rule[][] = [
  [],
  ...(['allow', 'ask', 'deny'] as const).map(decision => [
    compile({ decision, path: ['a.txt'] }, { file: 'user' }),
    compile({ decision, command: ['node', '**'] }, { file: 'user' }),
    compile({ decision, tool: 'other' }, { file: 'user' }),
  ]),
]

describe.each([{ trusted: false }, { trusted: true, layer: 'managed' }])('with a file of %j', origin => {
  const file = { file: 'project', ...origin }
  const projects: Rule[][] = [
    ...TARGETS.flatMap(target =>
      (['ask', 'deny'] as const).flatMap(decision => [
        [compile({ decision, ...target }, file)],
        [compile({ decision, ...target, always: true }, file)],
      ]),
    ),
    ...(['ask', 'deny', 'pass'] as const).map(defaultAction =>
      compileOrdered(
        {
          defaultAction,
          origin: file,
          rules: [
            { tool: '*', pattern: 'a*', action: 'pass', origin: file },
            { tool: 'run_command', pattern: 'node*', action: 'ask', origin: file },
            { tool: '*', pattern: '*.txt', action: 'ask', origin: file },
          ],
        },
        context,
        name => name,
      ),
    ),
  ]

  test.each<[Mode, 'ask' | 'deny']>([
    ['ask', 'ask'],
    ['ask', 'deny'],
    ['accept-edits', 'deny'],
    ['auto', 'ask'],
    ['read-only', 'deny'],
  ])('no decision is milder, in mode %s with default %s', async (mode, fallback) => {
    const milder: unknown[] = []
    for (const user of USER) {
      for (const project of projects) {
        const without = createTestEngine([], { mode, fallback, rules: user })
        const both = createTestEngine([], { mode, fallback, rules: [...user, ...project] })
        for (const [tool, access] of CALLS) {
          const before = (await without.engine.judge(without.request(tool, access))).decision
          const after = (await both.engine.judge(both.request(tool, access))).decision
          if (STRICTNESS[after.outcome] < STRICTNESS[before.outcome])
            milder.push([tool, access, before.ref, after.ref])
        }
      }
    }
    expect(milder).toEqual([])
  })
})

test('a person may still turn the refusal of the default into a question', async () => {
  const rule = compile({ decision: 'ask', tool: 'write_file' }, { file: 'user', trusted: true })
  const box = createTestEngine([], { fallback: 'deny', rules: [rule] })
  const request = box.request('write_file', [])
  expect((await box.engine.judge(request)).decision.outcome).toBe('ask')
})
