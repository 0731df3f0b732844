import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sweepLocks, tryLock, waitForLock } from './lock-file.ts'

let folder: string
let path: string
const children = new Set<ChildProcess>()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kogu-lock-'))
  path = join(folder, 'a.lock')
})

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
  rmSync(folder, { recursive: true, force: true })
})

const MODULE = JSON.stringify(new URL('./lock-file.ts', import.meta.url).href)

/** Starts a process that runs `code` with the module at hand, and waits for its first line of output. */
async function start(code: string, ...args: string[]): Promise<{ child: ChildProcess; line: string }> {
  const program = `const { tryLock, waitForLock } = await import(${MODULE})\nconst path = process.argv[1]\n${code}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, path, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.add(child)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, line: String(line) }
}

const HOLD = `const lock = tryLock(path); console.log(lock === undefined ? 'refused' : 'held'); setInterval(() => {}, 1000)`

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

test('what killed processes left is swept, and nothing else', async () => {
  const { child } = await start(HOLD)
  const dead = readFileSync(path, 'utf8')
  await kill(child)
  writeFileSync(`${path}.0123456789ab`, dead)
  writeFileSync(join(folder, 'gone.lock'), dead)
  const held = join(folder, 'held.lock')
  tryLock(held)
  writeFileSync(`${held}.0123456789ab`, readFileSync(held))
  // Another process is just writing this one.
  writeFileSync(`${held}.ba9876543210`, '')
  writeFileSync(join(folder, 'notes.txt'), dead)
  sweepLocks(folder)
  expect(readdirSync(folder).sort()).toEqual([
    'held.lock',
    'held.lock.0123456789ab',
    'held.lock.ba9876543210',
    'notes.txt',
  ])
})

describe('one process', () => {
  test('a lock is held once, and can be taken again after its release', () => {
    const first = tryLock(path)
    expect(first).toBeDefined()
    expect(tryLock(path)).toBeUndefined()
    first?.release()
    expect(tryLock(path)).toBeDefined()
  })

  test('releasing twice does not release the lock of the next holder', () => {
    const first = tryLock(path)
    first?.release()
    const second = tryLock(path)
    first?.release()
    expect(tryLock(path)).toBeUndefined()
    second?.release()
    expect(readdirSync(folder)).toEqual([])
  })

  test('waiting gives up after the time that was allowed', async () => {
    tryLock(path)
    expect(await waitForLock(path, 60)).toBeUndefined()
  })

  test('waiting gets the lock once it is released', async () => {
    const first = tryLock(path)
    const waiting = waitForLock(path, 60_000)
    first?.release()
    expect(await waiting).toBeDefined()
  })

  test('a lock in a folder that does not exist is an error, not a refusal', () => {
    expect(() => tryLock(join(folder, 'missing', 'a.lock'))).toThrow(/ENOENT/)
  })
})

describe('locks left behind', () => {
  test('the lock of a process killed with SIGKILL is broken', async () => {
    const { child, line } = await start(HOLD)
    expect(line).toBe('held')
    expect(tryLock(path)).toBeUndefined()
    await kill(child)
    expect(tryLock(path)).toBeDefined()
  })

  test('the lock of a zombie that its parent never collects is broken', async () => {
    // The shell's child takes the lock and dies; exec replaces the shell by a program that never waits for it.
    const program = `const { tryLock } = await import(${MODULE}); tryLock(process.argv[1]); console.log(process.pid)`
    const shell = spawn(
      'sh',
      ['-c', '"$0" --input-type=module -e "$1" "$2" & exec sleep 60', process.execPath, program, path],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    children.add(shell)
    const [pid] = await once(createInterface({ input: shell.stdout }), 'line')
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) Z /)
    expect(tryLock(path)).toBeDefined()
  })

  test('the lock of a pid that was given to another process is broken', () => {
    tryLock(path)
    const [pid, started, ...rest] = readFileSync(path, 'utf8').split(' ')
    writeFileSync(path, [pid, Number(started) - 1, ...rest].join(' '))
    expect(tryLock(path)).toBeDefined()
  })

  test('the lock of an earlier boot is broken even if pid and start time fit', () => {
    tryLock(path)
    const [pid, started, space, number] = readFileSync(path, 'utf8').split(' ')
    writeFileSync(path, [pid, started, `00000000/${space?.split('/')[1]}`, number].join(' '))
    expect(tryLock(path)).toBeDefined()
  })

  test('the lock of a process in another pid namespace is left alone', () => {
    tryLock(path)
    const [, , space] = readFileSync(path, 'utf8').split(' ')
    writeFileSync(path, `999999999 1 ${space?.split('/')[0]}/1 abc`)
    expect(tryLock(path)).toBeUndefined()
  })

  test.each(['', 'garbage', '-1 2 3 4', '99999999999999999999'])(
    'a lock file that says %j is broken',
    content => {
      writeFileSync(path, content)
      expect(tryLock(path)).toBeDefined()
    },
  )

  test('a link in the place of the lock is neither followed nor broken', () => {
    symlinkSync('/dev/zero', path)
    expect(tryLock(path)).toBeUndefined()
  })

  test('a guard left by a process that died while breaking a lock is broken too', () => {
    for (const suffix of ['', '.stale', '.stale.stale']) writeFileSync(`${path}${suffix}`, '1 1 old/1 x')
    expect(tryLock(path)).toBeDefined()
    expect(readdirSync(folder)).toEqual(['a.lock'])
  })
})

describe('several processes', () => {
  test('of many processes that find one stale lock, exactly one gets it, every time', async () => {
    // All look for the start file of each round in a busy loop, so that they really meet.
    const code = `
      import { existsSync, appendFileSync } from 'node:fs'
      const [, , name, rounds] = process.argv
      console.log('ready')
      for (let round = 0; round < Number(rounds); round += 1) {
        while (!existsSync(path + '.go' + round));
        const lock = tryLock(path + round)
        appendFileSync(path + '.won' + round, lock === undefined ? '' : name + ' ')
        appendFileSync(path + '.done' + round, 'x')
      }
      process.stdin.resume()`
    const rounds = 40
    const processes = 4
    for (let round = 0; round < rounds; round += 1) writeFileSync(`${path}${round}`, '1 1 old/1 x')
    await Promise.all(
      Array.from({ length: processes }, (_, index) => start(code, `p${index}`, String(rounds))),
    )
    const winners: string[][] = []
    for (let round = 0; round < rounds; round += 1) {
      writeFileSync(`${path}.go${round}`, '')
      await expect
        .poll(() => sizeOf(`${path}.done${round}`), { interval: 2, timeout: 20_000 })
        .toBe(processes)
      winners.push(readFileSync(`${path}.won${round}`, 'utf8').trim().split(' ').filter(Boolean))
    }
    expect(winners.filter(names => names.length > 1)).toEqual([])
    // Whoever comes while another is breaking is refused; that nobody gets it would need every one to be unlucky.
    expect(winners.filter(names => names.length === 1).length).toBeGreaterThan(rounds / 2)
  })

  test('holders never overlap, even when some of them are killed while they hold it', async () => {
    // The counter is read, and written a moment later: two holders at once would lose a step.
    const counter = join(folder, 'counter')
    writeFileSync(counter, '0')
    const code = `
      import { readFileSync, writeFileSync } from 'node:fs'
      const [, , counter, steps, dies] = process.argv
      console.log('ready')
      for (let step = 0; step < Number(steps); step += 1) {
        const lock = await waitForLock(path, 20_000)
        if (lock === undefined) throw new Error('not granted')
        const value = Number(readFileSync(counter, 'utf8'))
        await new Promise(resolve => setTimeout(resolve, 1))
        writeFileSync(counter, String(value + 1))
        if (dies === 'dies' && step === Number(steps) - 1) process.kill(process.pid, 'SIGKILL')
        lock.release()
      }`
    const started = await Promise.all(
      ['lives', 'dies', 'lives', 'dies', 'lives'].map(fate => start(code, counter, '20', fate)),
    )
    await Promise.all(started.map(({ child }) => child.exitCode ?? child.signalCode ?? once(child, 'exit')))
    expect(readFileSync(counter, 'utf8')).toBe('100')
  })
})

function sizeOf(file: string): number {
  try {
    return readFileSync(file).length
  } catch {
    return 0
  }
}
