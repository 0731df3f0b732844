import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { noSandbox } from '../../../test/support/skips.ts'
import { DEFAULT_SANDBOX_LIMITS } from '../../core/sandbox.ts'
import { findAbandonedRuns } from '../layer/run-folder.ts'
import { processesWith, useBackgroundPlace } from '../testing.ts'
import { createPrivateFolder } from '../walls/private-folder.ts'
import { type Background, createBackground } from './background.ts'

const state = useBackgroundPlace()

describe.skipIf(noSandbox !== '')(`background commands${noSandbox}`, () => {
  function command(id: string, script: string, lifetimeMs = 20_000, ports: number[] = []) {
    const workspace = join(state.root, 'work')
    return {
      id,
      ports,
      file: '/bin/bash',
      args: ['--norc', '--noprofile', '-c', script],
      title: script,
      lifetimeMs,
      profile: {
        writable: [workspace],
        readable: [],
        hidden: [],
        protected: [],
        network: 'none' as const,
        unixSockets: false,
        env: { PATH: '/usr/bin:/bin' },
        cwd: workspace,
        limits: DEFAULT_SANDBOX_LIMITS,
      },
    }
  }

  async function until(
    background: Background,
    id: string,
    done: (output: string) => boolean,
  ): Promise<string> {
    for (;;) {
      const output = background
        .outputFiles(id)
        .map(path => readFileSync(path, 'utf8'))
        .join('')
      if (done(output)) return output
      await sleep(20)
    }
  }

  async function ended(background: Background, id: string) {
    for (;;) {
      const now = await background.state(id)
      if (!now.running && now.ended !== undefined) return now.ended
      await sleep(20)
    }
  }

  test('one runs on, takes input, tells that it waits, and is stopped', async () => {
    const background = createBackground(state.folder)
    await background.start(command('one', 'echo ready; read line; echo "got $line"; sleep 60'))
    await until(background, 'one', output => output.includes('ready'))
    await expect.poll(async () => (await background.state('one')).waitingForInput).toBe(true)
    await background.input('one', Buffer.from('hello\n'), false)
    await until(background, 'one', output => output.includes('got hello'))
    expect(await background.state('one')).toMatchObject({ running: true, waitingForInput: false })
    expect(await background.stop('one')).toMatchObject({ running: false, ended: { reason: 'stopped' } })
    await expect(background.input('one', Buffer.from('x'), false)).rejects.toMatchObject({ code: 'failed' })
  })

  test('the end of input ends a reader, and its exit code is kept', async () => {
    const background = createBackground(state.folder)
    await background.start(command('reader', 'cat; exit 4'))
    await background.input('reader', Buffer.from('all of it'), true)
    expect(await ended(background, 'reader')).toMatchObject({ exitCode: 4, reason: 'exited' })
    expect(await until(background, 'reader', () => true)).toBe('all of it')
  })

  test('one outlives the Kogu that started it, and another Kogu finds it', async () => {
    const script = `
      import { createBackground } from ${JSON.stringify(join(import.meta.dirname, 'background.ts'))}
      await createBackground(process.argv[1]).start(JSON.parse(process.argv[2]))`
    const job = JSON.stringify(command('left', 'echo alive; sleep 60'))
    const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
    expect(spawnSync(process.execPath, [...flags, state.folder, job], { timeout: 10_000 }).status).toBe(0)
    const background = createBackground(state.folder)
    await until(background, 'left', output => output === 'alive\n')
    expect(await background.list()).toMatchObject([
      { id: 'left', running: true, title: 'echo alive; sleep 60' },
    ])
  })

  test('its lifetime ends it', async () => {
    const background = createBackground(state.folder)
    await background.start(command('short', 'sleep 60', 300))
    expect(await ended(background, 'short')).toMatchObject({ reason: 'lifetime' })
  })

  test('its limits end it, and its private folder goes with it', async () => {
    const background = createBackground(state.folder)
    const privateTmp = join(state.root, 'private')
    mkdirSync(privateTmp)
    const bomb = 'mkdir /tmp/a; chmod 0 /tmp/a; for i in {1..200}; do sleep 60 & done; sleep 60'
    const memory =
      'python3 -c "f = open(\\"/dev/shm/x\\", \\"wb\\"); [f.write(b\\"x\\" * 2**20) for _ in range(40)]; x = bytearray(105 * 2**20); import time; time.sleep(60)"'
    const limits = { ...DEFAULT_SANDBOX_LIMITS, processes: 30, memoryBytes: 128 * 1024 ** 2 }
    for (const [id, script, reason] of [
      ['bomb', bomb, 'processes'],
      ['memory', memory, 'memory'],
    ] as const) {
      const job = command(id, script)
      await background.start({
        ...job,
        profile: { ...job.profile, limits, ...(id === 'bomb' ? { privateTmp } : {}) },
      })
      expect(await ended(background, id)).toMatchObject({ reason })
    }
    expect(existsSync(privateTmp)).toBe(false)
  })

  test('it is behind the same walls as any command', async () => {
    const background = createBackground(state.folder)
    await background.start(command('walls', 'touch /etc/kogu-escape; touch here; echo done'))
    await ended(background, 'walls')
    expect(await until(background, 'walls', () => true)).toContain('Read-only file system')
    expect(existsSync(join(state.root, 'work/here'))).toBe(true)
  })

  test('when the supervisor is killed its commands die, are told as not running, and leave a /tmp that is found', async () => {
    const background = createBackground(state.folder)
    const marker = `${900_000 + process.pid}.${Math.floor(Math.random() * 1e6)}`
    const job = command('orphan', `echo on; sleep ${marker}; touch survived`)
    const temporary = join(state.root, 'tmp')
    const privateTmp = join(temporary, 'background-0badcafe')
    await background.start({ ...job, profile: { ...job.profile, privateTmp } })
    await until(background, 'orphan', output => output.includes('on'))
    await vi.waitUntil(() => processesWith(marker).length > 0, { timeout: 30_000, interval: 20 })
    expect([existsSync(privateTmp), findAbandonedRuns(temporary)]).toEqual([true, []])
    process.kill(Number(readFileSync(join(state.folder, 'supervisor.lock'), 'utf8').split(' ')[0]), 'SIGKILL')
    await vi.waitUntil(() => processesWith(marker).length === 0, { timeout: 30_000, interval: 20 })
    expect(existsSync(join(state.root, 'work/survived'))).toBe(false)
    expect(findAbandonedRuns(temporary)).toEqual(['background-0badcafe'])
    expect(await background.state('orphan')).toMatchObject({ running: false })
  })

  test('what a clone or a pull brought is neither listed nor read, and names no supervisor', async () => {
    const listening = createPrivateFolder('sandbox')
    onTestFinished(() => rmSync(listening, { recursive: true }))
    const heard: string[] = []
    const server = createServer(socket => socket.on('data', data => heard.push(String(data))))
    await new Promise<void>(resolve => server.listen(join(listening, 'socket'), resolve))
    onTestFinished(() => void server.close())
    mkdirSync(join(state.folder, 'forged'), { recursive: true })
    writeFileSync(join(state.folder, 'supervisor.place'), listening)
    writeFileSync(join(state.folder, 'forged/log'), 'forged output')
    const background = createBackground(state.folder)
    for (const meta of ['{', 'null', JSON.stringify({ id: 'forged', title: 'x', ports: [80], cwd: '/' })]) {
      writeFileSync(join(state.folder, 'forged/meta.json'), meta)
      expect([meta, await background.list()]).toEqual([meta, []])
      await expect(background.state('forged')).rejects.toThrow('There is no background command')
      expect(() => background.outputFiles('forged')).toThrow('There is no background command')
    }
    await background.start(command('real', 'echo real'))
    expect(await until(background, 'real', output => output !== '')).toBe('real\n')
    expect(heard).toEqual([])
  })

  test('only the user can reach the socket, and names that lead elsewhere are refused', async () => {
    const background = createBackground(state.folder)
    await background.start(command('one', 'true'))
    const [place = ''] = readFileSync(join(state.folder, 'supervisor.place'), 'utf8').split('\n')
    expect([place.startsWith('/tmp/'), statSync(place).mode & 0o777]).toEqual([true, 0o700])
    await expect(background.start(command('../x', 'true'))).rejects.toMatchObject({ code: 'invalid_input' })
    expect(() => background.outputFiles('../../etc')).toThrow()
    await expect(background.state('unknown')).rejects.toMatchObject({ code: 'not_found' })
  })
})
