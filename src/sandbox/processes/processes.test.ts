import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ownGroups, processesWith } from '../testing.ts'
import { createProcesses, type RunRequest } from './processes.ts'

const processes = createProcesses({ killGraceMs: 200 })
const direct = createProcesses({ killGraceMs: 200, spawner: 'direct' })
const state = { folder: '' }

beforeEach(() => {
  state.folder = mkdtempSync(join(tmpdir(), 'kogu-test-'))
})
afterEach(() => rmSync(state.folder, { recursive: true, force: true }))
afterAll(async () => {
  await processes.close()
  await direct.close()
})

describe.each([
  ['through the helper', processes],
  ['directly', direct],
])('starting programs %s', (_name, subject) => {
  async function bash(script: string, more: Partial<RunRequest> = {}) {
    const output: string[] = []
    const errors: string[] = []
    const result = await subject.run({
      ...request('/bin/bash', ['--norc', '--noprofile', '-c', script]),
      onStdout: chunk => void output.push(Buffer.from(chunk).toString()),
      onStderr: chunk => void errors.push(Buffer.from(chunk).toString()),
      ...more,
    })
    return { ...result, stdout: output.join(''), stderr: errors.join('') }
  }

  test('a clock that is set forward ends no program, neither by its time limit nor as silent', async () => {
    let hours = 0
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => {
      hours += 1
      return hours * 3_600_000
    })
    onTestFinished(() => clock.mockRestore())
    const ended = await bash('for ((i = 0; i < 100000; i++)); do :; done', {
      timeoutMs: 50_000,
      idleTimeoutMs: 40_000,
    })
    expect(ended).toMatchObject({ exitCode: 0 })
  })

  test('output, errors and the exit code come back apart', async () => {
    expect(await bash('echo out; echo err >&2; exit 7')).toEqual({
      exitCode: 7,
      signal: null,
      timedOut: false,
      idledOut: false,
      stopped: false,
      limit: null,
      stdout: 'out\n',
      stderr: 'err\n',
    })
  })

  test('arguments, folder, environment and input arrive byte for byte, and nothing is inherited', async () => {
    const odd = 'line\nbreak "quoted" \u{1f600} \\'
    const result = await bash(
      'printf %s "$ODD"; printf "|%s|" "$PWD"; cat; env | cut -d= -f1 | sort | tr "\\n" " "',
      {
        cwd: state.folder,
        env: { ODD: odd, PATH: '/usr/bin:/bin' },
        stdin: new Uint8Array([0x61, 0x0a, 0x62]),
      },
    )
    expect(result.stdout).toContain(`${odd}|${state.folder}|a\nb`)
    expect(result.stdout.replaceAll('break', '')).not.toContain('HOME')
  })

  test('standard input is empty when none is given', async () => {
    expect(await bash('cat; echo done')).toMatchObject({ stdout: 'done\n', exitCode: 0 })
  })

  test('a start-up file of bash is not read although input is given', async () => {
    writeFileSync(join(state.folder, '.bashrc'), 'echo poisoned')
    const result = await subject.run({
      ...request('/bin/bash', ['-c', 'cat']),
      env: { HOME: state.folder, PATH: '/usr/bin:/bin' },
      stdin: Buffer.from('fine'),
      onStdout: chunk => void expect(Buffer.from(chunk).toString()).toBe('fine'),
    })
    expect(result.exitCode).toBe(0)
  })

  test('a program that does not exist is an error that says so', async () => {
    await expect(subject.run(request('/no/such/program', []))).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a folder that does not exist is an error', async () => {
    await expect(subject.run({ ...request('/bin/true', []), cwd: '/no/such/folder' })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('the time limit kills the whole tree, also what ignores the polite signal', async () => {
    const marker = `${900_000 + process.pid}.${Math.floor(Math.random() * 1e6)}`
    const result = await bash(
      `trap '' TERM; (trap '' TERM; sleep ${marker}) & sleep ${marker}; sleep ${marker}`,
      {
        timeoutMs: 150,
      },
    )
    expect(result).toMatchObject({ timedOut: true, exitCode: null, signal: 'SIGKILL' })
    await expectGone(marker)
  })

  test('a silent program is stopped by the idle limit and a talking one is not', async () => {
    expect(await bash('sleep 60', { idleTimeoutMs: 100 })).toMatchObject({ idledOut: true, timedOut: false })
    // Time passes only while it talks, so that no load makes it silent; all in all far more than the limit.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const onStdout = (): undefined => void vi.advanceTimersByTime(3_000)
    const talk = 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.05; done'
    const result = await bash(talk, { idleTimeoutMs: 4_000, timeoutMs: 60_000, onStdout })
    expect(result).toMatchObject({ idledOut: false, exitCode: 0 })
  })

  test('the abort signal stops it, and an aborted one starts nothing', async () => {
    const controller = new AbortController()
    const onStdout = (): undefined => void controller.abort()
    expect(await bash('echo started; sleep 600', { signal: controller.signal, onStdout })).toMatchObject({
      stopped: true,
    })
    await bash('touch started', { signal: controller.signal, cwd: state.folder })
    expect(readdirSync(state.folder)).toEqual([])
  })

  test('a caller that has seen enough stops it and gets no more', async () => {
    const chunks: number[] = []
    const result = await bash('yes', {
      onStdout: chunk => {
        chunks.push(chunk.length)
        return false
      },
    })
    expect(result.stopped).toBe(true)
    expect(chunks).toHaveLength(1)
  })

  test('an error in a callback ends the program and reaches the caller', async () => {
    const run = bash('yes', {
      onStdout: () => {
        throw new Error('callback broke')
      },
    })
    await expect(run).rejects.toThrow('callback broke')
  })

  test('what is left in the group ends with the program', async () => {
    const marker = `${800_000 + process.pid}.${Math.floor(Math.random() * 1e6)}`
    const result = await bash(`sleep ${marker} & echo started`)
    expect(result.stdout).toBe('started\n')
    await expectGone(marker)
  })

  test('a daemon that left the session and holds the output does not hold up the result', async () => {
    // Longer than the test may take.
    const marker = `${700_000 + process.pid}.${Math.floor(Math.random() * 1e6)}`
    const result = await bash(`setsid sleep ${marker} & echo started`)
    expect(result.stdout).toBe('started\n')
    for (const pid of processesWith(marker)) process.kill(pid, 'SIGKILL')
  })

  test('one hundred programs at once each get their own output', async () => {
    const runs = Array.from({ length: 100 }, (_, index) => bash(`echo ${index}; echo e${index} >&2`))
    const results = await Promise.all(runs)
    expect(results.map(result => result.stdout + result.stderr)).toEqual(
      runs.map((_, index) => `${index}\ne${index}\n`),
    )
  })

  test('files handed over as descriptors can be read', async () => {
    const path = join(state.folder, 'extra')
    writeFileSync(path, 'through a descriptor')
    expect(await bash('cat <&3', { descriptors: [path] })).toMatchObject({ stdout: 'through a descriptor' })
  })
})

describe('the helper', () => {
  test('the output can be opened by name, as with a terminal or a pipe', async () => {
    const lines: string[] = []
    await processes.run({
      ...request('/usr/bin/tee', ['/dev/stderr']),
      stdin: Buffer.from('twice'),
      onStdout: chunk => void lines.push(`out ${Buffer.from(chunk)}`),
      onStderr: chunk => void lines.push(`err ${Buffer.from(chunk)}`),
    })
    expect(lines.sort()).toEqual(['err twice', 'out twice'])
  })

  test('all of a large output arrives', async () => {
    const seen = { bytes: 0 }
    await processes.run({
      ...request('/usr/bin/head', ['-c', '500M', '/dev/zero']),
      onStdout: chunk => {
        seen.bytes += chunk.length
        return undefined
      },
    })
    expect(seen.bytes).toBe(500 * 1024 * 1024)
  })

  test('when the helper is killed, its programs end with an error and the next run starts a new one', async () => {
    const before = ownGroups()
    const own = createProcesses()
    await own.run(request('/bin/true', []))
    const marker = `${700_000 + process.pid}.${Math.floor(Math.random() * 1e6)}`
    const running = own.run(request('/bin/sleep', [marker]))
    const outcome = running.catch((error: unknown) => error)
    while (processesWith(marker).length === 0) await sleep(10)
    const helper = parentOf(processesWith(marker)[0] ?? 0)
    process.kill(helper, 'SIGKILL')
    expect(await outcome).toMatchObject({ code: 'failed' })
    await expectGone(marker)
    expect(await own.run(request('/bin/true', []))).toMatchObject({ exitCode: 0 })
    await own.close()
    await expect
      .poll(() => ownGroups().filter(path => !before.includes(path)), { timeout: 5_000 })
      .toEqual([])
  })

  test('pipes that somebody cleaned away are replaced by a new helper, and what runs goes on', async () => {
    const own = createProcesses()
    const marker = `${650_000 + process.pid}.${Math.floor(Math.random() * 1e6)}`
    const controller = new AbortController()
    const running = own.run({ ...request('/bin/sleep', [marker]), signal: controller.signal })
    while (processesWith(marker).length === 0) await sleep(10)
    const folder = helperFolder(parentOf(processesWith(marker)[0] ?? 0))
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    expect(await own.run(request('/bin/true', []))).toMatchObject({ exitCode: 0 })
    expect(processesWith(marker)).toHaveLength(1)
    controller.abort()
    expect(await running).toMatchObject({ stopped: true })
    await own.close()
  })

  test('closing kills what runs and removes the folder of pipes', async () => {
    const own = createProcesses()
    own.prepare()
    const marker = `${600_000 + process.pid}.${Math.floor(Math.random() * 1e6)}`
    const outcome = own.run(request('/bin/sleep', [marker])).catch((error: unknown) => error)
    while (processesWith(marker).length === 0) await sleep(10)
    const folder = helperFolder(parentOf(processesWith(marker)[0] ?? 0))
    expect(existsSync(folder)).toBe(true)
    await own.close()
    await outcome
    await expectGone(marker)
    expect(existsSync(folder)).toBe(false)
  })

  test('nothing outlives a Kogu that is killed by force', async () => {
    const marker = `${500_000 + process.pid}.${Math.floor(Math.random() * 1e6)}`
    const script = `
      import { createProcesses } from ${JSON.stringify(join(import.meta.dirname, 'processes.ts'))}
      await createProcesses().run({ file: '/bin/bash', args: ['-c', 'sleep ${marker} & sleep ${marker}'], cwd: '/',
        env: { PATH: '/usr/bin:/bin' }, timeoutMs: 60000, signal: new AbortController().signal })`
    const kogu = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' })
    while (processesWith(marker).length < 2) await sleep(20)
    const helper = parentOf(parentOf(processesWith(marker)[0] ?? 0))
    kogu.kill('SIGKILL')
    while (isAlive(helper)) await sleep(20)
    await expectGone(marker)
    expect(isAlive(helper)).toBe(false)
  })

  test.each(['helper', 'direct'])(
    'a folder left open by whoever started Kogu does not reach programs (%s)',
    spawner => {
      const script = `
      import { createProcesses } from ${JSON.stringify(join(import.meta.dirname, 'processes.ts'))}
      const processes = createProcesses({ spawner: '${spawner}' })
      await processes.run({ file: '/bin/sh', args: ['-c', '/usr/bin/readlink /proc/$$/fd/40'], cwd: '/', env: {}, timeoutMs: 5000,
        signal: new AbortController().signal, onStdout: chunk => void process.stdout.write('got ' + chunk) })
      await processes.close()`
      // Node closes the first few itself.
      const left = [
        '-c',
        'exec 40</usr; exec "$@"',
        'bash',
        process.execPath,
        '--input-type=module',
        '-e',
        script,
      ]
      const output = execFileSync('/bin/bash', left, {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      expect(output.trim()).toBe(spawner === 'helper' ? '' : 'got /dev/null')
    },
  )

  test('an idle helper does not keep Kogu from exiting', () => {
    const script = `
      import { createProcesses } from ${JSON.stringify(join(import.meta.dirname, 'processes.ts'))}
      await createProcesses().run({ file: '/bin/true', args: [], cwd: '/', env: {}, timeoutMs: 5000,
        signal: new AbortController().signal })
      process.stdout.write('ran')`
    const options = { encoding: 'utf8', timeout: 10_000 } as const
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], options)).toBe('ran')
  })
})

function request(file: string, args: readonly string[]): RunRequest {
  const env = { PATH: '/usr/bin:/bin' }
  return { file, args, cwd: '/', env, timeoutMs: 20_000, signal: new AbortController().signal }
}

/** A process that was killed may need a moment to die on a busy machine. */
async function expectGone(word: string): Promise<void> {
  await expect.poll(() => processesWith(word), { timeout: 2_000 }).toEqual([])
}

/** A zombie is dead: who should collect it is not our concern. */
function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

function parentOf(pid: number): number {
  return Number(/PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

function helperFolder(pid: number): string {
  return (
    readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      .split('\0')
      .find(word => word.includes('kogu-spawn-')) ?? ''
  )
}
