import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

// What a person sees of reviewers.

let machine: Sandboxed
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(() => {
  machine = createSandboxed()
  machine.env.DATABASE_URL = database.url
})
afterEach(() => machine.remove())

function reviewers(answers: Record<string, 'approve' | 'reject'>, quorum = ''): void {
  const named = Object.entries(answers).map(([name, verdict]) => {
    const file = join(machine.home, `${name}.toml`)
    writeFileSync(file, `[[answer]]\ntext = '{"verdict":"${verdict}","reasoning":"says ${name}"}'\n`)
    return `[reviewers.${name}]\nmodel = "rehearsal:${file}"\n`
  })
  machine.configure(`[quorum]\n${quorum}\n${named.join('')}`)
}

const write = (path: string) =>
  machine.json(['call', 'write_file', JSON.stringify({ path, content: 'x' }), '--mode', 'accept-edits'])

test('verdicts are listed with the votes against them, and measured by what was taken back', () => {
  reviewers({ careless: 'approve', sure: 'approve', careful: 'reject' })
  expect(machine.run(['review', 'stats']).stderr).toContain('Nothing was reviewed yet')
  const undone = write('a.txt')
  write('b.txt')
  machine.run(['undo', undone.call, '--yes'])
  const { stdout } = machine.run(['review', 'list'])
  expect(stdout).toContain('[●●○]  write_file passed')
  expect(stdout).toContain('careful: reject. says careful')
  expect(stdout).not.toContain('says careless')
  const { reviewers: stats } = machine.json(['review', 'stats'])
  const shares = (name: string) => stats.find(({ reviewer }: { reviewer: string }) => reviewer === name)
  expect(shares('careless')).toMatchObject({ approvals: 2, approval_precision: 0.5 })
  expect(shares('careful')).toMatchObject({ rejections: 2, rejection_precision: 0.5 })
})

test('settings that do not go together are named, and an error stops every command', () => {
  reviewers({ a: 'approve', b: 'approve' }, 'strategy = "debate"')
  const checked = machine.run(['review', 'check'])
  expect([checked.code, checked.stderr]).toEqual([3, expect.stringContaining('error: quorum.strategy')])
  expect(write('a.txt').error.message).toContain('A debate needs several planners')
  reviewers({ a: 'approve', b: 'approve' }, 'level = "ensemble"\nscope = "fast"')
  const warned = machine.run(['review', 'check'])
  expect([warned.code, warned.stderr]).toEqual([0, expect.stringContaining('warning: quorum.scope')])
})

test('[defaults] orchestration holds for kogu run, and without it there is none', () => {
  machine.write(
    'play.toml',
    '[[answer]]\n[[answer.call]]\ntool = "read_file"\ninput = { path = "play.toml" }\n[[answer]]\ntext = "read"\n',
  )
  const run = ['run', 'Look', '--model', 'rehearsal:play.toml']
  expect(machine.run(run).code).toBe(0)
  machine.configure('[defaults]\norchestration = "approval"\n')
  const waiting = machine.run(run)
  expect([waiting.code, waiting.stderr]).toEqual([7, expect.stringContaining('The plan:')])
  const [, id = ''] = /runs approve (\S+),/.exec(waiting.stderr) ?? []
  expect(machine.run(['runs', 'show', id]).stdout).toContain('plan   read_file play.toml')
  expect(machine.run([...run, '--orchestration', 'none']).code).toBe(0)
})

test('where the configuration says so, a quorum answers what the rules ask; a rejection leaves it to the person', () => {
  reviewers({ a: 'approve', b: 'approve' }, 'approves = true')
  const ask = (path: string) => machine.json(['call', 'write_file', JSON.stringify({ path, content: 'x' })])
  expect(ask('a.txt')).toMatchObject({ ok: true, decision: { by: 'user' } })
  // Voted on once: as an answer, and not a second time as a review.
  expect(machine.json(['review', 'list']).verdicts).toMatchObject([{ display: '[●●]', passed: true }])
  const rules = '[[permissions.rules]]\nid = "no"\ndecision = "deny"\ntool = "write_file"\npath = ["b.txt"]\n'
  machine.configure(
    `${rules}[quorum]\napproves = true\nmin_models = 1\n[reviewers.a]\nmodel = "rehearsal:${join(machine.home, 'a.toml')}"\n`,
  )
  expect(ask('b.txt')).toMatchObject({ ok: false, decision: { by: 'rule' } })
  reviewers({ a: 'reject', b: 'reject' }, 'approves = true')
  expect(ask('c.txt')).toMatchObject({ ok: false, error: { code: 'needs_approval' } })
})

test('settings that do not go together are named wherever the configuration is checked', () => {
  reviewers({ a: 'approve', b: 'approve' }, 'level = "ensemble"\nscope = "fast"')
  const said = 'the ensemble has nothing to do'
  const { ok, warnings } = machine.json(['config', 'validate'])
  expect([ok, JSON.stringify(warnings)]).toEqual([true, expect.stringContaining(said)])
  expect(JSON.stringify(machine.json(['doctor']))).toContain(said)
  expect(machine.run(['review', 'check']).stderr).toContain(said)
  reviewers({ a: 'approve', b: 'approve' }, 'strategy = "debate"')
  expect(machine.run(['config', 'validate']).code).toBe(3)
})
