import { expect, test } from 'vitest'
import type { Judgement, Mode } from '../core/decision.ts'
import type { RuleDefinition } from './rules/rules.ts'
import { createTestEngine, type TestEngine } from './testing.ts'

// Where there are no walls, nothing that was allowed before counts: only a yes for the very call.

const REASON = 'The program bwrap is not installed (package bubblewrap).'

function engineWithout(
  rules: readonly Omit<RuleDefinition, 'origin'>[] = [],
  options: { mode?: Mode; required?: boolean } = {},
): TestEngine {
  const { required = false, ...more } = options
  return createTestEngine(rules, { ...more, noSandbox: () => ({ reason: REASON, required }) })
}

async function judge({ engine, request }: TestEngine, command: string): Promise<Judgement> {
  return engine.judge(request('run_command', { kind: 'execute', command }))
}

test('a rule that allows the line, or the whole tool, does not suffice', async () => {
  for (const rule of [{ command: ['touch', '**'] }, { tool: 'run_command' }, { effects: ['writes-files'] }]) {
    const { decision, preview } = await judge(engineWithout([{ decision: 'allow', ...rule }]), 'touch x')
    expect([rule, decision]).toMatchObject([
      rule,
      {
        outcome: 'ask',
        reason: `Running a command without a sandbox always needs an approval: ${REASON}`,
        notes: [
          expect.stringContaining(`It runs without a sandbox: ${REASON} It can read, change and contact`),
        ],
      },
    ])
    expect([rule, preview?.grants]).toEqual([rule, []])
  }
})

test('a grant that was given behind walls does not suffice', async () => {
  const walled = createTestEngine()
  const call = walled.request('run_command', { kind: 'execute', command: 'touch x' })
  const judgement = await walled.engine.judge(call)
  for (const offer of judgement.preview?.grants ?? []) {
    await walled.engine.settle(call, judgement, { kind: 'permanent', user: 'kim', grant: offer.id })
  }
  expect((await walled.engine.judge(call)).decision.outcome).toBe('allow')
  const open = createTestEngine([], {
    workspace: walled.workspace,
    grants: { list: () => walled.grants, add: async () => {}, remove: async () => false },
    noSandbox: () => ({ reason: REASON, required: false }),
  })
  expect((await open.engine.judge(call)).decision.outcome).toBe('ask')
})

test('a yes for this very call does, and the record says that there were no walls', async () => {
  const { engine, request } = engineWithout()
  const call = request('run_command', { kind: 'execute', command: 'touch x' })
  const settled = await engine.settle(call, await engine.judge(call), { kind: 'once', user: 'kim' })
  expect(settled).toMatchObject({ outcome: 'allow', by: 'user', notes: [expect.stringContaining(REASON)] })
  expect((await engine.judge(call)).decision.outcome).toBe('ask')
})

test('where nobody is asked, it is refused', async () => {
  const rules = [{ decision: 'allow' as const, tool: 'run_command' }]
  for (const mode of ['auto', 'read-only'] as const) {
    expect([mode, (await judge(engineWithout(rules, { mode }), 'touch x')).decision.outcome]).toEqual([
      mode,
      'deny',
    ])
  }
})

test('lines that only read run, and it is said that there are no walls', async () => {
  expect((await judge(engineWithout(), 'ls -l | wc -l')).decision).toMatchObject({
    outcome: 'allow',
    notes: [`It runs without a sandbox: ${REASON}`],
  })
  expect((await judge(engineWithout(), 'grep -r x .')).decision.outcome).toBe('ask')
})

test('a sandbox that is required and missing refuses every command, and nobody can lift it', async () => {
  const engine = engineWithout([{ decision: 'allow', tool: 'run_command' }], { required: true })
  for (const command of ['touch x', 'ls']) {
    const { decision, hard } = await judge(engine, command)
    expect([command, hard, decision.ref?.id]).toEqual([command, true, 'sandbox-required'])
  }
  const { decision } = await engine.engine.judge(
    engine.request('read_file', { kind: 'file_read', path: 'a' }),
  )
  expect(decision.outcome).toBe('allow')
})
