import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createSandboxed, PROGRAM, type Sandboxed } from '../support/kogu.ts'

// Runs with side effects, killed with SIGKILL at many points and resumed: each effect happens once, or is shown as unknown.
// Many more kills are in the bench.

const LINES = 10
const KILLS = 6
let database: TestDatabase
let home: Sandboxed

beforeAll(async () => {
  database = await createTestDatabase()
  home = createSandboxed()
  home.env.DATABASE_URL = database.url
  home.write(
    '../config/kogu/config.toml',
    '[[permissions.rules]]\nid = "log"\ndecision = "allow"\ntool = "write_file"\npath = ["log.txt"]\n',
  )
  const answers = Array.from({ length: LINES }, (_, index) =>
    [
      '[[answer]]',
      'delay_ms = 15',
      '[[answer.call]]',
      'tool = "write_file"',
      `input = { path = "log.txt", content = "line ${index + 1}\\n", mode = "append" }`,
    ].join('\n'),
  )
  home.write('append.toml', `${answers.join('\n')}\n[[answer]]\ntext = "done"\n`)
})
afterAll(async () => {
  home.remove()
  await database.close()
})

/** Kills it once this many calls have ended; zero: lets it end. */
function start(args: readonly string[], killAfter: number): Promise<{ id: string; finished: boolean }> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [PROGRAM, ...args, '--ndjson'], {
      cwd: home.workspace,
      env: home.env,
    })
    let id = ''
    let calls = 0
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk: string) => {
      for (const line of chunk.split('\n').filter(text => text !== '')) {
        id = /"run":"([^"]+)"/.exec(line)?.[1] ?? id
        if (line.includes('"type":"call.proposed"')) calls += 1
        if (killAfter > 0 && calls >= killAfter) child.kill('SIGKILL')
      }
    })
    child.on('close', code => resolve({ id, finished: code === 0 }))
    child.stdin.end()
  })
}

describe('a run that is killed', () => {
  test('goes on where it was, and nothing is done twice', async () => {
    let state = await start(['run', 'append', '--model', 'rehearsal:append.toml'], 2)
    const { id } = state
    for (let kill = 1; !state.finished && kill < KILLS; kill += 1) {
      state = await start(['runs', 'resume', id], (kill % 3) + 1)
    }
    if (!state.finished) state = await start(['runs', 'resume', id], 0)
    expect(state.finished).toBe(true)
    const shown = home.json(['runs', 'show', id])
    expect(shown.status).toBe('completed')
    const lines = readFileSync(join(home.workspace, 'log.txt'), 'utf8').trimEnd().split('\n')
    expect(new Set(lines).size).toBe(lines.length)
    const unknown = shown.calls.filter((call: { isAmbiguous: boolean }) => call.isAmbiguous)
    // What is missing is what was interrupted before its effect, and says so.
    expect(lines.length).toBeGreaterThanOrEqual(LINES - unknown.length)
    expect(shown.calls).toHaveLength(LINES)
  }, 120_000)
})
