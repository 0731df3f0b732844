import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTestDatabase } from './support/database.ts'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'
import { folderOutsideTmp } from './support/outside-tmp.ts'

// Reviewers of the configuration, as a user sets them up: rehearsal models and a program.

let machine: Sandboxed
let programs: string
beforeEach(() => {
  machine = createSandboxed()
  programs = mkdtempSync(join(folderOutsideTmp(), 'reviewers-'))
})
afterEach(() => {
  machine.remove()
  rmSync(programs, { recursive: true })
})

const ANSWERS = {
  yes: '{"verdict":"approve","reasoning":"part of the task"}',
  no: '{"verdict":"reject","reasoning":"it overwrites a file"}',
  nonsense: '{"verdict":"maybe"}',
}

function reviewers(...answers: (keyof typeof ANSWERS)[]): string {
  return answers
    .map((answer, index) => {
      const file = join(machine.home, `${answer}.toml`)
      writeFileSync(file, `[[answer]]\ntext = '${ANSWERS[answer]}'\n`)
      return `[reviewers.r${index}]\nmodel = "rehearsal:${file}"\n`
    })
    .join('\n')
}

function configure(...parts: string[]): void {
  mkdirSync(join(machine.home, 'config', 'kogu'), { recursive: true })
  writeFileSync(join(machine.home, 'config', 'kogu', 'config.toml'), parts.join('\n'))
}

const write = (...flags: string[]) =>
  machine.json(['call', 'write_file', '{"path":"a.txt","content":"x"}', '--mode', 'accept-edits', ...flags])

test('a majority lets a call of high risk through that the mode allowed', () => {
  configure(reviewers('yes', 'yes', 'no'))
  expect(write()).toMatchObject({ ok: true })
  const [note] = machine.json(['audit', 'list', '--text', 'quorum-review'])
  expect(note.details).toMatchObject({ passed: true, display: '[●●○]', tool: 'write_file' })
})

test('a rejection is an error with the reasons, and nothing happens', () => {
  configure(reviewers('yes', 'no', 'no'))
  const result = write()
  expect(result).toMatchObject({ ok: false, error: { code: 'denied' }, decision: { by: 'reviewers' } })
  expect(result.error.message).toContain('Action rejected by quorum review [●○○]')
  expect(result.error.message).toContain('r1: it overwrites a file')
  expect(() => machine.read('a.txt')).toThrow()
})

test('a call of low risk is not reviewed', () => {
  configure(reviewers('no', 'no'))
  machine.write('b.txt', 'hello')
  expect(machine.json(['call', 'read_file', '{"path":"b.txt"}'])).toMatchObject({ ok: true })
})

test('answers that cannot be read do not count, and with too few votes a person has to decide', () => {
  configure(reviewers('yes', 'nonsense'))
  expect(write()).toMatchObject({ ok: false, error: { code: 'needs_approval' } })
  expect(write('--yes-once')).toMatchObject({ ok: true })
})

test('without a person too few votes are a refusal, where the configuration says so', () => {
  configure(reviewers('yes', 'nonsense'), '[quorum]\nhil = "auto_reject"')
  expect(write()).toMatchObject({ error: { code: 'denied' } })
})

test('reviewers cannot allow what a hard limit forbids, nor what a rule denies', () => {
  configure(
    reviewers('yes', 'yes'),
    '[[permissions.rules]]\nid = "no-a"\ndecision = "deny"\ntool = "write_file"\npath = ["a.txt"]',
  )
  expect(write()).toMatchObject({ error: { code: 'denied' }, decision: { by: 'rule' } })
  const forbidden = machine.json([
    'call',
    'write_file',
    '{"path":".git/config","content":"x"}',
    '--mode',
    'accept-edits',
  ])
  expect(forbidden).toMatchObject({ error: { code: 'forbidden' } })
})

test('a tool that its own configuration calls high risk is reviewed, also where its line only reads', () => {
  const tool = (name: string, risk: string) =>
    `[tools.custom.${name}]\ndescription = "Counts"\ncommand = "wc -l b.txt"\nrisk_level = "${risk}"\n`
  configure(reviewers('no', 'no'), tool('count_high', 'high'), tool('count_low', 'low'))
  machine.write('b.txt', 'hello\n')
  expect(machine.json(['call', 'count_high', '{}'])).toMatchObject({
    ...{ ok: false, risk: 'high', error: { code: 'denied' }, decision: { by: 'reviewers' } },
  })
  expect(machine.json(['call', 'count_low', '{}'])).toMatchObject({ ok: true, risk: 'low' })
})

test('a contained command that was rejected has not been kept, and a reviewer that failed has not voted', () => {
  const broken = '[reviewers.broken]\nkind = "command"\ncommand = ["/nonexistent/bot"]\n'
  configure(reviewers('no', 'no'), broken, '[reviewers]\non_error = "deny"')
  const call = machine.json([
    ...['call', 'run_command', '{"command":"node -e 0; echo x > made.txt"}', '--mode', 'accept-edits'],
  ])
  expect(() => machine.read('made.txt')).toThrow()
  expect(machine.json(['review', 'list']).verdicts).toMatchObject([
    { call: call.call, passed: false, display: '[○○!]', votes: [{}, {}, { verdict: 'error' }] },
  ])
  expect(machine.json(['review', 'stats']).reviewers).toMatchObject([
    { reviewer: 'broken', rejections: 0, without_vote: 1 },
    { reviewer: 'r0', rejections: 1, rejection_precision: null },
    { reviewer: 'r1', rejections: 1, rejection_precision: null },
  ])
})

test('a program reviews with JSON in and out, and not from where agents write', () => {
  const program = join(programs, 'policy-bot')
  const text = `#!/bin/sh\ngrep -q '"tool":{"name":"write_file"' && echo '{"verdict":"reject","reasoning":"policy"}'\n`
  writeFileSync(program, text)
  chmodSync(program, 0o755)
  const bot = (path: string) =>
    `[reviewers.bot]\nkind = "command"\ncommand = ["${path}"]\n[quorum]\nmin_models = 1\n`
  configure(bot(program))
  expect(write().error.message).toContain('bot: policy')
  configure(bot(machine.write('bot', text)), '[reviewers]\non_error = "deny"')
  expect(write().error.message).toContain('where an agent can write')
})

test('a quorum that could never pass is an error of the configuration', () => {
  configure(reviewers('yes'))
  const { code, stderr } = machine.run(['call', 'read_file', '{"path":"a"}'])
  expect([code, stderr]).toEqual([3, expect.stringContaining('min_models = 2, but only 1')])
})

test('no quorum opens the gate of a pipeline', async () => {
  const database = await createTestDatabase()
  try {
    machine.env.DATABASE_URL = database.url
    configure(reviewers('yes', 'yes'), '[quorum]\napproves = true')
    const step = '[[step]]\nid = "write"\ntool = "write_file"\nargs = { path = "a.txt", content = "x" }\n'
    const made = (name: string, more: string): void => {
      machine.write(`.kogu/pipelines/${name}.toml`, `name = "${name}"\n${step}${more}`)
      machine.run(['pipeline', 'trust', name])
    }
    // Without a gate they answer what the rules ask about.
    made('open', '')
    expect(machine.json(['pipeline', 'run', 'open']).status).toBe('completed')
    made('gated', 'gate = "approval"\n')
    expect(machine.json(['pipeline', 'run', 'gated']).status).toBe('waiting')
    expect(machine.json(['approvals', 'list'])).toMatchObject([{ decision: { by: 'gate' } }])
  } finally {
    await database.close()
  }
})
