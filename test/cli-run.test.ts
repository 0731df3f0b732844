import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { createSandboxed, PROGRAM, type Sandboxed } from './support/kogu.ts'
import { type MockVendor, startMockVendor } from './support/mock-vendor.ts'
import { onTerminal, python } from './support/terminal.ts'

// The program as people run it, with a rehearsal or with a vendor's wire format over HTTP.

let database: TestDatabase
let vendor: MockVendor
let home: Sandboxed

const SECRET = 'sk-ant-planted-0123456789abcdef'

beforeAll(async () => {
  database = await createTestDatabase()
  vendor = await startMockVendor()
  home = createSandboxed()
  home.env.DATABASE_URL = database.url
  home.write('../config/kogu/config.toml', `[providers.anthropic]\nbase_url = "${vendor.url}/v1"\n`)
  home.write('hello.toml', HELLO)
})
afterAll(async () => {
  home.remove()
  await vendor.close()
  await database.close()
})

const HELLO = `
[[answer]]
text = "I write it."
[[answer.call]]
tool = "write_file"
input = { path = "hello.txt", content = "hello\\n" }
[[answer]]
text = "Written: {{last.text}}"
`

/** Asynchronous: the mock vendor lives in this process. */
function kogu(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: home.workspace,
      env: { ...home.env, ...env },
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', chunk => (stdout += chunk))
    child.stderr.on('data', chunk => (stderr += chunk))
    child.on('close', code => resolve({ code, stdout, stderr }))
    child.stdin.end()
  })
}

async function until<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

