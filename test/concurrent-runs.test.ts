import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Access } from '../src/core/access.ts'
import type { Answer, Approver } from '../src/core/approval.ts'
import type { AuthorityWish } from '../src/core/authority.ts'
import type { CallResult } from '../src/core/call.ts'
import type { OpenRunOptions } from '../src/core/open-runs.ts'
import { localProvider, PRIORITY } from '../src/core/provider.ts'
import { toolNamed } from '../src/core/testing.ts'
import type { AnyTool } from '../src/core/tool.ts'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'

// Runs of one process must not know of each other: each call gets the verdict that it gets when its run is the only
// one. The tools touch nothing, so that only verdicts and answers could leak from one run to another.

const touching = (name: string, access: (text: string) => Access): AnyTool =>
  toolNamed(name, { risk: 'high', access: ({ text }: { text: string }) => [access(text)] })

const TOOLS = [
  touching('read_thing', path => ({ kind: 'file_read', path })),
  touching('write_thing', path => ({ kind: 'file_write', path })),
  touching('delete_thing', path => ({ kind: 'file_delete', path })),
  touching('run_thing', command => ({ kind: 'execute', command })),
  touching('fetch_thing', url => ({ kind: 'network', url })),
]

const file = fc.constantFrom('a.txt', 'doc/a.md', 'doc/secret/a.md', 'src/a.ts', '.env', '/etc/hosts')
const line = fc.constantFrom(
  'ls',
  'cat .env',
  'git status',
  'git commit -m x',
  'git push',
  'npm test',
  'ls; ls',
)
const url = fc.constantFrom('https://a.example.com/', 'https://evil.example/', 'http://10.0.0.8/')
const call = fc.oneof(
  fc.record({ tool: fc.constantFrom('read_thing', 'write_thing', 'delete_thing'), text: file }),
  fc.record({ tool: fc.constant('run_thing'), text: line }),
  fc.record({ tool: fc.constant('fetch_thing'), text: url }),
)

type Reply = 'once' | 'session' | 'deny' | 'expired' | 'unavailable'

const authority: fc.Arbitrary<AuthorityWish> = fc.record(
  {
    agent: fc.constantFrom('writer', 'reader'),
    mode: fc.constantFrom('ask', 'accept-edits', 'read-only', 'auto'),
    writeScope: fc.subarray(['doc', 'src', '.']),
    tools: fc.oneof(fc.constant('all' as const), fc.subarray(TOOLS.map(tool => tool.name))),
    commands: fc.constantFrom({ profile: 'shell' }, { profile: 'restricted', allowed: ['ls', 'npm'] }),
    git: fc.constantFrom('disabled', 'read-only', 'read-write'),
    hosts: fc.oneof(fc.constant('any' as const), fc.constant(['*.example.com'])),
  },
  { requiredKeys: ['tools'] },
)

const scenario = fc.record({
  authority,
  calls: fc.array(call, { minLength: 3, maxLength: 8 }),
  replies: fc.array(fc.constantFrom<Reply>('once', 'session', 'deny', 'expired', 'unavailable'), {
    minLength: 8,
    maxLength: 8,
  }),
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

const rule = fc.record({
  decision: fc.constantFrom('allow', 'ask', 'deny'),
  condition: fc.constantFrom(
    'tool = "write_file"\npath = ["doc/**"]',
    'tool = "write_file"\npath = ["src/**"]',
    'tool = "read_file"\npath = ["doc/secret/**"]',
    'tool = "run_command"\ncommand = ["npm", "**"]',
    'tool = "run_command"\ncommand = ["git", "**"]',
    'tool = "http"\nhost = ["a.example.com"]',
    'tool = "delete_thing"',
  ),
  only: fc.constantFrom('', 'agents = ["writer"]', 'modes = ["accept-edits", "auto"]'),
})

type Rule = typeof rule extends fc.Arbitrary<infer T> ? T : never

test('fifty runs at once get the verdicts that each of them gets alone, and no answer reaches another run', async () => {
  const [rules = []] = fc.sample(fc.array(rule, { minLength: 6, maxLength: 6 }), 1)
  const scenarios = fc.sample(scenario, 50)
  const together = await openBox(rules)
  const alone = await openBox(rules)
  try {
    const found = await Promise.all(scenarios.map((each, index) => play(together, each, index)))
    const expected: unknown[] = []
    for (const [index, each] of scenarios.entries()) expected.push(await play(alone, each, index))
    expect(found).toEqual(expected)
    // All kinds of outcome are among them, or this would show nothing.
    const outcomes = new Set(found.flat().map(({ decision, error }) => `${decision.by} ${error}`))
    expect(outcomes.size).toBeGreaterThan(8)
  } finally {
    await together.close()
    await alone.close()
  }
})

async function openBox(rules: readonly Rule[]): Promise<TestRuntime> {
  const config = rules
    .map(
      ({ decision, condition, only }) =>
        `[[permissions.rules]]\ndecision = "${decision}"\n${condition}\n${only}`,
    )
    .join('\n')
  const box = await openTestRuntime(config)
  await box.runtime.registry.add(localProvider('things', 'Things', PRIORITY.custom, TOOLS))
  return box
}

async function play({ runtime, workspace }: TestRuntime, { calls, ...scenario }: Scenario, index: number) {
  const options: OpenRunOptions = { authority: scenario.authority, approver: replying(scenario, index) }
  const run = await runtime.openRun(options)
  const results = []
  for (const { tool, text } of calls) {
    if (index % 3 === 0) await setImmediate()
    const result = await runtime.call({ tool, input: { text }, run: run.id })
    if (result.decision.user !== undefined) expect(result.decision.user).toBe(`user of ${index}`)
    results.push(comparable(result, workspace, run.id))
  }
  await runtime.closeRun(run.id)
  return results
}

/** Answers as the scenario says, in its own time; a question of another run fails the test. */
function replying({ replies }: Pick<Scenario, 'replies'>, index: number): Approver {
  const user = `user of ${index}`
  const runs = new Set<string>()
  let next = 0
  return {
    async ask({ runId, offers }): Promise<Answer> {
      runs.add(runId)
      if (runs.size > 1) throw new Error('A question of another run.')
      const kind = replies[next++ % replies.length] ?? 'deny'
      for (let turn = 0; turn < index % 5; turn++) await setImmediate()
      if (kind === 'unavailable') return { kind, reason: 'nobody is there' }
      if (kind === 'expired') return { kind }
      const grant = offers.at(-1)?.id
      return kind === 'session' && grant !== undefined
        ? { kind, user, grant }
        : { kind: kind === 'deny' ? kind : 'once', user }
    },
  }
}

/** Without what differs between two runtimes for good reason: ids, times and folders. */
function comparable({ ok, decision, error, risk }: CallResult, workspace: string, run: string) {
  const plain = (text: string): string =>
    text
      .replaceAll(workspace, '‹workspace›')
      .replaceAll(run, '‹run›')
      .replaceAll(/g-[0-9a-f]{8}/g, '‹grant›')
  const { ref } = decision
  return {
    ok,
    risk,
    error: error?.code,
    message: plain(error?.message ?? ''),
    decision: {
      outcome: decision.outcome,
      by: decision.by,
      user: decision.user,
      reason: plain(decision.reason),
      ref: ref === null ? null : plain(ref.id),
    },
  }
}
