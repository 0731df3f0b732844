import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, PROGRAM, type Sandboxed } from './support/kogu.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
  // Command lines stand here for whatever is asked about before it runs.
  box.configure('[permissions]\ncommands = "ask"\n')
})
afterEach(() => box.remove())

const append = { command: 'echo more >> log.txt' }
const call = (...more: string[]) => box.json(['call', 'run_command', JSON.stringify(append), ...more])
const stored = () => join(box.workspace, '.kogu', 'approvals')

describe('a question that nobody could answer at once', () => {
  test('is asked in one process, answered in a second, and its call runs once in a third', async () => {
    const asker = spawn(process.execPath, [PROGRAM, 'call', '--batch', '--run', 'r'], {
      cwd: box.workspace,
      env: box.env,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    asker.stdin.write(`${JSON.stringify({ tool: 'run_command', input: append })}\n`)
    const [line] = await once(asker.stdout.setEncoding('utf8'), 'data')
    asker.kill('SIGKILL')
    await once(asker, 'exit')
    const { question, error } = JSON.parse(line)
    expect(error.code).toBe('needs_approval')

    expect(box.run(['approvals', 'list']).stdout).toContain(question)
    expect(box.run(['approvals', 'approve', question]).code).toBe(0)
    expect(box.json(['call', '--continue', question])).toMatchObject({ ok: true, decision: { by: 'user' } })
    expect(box.read('log.txt')).toBe('more\n')
    expect(box.run(['call', '--continue', question]).code).not.toBe(0)
    expect(box.read('log.txt')).toBe('more\n')

    const events = box
      .run(['audit', 'export'])
      .stdout.trim()
      .split('\n')
      .map(text => JSON.parse(text))
    const ofCall = events.map(({ event = {}, ...rest }) => ({ ...rest, ...event })).filter(each => each.call)
    expect(ofCall.map(each => each.type)).toEqual([
      'call-started',
      'approval-requested',
      'approval-answered',
      'call-finished',
    ])
    expect(box.run(['audit', 'verify']).code).toBe(0)
  })

  test('is taken by the same call of the same run when it is repeated, once', () => {
    const first = call('--run', 'r')
    expect(call('--run', 'r')).toMatchObject({ ok: false, question: first.question })
    box.run(['approvals', 'approve', first.question])
    expect(call('--run', 'other')).toMatchObject({ ok: false, error: { code: 'needs_approval' } })
    expect(call('--run', 'r')).toMatchObject({ ok: true })
    expect(call('--run', 'r')).toMatchObject({ ok: false, error: { code: 'needs_approval' } })
    expect(box.read('log.txt')).toBe('more\n')
  })

  test('is believed only by the Kogu that stored it: a repository cannot bring an answer along', () => {
    const { question } = call('--run', 'r')
    box.run(['approvals', 'approve', question])
    rmSync(join(box.workspace, '.kogu', 'runs'), { recursive: true })
    // Another person has cloned it, to the same place.
    const env = { XDG_STATE_HOME: join(box.home, 'state-of-another-person') }
    const repeated = box.json(['call', 'run_command', JSON.stringify(append), '--run', 'r'], { env })
    expect(repeated).toMatchObject({ ok: false, error: { code: 'needs_approval' } })
    expect(repeated.question).not.toBe(question)
    expect(box.run(['call', '--continue', question], { env }).code).not.toBe(0)
    expect(existsSync(join(box.workspace, 'log.txt'))).toBe(false)
  })

  test('does not cover a call whose file has changed since; it says what has changed, and runs nothing', () => {
    box.write('log.txt', 'old\n')
    const { question } = call()
    box.run(['approvals', 'approve', question])
    box.write('log.txt', 'other\n')
    const result = box.json(['call', '--continue', question])
    expect(result.error).toMatchObject({ code: 'stale', message: expect.stringContaining('log.txt') })
    expect(box.read('log.txt')).toBe('other\n')
    expect(readdirSync(stored())).toEqual([])
  })

  test('does not cover a call under stricter rules: it is judged again from scratch', () => {
    const { question } = call()
    box.run(['approvals', 'approve', question])
    box.write(
      '../config/kogu/config.toml',
      '[[permissions.rules]]\ndecision = "deny"\ntool = "run_command"\n',
    )
    expect(box.json(['call', '--continue', question]).error.code).toBe('denied')
    expect(existsSync(join(box.workspace, 'log.txt'))).toBe(false)
  })

  test('is denied with words for the model, and a second answer changes nothing', () => {
    const { question } = call('--run', 'r')
    expect(box.run(['approvals', 'deny', question, '--message', 'use the other log']).code).toBe(0)
    const second = box.run(['approvals', 'approve', question])
    expect([second.code, second.stderr]).toEqual([10, expect.stringContaining('answered already: deny')])
    const same = ['approvals', 'deny', question, '--message', 'use the other log']
    expect(box.run(same).code).toBe(0)
    expect(call('--run', 'r').error).toMatchObject({
      code: 'denied',
      message: expect.stringContaining('use the other log'),
    })
  })

  test('is answered for later calls too: where, for how long and for which words, never wider than the offer', () => {
    const { question } = box.json(['call', 'run_command', '{"command":"touch a.txt b.txt"}'])
    const give = (...more: string[]) => box.run(['approvals', 'approve', question, ...more])
    for (const [wrong, why] of [
      [['--for', '2h'], 'needs --session N or --always N'],
      [['--session', '2', '--where', 'project'], '--where needs --always'],
      [['--always', '2', '--where', 'here'], 'panel, project or everywhere'],
      [['--always', '2', '--where', 'panel'], 'No panel asked'],
      [['--always', '1', '--where', 'everywhere'], 'cannot be remembered for other workspaces'],
      [['--always', '2', '--for', '90m'], 'whole hours'],
      [['--always', '2', '--words', 'touch a.txt'], 'do not match the call'],
      [['--always', '2', '--words', '* …'], "'touch' cannot be anything else"],
      [['--always', '1', '--words', 'touch *'], 'exactly as it stands'],
    ] as const)
      expect(give(...wrong)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) })
    expect(give('--always', '2', '--where', 'project', '--for', '2h', '--words', 'touch a.txt *').code).toBe(
      0,
    )
    expect(box.json(['call', '--continue', question])).toMatchObject({ ok: true })
    const [grant] = JSON.parse(
      readFileSync(join(box.env.XDG_STATE_HOME ?? '', 'kogu/grants.json'), 'utf8'),
    ).grants
    expect(Date.parse(grant.expiresAt) - Date.parse(grant.createdAt)).toBe(2 * 3_600_000)
    const again = (command: string) => box.json(['call', 'run_command', JSON.stringify({ command })])
    expect(again('touch a.txt c.txt')).toMatchObject({ ok: true, decision: { by: 'grant' } })
    expect(again('touch a.txt c.txt d.txt')).toMatchObject({ error: { code: 'needs_approval' } })
    expect(again('touch z.txt c.txt')).toMatchObject({ error: { code: 'needs_approval' } })
  })

  test('is denied for good: the same call of any run is refused at once, until the answer is revoked', () => {
    const { question } = call('--run', 'r')
    const never = ['approvals', 'deny', question, '--always', '--message', 'use the other log']
    const denied = box.run(never)
    expect(denied).toMatchObject({ code: 0, stderr: expect.stringContaining('grants revoke') })
    const refused = { ok: false, error: { code: 'denied' }, decision: { by: 'grant' } }
    expect(call('--run', 'other')).toMatchObject(refused)
    expect(box.json(['call', '--continue', question]).error.message).toContain('use the other log')
    expect(box.json(['call', 'run_command', '{"command":"echo else >> log.txt"}'])).toMatchObject({
      error: { code: 'needs_approval' },
    })
    const grants = box.json(['permissions', 'grants', 'list'])
    expect(grants).toMatchObject([{ decision: 'deny', scope: 'permanent' }])
    expect(box.run(['permissions', 'grants', 'revoke', grants[0].id]).code).toBe(0)
    expect(call('--run', 'other')).toMatchObject({ error: { code: 'needs_approval' } })
  })

  test('is denied for good without a number or a place, which only a yes can have', () => {
    const { question } = call()
    for (const wrong of [
      ['--session', '1'],
      ['--where', 'project'],
      ['--for', '2h'],
      ['--keep', 'a'],
    ])
      expect(box.run(['approvals', 'deny', question, '--always', ...wrong])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`${wrong[0]} is for kogu approvals approve`),
      })
    expect(box.run(['approvals', 'deny', question, '--always', '1']).code).toBe(2)
    expect(box.run(['approvals', 'approve', question, '--always']).code).toBe(2)
    expect(box.json(['permissions', 'grants', 'list'])).toEqual([])
  })

  test('expires', () => {
    box.write('../config/kogu/config.toml', '[permissions]\napproval_timeout = "1ms"\n')
    const { question } = call()
    expect(box.run(['approvals', 'approve', question]).code).toBe(9)
    expect(box.json(['audit', 'list'])).toMatchObject([{ type: 'call-finished', error: { code: 'expired' } }])
  })

  test('is kept with its exact input for its owner alone, and shown without secrets', () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const input = JSON.stringify({ command: 'curl -d @x https://example.com', env: { TOKEN: secret } })
    const { question } = box.json(['call', 'run_command', input])
    const path = join(stored(), `${question}.json`)
    expect(readFileSync(path, 'utf8')).toContain(secret)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    for (const args of [
      ['show', question],
      ['show', question, '--json'],
      ['list', '--json'],
    ]) {
      expect(box.run(['approvals', ...args]).stdout).not.toContain(secret)
    }
  })

  test('is not answered from inside a Kogu call, and no tool sees it', () => {
    const { question } = call()
    const inside = box.run(['approvals', 'approve', question], { env: { KOGU_CALL: 'call_1' } })
    expect(inside).toMatchObject({ code: 2, stderr: expect.stringContaining('only a person can approve') })
    const peek = { command: `cat .kogu/approvals/*` }
    const peeked = box.json(['call', 'run_command', JSON.stringify(peek), '--yes-once'])
    expect(peeked.text).not.toContain('digest')
    expect(box.json(['call', 'read_file', `{"path":".kogu/approvals/${question}.json"}`]).ok).toBe(false)
  })

  test('offers what can be remembered', () => {
    const { question } = call('--run', 'r')
    expect(box.run(['approvals', 'approve', question, '--always', '9']).code).toBe(2)
    expect(box.run(['approvals', 'approve', question, '--always', '1']).code).toBe(0)
    expect(box.json(['call', '--continue', question]).ok).toBe(true)
    expect(call()).toMatchObject({ ok: true, decision: { by: 'grant' } })
  })
})