describe('kogu run', () => {
  test('streams what the model says, shows each call with its verdict, and says how to undo it all', async () => {
    const ran = await kogu(['run', 'Say hello', '--model', 'rehearsal:hello.toml', '--mode', 'accept-edits'])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toBe('I write it.\nWritten: Created hello.txt (6 bytes, 1 line)\n')
    expect(ran.stderr).toContain('a script, not a model')
    expect(ran.stderr).toMatch(/✓ write_file hello\.txt {2}\d+ ms {2}allow · mode-accept-edits/)
    const undo = /kogu undo --run (\S+)/.exec(ran.stderr)?.[1] ?? ''
    expect((await kogu(['undo', '--run', undo, '--yes'])).code).toBe(0)
    expect(existsSync(join(home.workspace, 'hello.txt'))).toBe(false)
  })

  test('without a key and without a model it says how to get one, and offers the rehearsal', async () => {
    const ran = await kogu(['run', 'x'])
    expect(ran.code).toBe(4)
    expect(ran.stderr).toContain('No model is set up.')
    expect(ran.stderr).toContain('ANTHROPIC_API_KEY')
    expect(ran.stderr).toContain('rehearsal:FILE')
    // A sentence alone is a task.
    expect(await kogu(['Find all TODO comments'])).toEqual(ran)
    expect(await kogu(['explain this file'])).toEqual(ran)
    // A command with its blanks in the word is none, whichever keyboard they come from.
    for (const command of ['tools list', 'tools\u3000list', 'mcp\u00a0list', 'serve ', 'call --help'])
      expect(await kogu([command])).toMatchObject({ code: 2, stderr: expect.stringContaining('For a task') })
  })

  test('a headless run with a refused call exits 6 and lists it in JSON', async () => {
    const ran = await kogu(['run', 'x', '--model', 'rehearsal:hello.toml', '--mode', 'auto', '--json'])
    expect(ran.code).toBe(6)
    const result = JSON.parse(ran.stdout)
    expect(result).toMatchObject({
      schema: 'kogu.run/1',
      status: 'finished_with_denials',
      denied: [{ tool: 'write_file' }],
      files: [],
    })
  })

  test('a question without a terminal waits in the inbox; an answer lets the run go on, once', async () => {
    const model = ['--model', 'rehearsal:hello.toml', '--json']
    const parked = await kogu(['run', 'Ask first', ...model])
    expect(parked.code).toBe(7)
    const { id, waiting, status, stop_reason } = JSON.parse(parked.stdout)
    expect({ status, stop_reason }).toEqual({ status: 'pending', stop_reason: 'awaiting_approval' })
    const still = await kogu(['runs', 'resume', id, '--json'])
    expect(still.code).toBe(7)
    expect(JSON.parse((await kogu(['approvals', 'list', '--json'])).stdout)).toMatchObject([
      { id: waiting[0], runId: id },
    ])
    expect((await kogu(['approvals', 'approve', waiting[0]])).code).toBe(0)
    const done = await kogu(['runs', 'resume', id, '--json'])
    expect(JSON.parse(done.stdout)).toMatchObject({
      status: 'completed',
      denied: [],
      files: [expect.stringContaining('hello.txt')],
    })
    await kogu(['undo', '--run', id, '--yes'])
  })

  test('--on-ask deny refuses instead, and the run goes on', async () => {
    const ran = await kogu(['run', 'x', '--model', 'rehearsal:hello.toml', '--on-ask', 'deny', '--json'])
    expect([ran.code, JSON.parse(ran.stdout).denied]).toEqual([
      6,
      [expect.objectContaining({ tool: 'write_file' })],
    ])
    expect((await kogu(['run', 'x', '--model', 'rehearsal:hello.toml', '--on-ask', 'maybe'])).code).toBe(2)
  })

  test('--on-ask wait goes on after an answer from elsewhere, and --output keeps what was said', async () => {
    const args = ['--model', 'rehearsal:hello.toml', '--on-ask', 'wait', '--output', 'said.txt', '--json']
    const waiting = kogu(['run', 'Wait for it', ...args])
    const question = await until(() => home.json(['approvals', 'list'])[0])
    await kogu(['approvals', 'approve', question.id])
    const ran = await waiting
    expect(ran.code, ran.stderr).toBe(0)
    const { id, status, waiting: left } = JSON.parse(ran.stdout)
    expect([status, left]).toEqual(['completed', []])
    expect(home.read('said.txt')).toMatch(/^Written: .*\n$/)
    await kogu(['undo', '--run', id, '--yes'])
    const nobody = await kogu(['run', 'x', ...args, '--ask-timeout', '10ms'])
    expect([nobody.code, JSON.parse(nobody.stdout).stop_reason]).toEqual([7, 'awaiting_approval'])
    await kogu(['approvals', 'deny', JSON.parse(nobody.stdout).waiting[0]])
    await kogu(['runs', 'resume', JSON.parse(nobody.stdout).id])
  })

  test('an approval of what has changed since is stale: nothing is written, and the question is asked anew', async () => {
    const parked = JSON.parse((await kogu(['run', 'x', '--model', 'rehearsal:hello.toml', '--json'])).stdout)
    await kogu(['approvals', 'approve', parked.waiting[0]])
    home.write('hello.txt', 'by somebody else\n')
    const again = JSON.parse((await kogu(['runs', 'resume', parked.id, '--json'])).stdout)
    expect(again).toMatchObject({ stop_reason: 'awaiting_approval' })
    expect(again.waiting[0]).not.toBe(parked.waiting[0])
    expect(home.read('hello.txt')).toBe('by somebody else\n')
    const denied = await kogu(['approvals', 'deny', again.waiting[0], '--message', 'leave it'])
    expect(denied.code).toBe(0)
    const ended = await kogu(['runs', 'resume', parked.id, '--json'])
    expect(ended.code).toBe(6)
    expect(home.read('hello.txt')).toBe('by somebody else\n')
    const kept = JSON.parse((await kogu(['approvals', 'history', '--limit', '2', '--json'])).stdout)
    expect(kept).toMatchObject([
      {
        id: again.waiting[0],
        run: parked.id,
        status: 'denied',
        tool: 'write_file',
        input: { path: 'hello.txt' },
      },
      { id: parked.waiting[0], run: parked.id, status: 'stale', decidedBy: null },
    ])
    await kogu(['call', 'delete_file', '{"path":"hello.txt"}', '--yes-once'])
  })

  test('tools that are not offered are refused when they are called all the same', async () => {
    const args = [
      'run',
      'x',
      '--model',
      'rehearsal:hello.toml',
      '--mode',
      'accept-edits',
      '--tools',
      'read-only',
    ]
    const ran = await kogu([...args, '--json'])
    expect(JSON.parse(ran.stdout).denied).toMatchObject([
      { tool: 'write_file', reason: expect.stringContaining('not enabled') },
    ])
    expect(existsSync(join(home.workspace, 'hello.txt'))).toBe(false)
  })

  test('works with a vendor over HTTP, retries an overload, and the key is nowhere', async () => {
    vendor.requests.length = 0
    vendor.play(
      { status: 529, message: `overloaded ${SECRET}`, headers: { 'retry-after': '0' } },
      { text: 'Reading.', calls: [{ name: 'read_file', input: { path: 'hello.toml' } }] },
      { text: 'I have read it.' },
    )
    const ran = await kogu(['run', 'Read it', '--model', 'claude-sonnet-4-5', '--ndjson'], {
      ANTHROPIC_API_KEY: SECRET,
    })
    expect(ran.code).toBe(0)
    const events = ran.stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(events.map(event => event.type)).toEqual(
      expect.arrayContaining(['run.started', 'step.retry', 'text.delta', 'call.finished', 'run.finished']),
    )
    expect(vendor.requests[0]?.headers['x-api-key']).toBe(SECRET)
    expect(JSON.stringify(vendor.requests.at(-1)?.body.messages)).toContain('I write it.')
    const shown = await kogu(['runs', 'list', '--json'])
    const [newest] = JSON.parse(shown.stdout)
    expect(newest).toMatchObject({ status: 'completed', text: 'I have read it.' })
    expect(Number(newest.cost_usd)).toBeGreaterThan(0)
    const all = [
      ran.stdout,
      ran.stderr,
      shown.stdout,
      (await kogu(['runs', 'show', newest.id, '--json'])).stdout,
    ]
    expect(all.join('\n')).not.toContain(SECRET)
  })

  test('a refused key exits 4, a vendor that is not reachable 5, a refused request 1, a limit 8', async () => {
    vendor.play({ status: 401, message: `invalid x-api-key ${SECRET}` })
    const refused = await kogu(['run', 'x', '--model', 'claude-sonnet-4-5'], { ANTHROPIC_API_KEY: SECRET })
    expect(refused.code).toBe(4)
    expect(refused.stderr).not.toContain(SECRET)
    const ask = () => kogu(['run', 'x', '--model', 'claude-sonnet-4-5'], { ANTHROPIC_API_KEY: SECRET })
    vendor.play({ status: 503, message: 'later', headers: { 'retry-after': '9999' } })
    expect((await ask()).code).toBe(5)
    vendor.play({ status: 400, message: 'no such thing' })
    expect((await ask()).code).toBe(1)
    const limited = await kogu([
      'run',
      'x',
      '--model',
      'rehearsal:hello.toml',
      '--max-turns',
      '1',
      '--mode',
      'auto',
    ])
    expect(limited.code).toBe(8)
    expect(limited.stderr).toContain('limit reached')
  })

  test('a run that goes on with one higher limit keeps the others', async () => {
    const env = { ANTHROPIC_API_KEY: SECRET }
    vendor.requests.length = 0
    vendor.play({ calls: [{ name: 'read_file', input: { path: 'hello.toml' } }] })
    const ask = [
      'run',
      'x',
      '--model',
      'claude-sonnet-4-5',
      '--max-turns',
      '1',
      '--max-cost',
      '0.0001',
      '--json',
    ]
    const { id } = JSON.parse((await kogu(ask, env)).stdout)
    const resumed = await kogu(['runs', 'resume', id, '--max-turns', '9'], env)
    expect(resumed).toMatchObject({ code: 8, stderr: expect.stringContaining('the limit is $0.00') })
    expect(vendor.requests).toHaveLength(1)
  })

  test('what could not be written at the end, or has no task, does not begin', async () => {
    const record = await kogu(['run', 'x', '--model', 'rehearsal:hello.toml', '--record', 'no/where.toml'])
    expect(record).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no folder 'no'") })
    expect((await kogu(['run', ' ', '--model', 'rehearsal:hello.toml'])).stderr).toContain(
      'What is the task?',
    )
  })

  test.skipIf(!python)('a person at the terminal is asked whether a run at its limit goes on', () => {
    const args = ['run', 'x', '--model', 'rehearsal:hello.toml', '--max-calls', '1', '--mode', 'accept-edits']
    const steps = [{ wait: 'Go on with twice the limits?', type: 'y\n' }]
    const { shown, code } = onTerminal(home, args, steps)
    expect([code, shown]).toEqual([0, expect.stringContaining('Written: Created hello.txt')])
    expect(shown).toContain('It comes close to its limit: 1 of 1 calls are made.')
    home.run(['call', 'delete_file', '{"path":"hello.txt"}', '--yes-once'])
  })

  test('Ctrl-C pauses, says how to resume, and the run goes on from there', async () => {
    home.write('wait.toml', '[[answer]]\ndelay_ms = 60000\ntext = "late"\n')
    const child = spawn(
      process.execPath,
      [PROGRAM, 'run', 'x', '--model', 'rehearsal:wait.toml', '--ndjson'],
      {
        cwd: home.workspace,
        env: home.env,
      },
    )
    let said = ''
    child.stderr.on('data', chunk => (said += chunk))
    child.stdout.on('data', chunk => {
      if (String(chunk).includes('step.started')) child.kill('SIGINT')
    })
    const code = await new Promise(resolve => child.on('close', resolve))
    expect([code, said]).toEqual([130, expect.stringMatching(/It can go on: kogu runs resume [0-9a-f-]{36}/)])
    const id = /resume ([0-9a-f-]{36})/.exec(said)?.[1] ?? ''
    home.write('wait.toml', '[[answer]]\ntext = "on time"\n')
    expect(await kogu(['runs', 'resume', id])).toMatchObject({ code: 0, stdout: 'on time\n' })
    const again = await kogu(['runs', 'rerun', id, '--json'])
    expect(JSON.parse(again.stdout)).toMatchObject({ status: 'completed', text: 'on time' })
    expect(JSON.parse(again.stdout).id).not.toBe(id)
    // Only a stop can wait for the end of a step; anything else would be done at once.
    expect(await kogu(['runs', 'pause', id, '--after-step'])).toMatchObject({ code: 2 })
    const late = await kogu(['runs', 'stop', id, '--after-step'])
    expect(late).toMatchObject({ code: 0, stderr: 'It was not running (completed).\n' })
    // A run is steered in its own folder.
    const elsewhere = ['--cwd', dirname(home.write('../other/a.txt', ''))]
    for (const args of [
      ['pause', id],
      ['stop', id],
      ['say', id, 'Hello'],
    ]) {
      const refused = await kogu(['runs', ...args, ...elsewhere])
      expect(refused).toMatchObject({ code: 10, stderr: expect.stringContaining('This run belongs to') })
    }
    expect(await kogu(['run', 'Hello', '--continue', id, ...elsewhere])).toMatchObject({ code: 10 })
    await kogu(['runs', 'resume', id])
    expect((await kogu(['runs', 'show', id, '--json'])).stdout).not.toContain('Hello')
  })

  test('the budget of a day stops every run, and says so', async () => {
    vendor.play({ text: 'Hi.' })
    const args = ['run', 'x', '--model', 'claude-sonnet-4-5', '--json', '-c', 'limits.budget.day=0.0001']
    await kogu(args, { ANTHROPIC_API_KEY: SECRET })
    const ran = await kogu(args, { ANTHROPIC_API_KEY: SECRET })
    expect(JSON.parse(ran.stdout)).toMatchObject({
      stop_reason: 'limit_reached',
      error: expect.stringContaining('today'),
    })
    expect(ran.code).toBe(8)
  })

  test('a recorded run plays the same again', async () => {
    vendor.play(
      { text: 'Now.', calls: [{ name: 'write_file', input: { path: 'r.txt', content: '{{x}}\n' } }] },
      { text: 'Done.' },
    )
    const model = ['--model', 'claude-sonnet-4-5', '--mode', 'accept-edits']
    await kogu(['run', 'Record', ...model, '--record', 'kept.toml'], { ANTHROPIC_API_KEY: SECRET })
    const asked = vendor.requests.length
    await kogu(['call', 'delete_file', '{"path":"r.txt"}', '--yes-once'])
    const ran = await kogu(['run', 'Replay', '--replay', 'kept.toml', '--mode', 'accept-edits'])
    expect(ran.code).toBe(0)
    expect(readFileSync(join(home.workspace, 'r.txt'), 'utf8')).toBe('{{x}}\n')
    expect(vendor.requests.length).toBe(asked)
  })

  test('a secret that a model repeats is in no event, no log of calls and no recording', async () => {
    vendor.play(
      {
        text: `The key is ${SECRET}.`,
        calls: [{ name: 'write_file', input: { path: 's.txt', content: SECRET } }],
      },
      { text: 'Done.' },
    )
    const args = [
      'run',
      'x',
      '--model',
      'claude-sonnet-4-5',
      '--mode',
      'accept-edits',
      '--record',
      'secret.toml',
    ]
    const ran = await kogu([...args, '--ndjson'], { ANTHROPIC_API_KEY: SECRET })
    const { run } = JSON.parse(ran.stdout.split('\n')[0] ?? '{}')
    const tail = await kogu(['runs', 'tail', run, '--ndjson'])
    const { calls } = JSON.parse((await kogu(['runs', 'show', run, '--json'])).stdout)
    const kept = [ran.stdout, tail.stdout, JSON.stringify(calls), home.read('secret.toml')]
    expect(tail.stdout).toContain('call.finished')
    for (const text of kept) expect(text).not.toContain(SECRET)
  })

  test('a run that ended can be told more, and reaches the model as one conversation', async () => {
    vendor.play({ text: 'First.' }, { text: 'Second.' })
    const first = await kogu(['run', 'One', '--model', 'claude-sonnet-4-5', '--json'], {
      ANTHROPIC_API_KEY: SECRET,
    })
    const { id } = JSON.parse(first.stdout)
    const more = await kogu(['run', '--continue', id.slice(0, 8), 'Two', '--json'], {
      ANTHROPIC_API_KEY: SECRET,
    })
    expect(JSON.parse(more.stdout)).toMatchObject({ id, text: 'Second.' })
    const { messages } = vendor.requests.at(-1)?.body ?? {}
    expect(messages.map((message: { role: string }) => message.role)).toEqual(['user', 'assistant', 'user'])
  })

  test('call, explain, undo and audit work without any database', async () => {
    const env = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }
    const input = '{"path":"hello.toml"}'
    for (const args of [
      ['call', 'read_file', input],
      ['explain', 'read_file', input],
      ['changes'],
      ['audit', 'verify'],
    ]) {
      expect((await kogu(args, env)).code, args.join(' ')).toBe(0)
    }
    expect(existsSync(join(home.home, 'data/kogu/pg'))).toBe(false)
  })

  test('a misspelt run id, a running model without a price and a nested Kogu are refused with a reason', async () => {
    expect((await kogu(['runs', 'show', 'ffff'])).stderr).toContain("There is no run 'ffff'")
    const priced = await kogu(['run', 'x', '--model', 'openai/gpt-unknown', '--max-cost', '1'], {
      OPENAI_API_KEY: SECRET,
    })
    expect(priced.stderr).toContain('max_cost cannot be enforced')
    expect(
      (await kogu(['run', 'x', '--model', 'rehearsal:hello.toml'], { KOGU_CALL: 'call_1' })).stderr,
    ).toContain('Agents cannot be run')
  })
})
