import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findEnd } from '../../src/turn-context.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createSandboxed, PROGRAM, type Sandboxed } from '../support/kogu.ts'
import { openTestRuntime } from '../support/runtime.ts'

// Agents whose calls append lines, killed with SIGKILL at a point that the test chooses: when the second call of a turn says
// that it runs, or while the database holds back the claim of a call or its result. Each line is there once.

let database: TestDatabase
let home: Sandboxed
let client: pg.Client

/** A statement on `claims` of this kind waits until the test lets go. */
const HOLD = 77_001

beforeAll(async () => {
  database = await createTestDatabase()
  // The first run makes the tables.
  home = createSandboxed()
  home.env.DATABASE_URL = database.url
  home.write('hello.toml', '[[answer]]\ntext = "hello"\n')
  expect(home.run(['run', 'x', '--model', 'rehearsal:hello.toml']).code).toBe(0)
  home.remove()
  client = new pg.Client({ connectionString: database.url, application_name: 'test' })
  await client.connect()
  await client.query(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock(${HOLD}); RETURN NEW; END'`)
})
afterAll(async () => {
  await client.end()
  await database.close()
})
beforeEach(() => {
  home = createSandboxed()
  home.env.DATABASE_URL = database.url
  home.configure('mode = "accept-edits"\n')
  return () => home.remove()
})

const COMMAND = (line: string): string =>
  `[[answer.call]]\ntool = "run_command"\ninput = { command = '''${line}''' }\n`
const WRITE = (path: string, text: string): string =>
  `[[answer.call]]\ntool = "write_file"\ninput = { path = "${path}", content = "${text}\\n", mode = "append" }\n`

/** One turn with these calls, and the end. */
function script(...calls: readonly string[]): void {
  home.write('calls.toml', `[[answer]]\n${calls.join('')}[[answer]]\ntext = "done"\n`)
}

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  /** When it has said this. */
  said(words: string): Promise<string>
}

function start(): Started {
  const args = ['run', 'go', '--model', 'rehearsal:calls.toml', '--ndjson']
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: home.workspace, env: home.env })
  let text = ''
  const listeners = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    for (const listener of listeners) listener()
  })
  return {
    child,
    ended: new Promise(resolve => child.on('close', resolve)),
    said: words =>
      new Promise(resolve => {
        const look = (): void => {
          if (text.includes(words)) resolve(/"run":"([^"]+)"/.exec(text)?.[1] ?? '')
        }
        listeners.add(look)
        look()
      }),
  }
}

async function killAndResume({ child, ended }: Pick<Started, 'child' | 'ended'>, id: string) {
  child.kill('SIGKILL')
  await ended
  const resumed = home.run(['runs', 'resume', id])
  expect(resumed.code, resumed.stderr).toBe(0)
  return home.json(['runs', 'show', id])
}

const ambiguous = (shown: { calls: { isAmbiguous: boolean }[] }): boolean[] =>
  shown.calls.map(call => call.isAmbiguous)

test.each([
  ['a command', COMMAND('echo X >> f.txt')],
  ['a file tool', WRITE('f.txt', 'X')],
])(
  'what %s has changed is not done again when a later call of the turn is killed',
  async (_, first) => {
    script(first, COMMAND('echo ready; test -e go || sleep 60; echo Y >> g.txt'))
    const started = start()
    const id = await started.said('"text":"ready')
    expect(home.read('f.txt')).toBe('X\n')
    home.write('go', '')
    const shown = await killAndResume(started, id)
    expect([home.read('f.txt'), home.read('g.txt')]).toEqual(['X\n', 'Y\n'])
    expect([shown.status, ...ambiguous(shown)]).toEqual(['completed', false, false])
  },
  60_000,
)

/** Kills the run while its statement waits, and says how the run stands when it was resumed. */
async function killHeld(kind: 'INSERT' | 'UPDATE') {
  await client.query(
    `CREATE TRIGGER held BEFORE ${kind} ON claims FOR EACH ROW EXECUTE FUNCTION hold();
     SELECT pg_advisory_lock(${HOLD})`,
  )
  const started = start()
  const id = await started.said('"type":"call.proposed"')
  const waiting = 'SELECT 1 FROM pg_locks WHERE locktype = $1 AND objid = $2 AND NOT granted'
  while ((await client.query(waiting, ['advisory', HOLD])).rowCount === 0)
    expect(started.child.exitCode, 'it ended without a claim').toBeNull()
  const before = existsSync(join(home.workspace, 'f.txt'))
  started.child.kill('SIGKILL')
  await started.ended
  // The server does not notice by itself that nobody waits for the statement any longer.
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = $1 AND objid = $2 AND NOT granted`,
    ['advisory', HOLD],
  )
  await client.query(`SELECT pg_advisory_unlock(${HOLD}); DROP TRIGGER held ON claims`)
  const shown = await killAndResume(started, id)
  return { before, status: shown.status, ambiguous: ambiguous(shown), text: home.read('f.txt') }
}

test.each([
  ['a command', COMMAND('echo X >> f.txt')],
  ['a file tool', WRITE('f.txt', 'X')],
])(
  'the changes of %s do not reach the workspace before their claim, and then once',
  async (_, call) => {
    script(call)
    const done = { status: 'completed', ambiguous: [false], text: 'X\n' }
    expect(await killHeld('INSERT')).toEqual({ before: false, ...done })
    home.write('f.txt', '')
    expect(await killHeld('UPDATE')).toEqual({ before: true, ...done })
  },
  90_000,
)

test('how a command ended is known by the record of its changes when the log does not have its end', async () => {
  const box = await openTestRuntime('mode = "accept-edits"\n')
  try {
    const { runtime } = box
    const command = 'echo X >> f.txt; exit 3'
    await runtime.call({ id: 'call_one', tool: 'run_command', input: { command } })
    await runtime.call({ id: 'call_two', tool: 'write_file', input: { path: 'g.txt', content: 'Y' } })
    const places = { ...runtime.places, audit: join(box.home, 'no-log') }
    const left = { places, listChanges: runtime.listChanges }
    expect(await findEnd(left, 'call_one', new Date(0))).toEqual({
      tool: 'run_command',
      ok: true,
      ended: 'exited with code 3',
      effects: [expect.objectContaining({ path: join(box.workspace, 'f.txt'), change: 'created' })],
    })
    // A file tool may have had more to do.
    expect(await findEnd(left, 'call_two', new Date(0))).toBeUndefined()
  } finally {
    await box.close()
  }
})
