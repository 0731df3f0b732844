import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createSandboxed, PROGRAM, type Sandboxed } from '../support/kogu.ts'

// A run whose self_eval asks about each of its checks, answered from other processes, and killed with SIGKILL while it goes
// on: every check has its effect once, or is said to be unknown, and no other one is made again.

const CHECKS = ['build', 'lint']
let database: TestDatabase
let home: Sandboxed

beforeAll(async () => {
  database = await createTestDatabase()
  home = createSandboxed()
  home.env.DATABASE_URL = database.url
  home.configure('[[permissions.rules]]\nid = "make"\ndecision = "ask"\ncommand = ["make", "**"]\n')
  home.write(
    'eval.toml',
    '[[answer]]\n[[answer.call]]\ntool = "self_eval"\ninput = {}\n[[answer]]\ntext = "{{last.text}}"\n',
  )
})
afterAll(async () => {
  home.remove()
  await database.close()
})

const linesOf = (name: string): string[] => {
  const path = join(home.workspace, `${name}.log`)
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
}
const openQuestions = (): { id: string; answer: unknown; within: { tool: string }[] }[] =>
  home.json(['approvals', 'list']).filter(({ answer }: { answer: unknown }) => answer === null)

/** Goes on with the run, and kills that as soon as this holds. Says whether it did. */
function resume(id: string, isTime: () => boolean): Promise<boolean> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [PROGRAM, 'runs', 'resume', id, '--json'], {
      ...{ cwd: home.workspace, env: home.env, stdio: ['ignore', 'ignore', 'ignore'] as const },
    })
    const timer = setInterval(() => {
      if (isTime()) child.kill('SIGKILL')
    }, 1)
    child.on('close', code => {
      clearInterval(timer)
      resolve(code === null)
    })
  })
}

const isAnswerUsed = (): boolean =>
  !readdirSync(join(home.workspace, '.kogu', 'approvals')).some(name => name.endsWith('.json'))

test.each([
  ['the-answer-is-used', isAnswerUsed],
  ['one-check-is-done', (log: string) => linesOf(log).length === 1],
])(
  'a run that is killed when %s does nothing twice',
  async (log, isTime) => {
    home.write('Makefile', CHECKS.map(check => `${check}:\n\t@echo ${check} >> ${log}.log\n`).join(''))
    const { id, ...begun } = home.json(['run', 'Check it', '--model', 'rehearsal:eval.toml'])
    expect(begun).toMatchObject({ status: 'pending', stop_reason: 'awaiting_approval' })
    expect(home.run(['approvals', 'list']).stdout).toContain('self_eval › run_command')
    let kills = 0
    let asked = 0
    let shown = home.json(['runs', 'show', id])
    while (shown.status === 'pending' && asked <= CHECKS.length + 1) {
      const [question] = openQuestions()
      if (question !== undefined) {
        asked += 1
        expect(home.run(['approvals', 'approve', question.id]).code).toBe(0)
      }
      if (await resume(id, () => kills === 0 && isTime(log))) kills += 1
      shown = home.json(['runs', 'show', id])
      // A run whose process was killed is taken over by the next one.
      if (shown.status === 'running') shown = { ...shown, status: 'pending' }
    }
    expect([kills, shown.status]).toEqual([1, 'completed'])
    const lines = linesOf(log)
    expect(new Set(lines).size, lines.join()).toBe(lines.length)
    // What was cut off in the middle is said to be unknown, and only then are there fewer. An answer may be lost with its process.
    if (!String(shown.text).includes('it was not repeated')) {
      expect(lines).toEqual(CHECKS)
      expect(shown.text).toMatch(/build: passed[\s\S]*lint: passed/)
    }
  },
  120_000,
)
