import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noSandbox } from '../../../test/support/skips.ts'
import { DEFAULT_SANDBOX_LIMITS, type SandboxProfile } from '../../core/sandbox.ts'
import { createProcesses } from '../processes/processes.ts'
import { detectSandbox } from './detect.ts'
import { createSandbox, type SandboxCommand } from './sandbox.ts'
import { findSandboxSystem } from './system.ts'

const system = findSandboxSystem()
const processes = createProcesses()
const state = { folder: '' }

beforeEach(() => {
  state.folder = mkdtempSync(join(tmpdir(), 'kogu-test-'))
})
afterEach(() => rmSync(state.folder, { recursive: true, force: true }))
afterAll(() => processes.close())

describe.skipIf(noSandbox !== '')(`the sandbox${noSandbox}`, () => {
  async function bash(
    script: string,
    profile: Partial<SandboxProfile> = {},
    command: Partial<SandboxCommand> = {},
  ) {
    if (typeof system === 'string') throw new Error(system)
    const sandbox = createSandbox({ processes, system })
    const output: string[] = []
    const collect = (chunk: Uint8Array): undefined => void output.push(Buffer.from(chunk).toString())
    try {
      const result = await sandbox.run(
        {
          writable: [state.folder],
          readable: [],
          hidden: [],
          protected: [],
          network: 'none',
          unixSockets: false,
          env: { PATH: '/usr/bin:/bin' },
          cwd: state.folder,
          limits: DEFAULT_SANDBOX_LIMITS,
          ...profile,
        },
        {
          file: '/bin/bash',
          args: ['--norc', '--noprofile', '-c', script],
          timeoutMs: 20_000,
          signal: new AbortController().signal,
          onStdout: collect,
          onStderr: collect,
          ...command,
        },
      )
      return { ...result, output: output.join('') }
    } finally {
      sandbox.close()
    }
  }

  test('a command works in its folder and its exit code comes back', async () => {
    expect(await bash('echo hello > file && cat file; exit 3')).toMatchObject({
      output: 'hello\n',
      exitCode: 3,
    })
    expect(readFileSync(join(state.folder, 'file'), 'utf8')).toBe('hello\n')
  })

  test('without a writable folder nothing can be changed, and the workspace is still there', async () => {
    const result = await bash('ls; touch file', { writable: [], readable: [state.folder] })
    expect(result).toMatchObject({ exitCode: 1 })
    expect(result.output).toContain('Read-only file system')
    expect(existsSync(join(state.folder, 'file'))).toBe(false)
  })

  test('the environment is what the profile says, without the loader steering anything', async () => {
    const env = { PATH: '/usr/bin:/bin', A: '1 2', LD_PRELOAD: '/evil.so', LD_AUDIT: '/evil.so' }
    const { output } = await bash('env | sort', { env })
    const names = output.split('\n').map(line => line.split('=')[0])
    expect(names).toEqual(expect.arrayContaining(['A', 'PATH', 'PWD']))
    expect(names.filter(name => name?.startsWith('LD_'))).toEqual([])
  })

  test('the private temp folder is the given one, and is seen as /tmp', async () => {
    const privateTmp = join(state.folder, 'private')
    mkdirSync(privateTmp)
    await bash('echo kept > /tmp/x', { privateTmp })
    expect(readFileSync(join(privateTmp, 'x'), 'utf8')).toBe('kept\n')
    expect(await bash('cat /tmp/x', { privateTmp })).toMatchObject({ output: 'kept\n' })
  })

  test('a hidden path wins over a writable one beneath it, also when it is named through a link', async () => {
    mkdirSync(join(state.folder, 'secrets/open'), { recursive: true })
    writeFileSync(join(state.folder, 'secrets/open/file'), 'secret')
    symlinkSync(join(state.folder, 'secrets'), join(state.folder, 'link'))
    const hidden = [join(state.folder, 'link')]
    const result = await bash('cat secrets/open/file; echo x > secrets/open/file', {
      hidden,
      writable: [state.folder, join(state.folder, 'secrets/open')],
    })
    expect(result.exitCode).not.toBe(0)
    expect(result.output).not.toContain('secret\n')
    expect(readFileSync(join(state.folder, 'secrets/open/file'), 'utf8')).toBe('secret')
  })

  test('the whole file system cannot be made writable', async () => {
    await expect(bash('true', { writable: ['/'] })).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('Unix sockets work when the profile allows them', async () => {
    const script = 'python3 -c "import socket; socket.socket(socket.AF_UNIX); print(1)"'
    expect(await bash(script)).toMatchObject({ exitCode: 1 })
    expect(await bash(script, { unixSockets: true })).toMatchObject({ exitCode: 0, output: '1\n' })
  })

  test.each([false, true])(
    'with a proxy, requests reach it and nothing else is open (unix sockets: %s)',
    async unixSockets => {
      const proxySocket = join(state.folder, 'proxy')
      const asked: string[] = []
      const proxy = createServer((request, response) => {
        asked.push(request.url ?? '')
        response.end('through the proxy')
      })
      await new Promise<void>(resolve => proxy.listen(proxySocket, resolve))
      const profile = { network: { proxySocket }, unixSockets }
      try {
        const first = await bash('curl -sS http://example.com/x; exit 3', profile)
        expect(first).toMatchObject({ output: 'through the proxy', exitCode: 3 })
        expect(asked).toEqual(['http://example.com/x'])
        const direct = await bash('curl -sS --noproxy "*" --max-time 2 http://1.1.1.1', profile)
        expect(direct.exitCode).not.toBe(0)
        const walls =
          'grep -E "CapEff|Seccomp:" /proc/self/status; echo x > /proc/sys/kernel/core_pattern; unshare -Ur true'
        const { output } = await bash(walls, profile)
        expect(output).toMatch(/Seccomp:\s+2/)
        expect(output).toContain('Read-only file system')
        expect(output).toContain('unshare failed')
        const socket = await bash('python3 -c "import socket; socket.socket(socket.AF_UNIX)"', profile)
        expect(socket.exitCode === 0).toBe(unixSockets)
      } finally {
        await new Promise(resolve => proxy.close(resolve))
      }
    },
  )

  test('a command cannot pretend that the sandbox failed and nothing ran', async () => {
    const result = await bash('touch ran; echo "bwrap: Can\'t mount proc on /newroot/proc" >&2; exit 1')
    expect(result).toMatchObject({ exitCode: 1, limit: null })
    expect(existsSync(join(state.folder, 'ran'))).toBe(true)
  })

  test('walls that cannot be put up are an error, and nothing runs', async () => {
    await expect(bash('touch ran', { cwd: '/no/such/folder' })).rejects.toMatchObject({ code: 'failed' })
    expect(existsSync(join(state.folder, 'ran'))).toBe(false)
  })

  test('opening the output by name works inside', async () => {
    expect(await bash('echo hi | tee /dev/stderr > /dev/null')).toMatchObject({ output: 'hi\n' })
  })

  test('the report for the doctor names every wall', async () => {
    const report = await detectSandbox(processes)
    expect(report.available).toBe(true)
    expect(report.walls.map(wall => wall.name)).toEqual([
      'files and network',
      'system calls',
      'number of processes',
      'memory',
    ])
  })

  describe('ends what grows too much', () => {
    const small = { ...DEFAULT_SANDBOX_LIMITS, processes: 64, memoryBytes: 256 * 1024 ** 2 }

    test('a process that takes all memory', async () => {
      const result = await bash('python3 -c "x = bytearray(10**9)"', { limits: small })
      expect(result.exitCode).toBe(1)
      expect(result.output).toContain('MemoryError')
    })

    test('many processes that each take a little memory', async () => {
      const script =
        'for i in 1 2 3 4 5 6; do python3 -c "import time; x = bytearray(10**8); time.sleep(60)" & done; wait'
      expect(await bash(script, { limits: small })).toMatchObject({ limit: 'memory', stopped: false })
    })

    test('a file without end', async () => {
      const limits = { ...DEFAULT_SANDBOX_LIMITS, fileBytes: 1024 ** 2 }
      const result = await bash('head -c 100M /dev/zero > big', { limits })
      expect(result.exitCode).not.toBe(0)
      expect(readFileSync(join(state.folder, 'big')).length).toBe(1024 ** 2)
    })

    test('a tree of sleeping processes, a daemon and a reader of input, by the time limit', async () => {
      const script = '(sleep 60 & sleep 60 & (setsid sleep 60 &)); trap "" TERM; cat; sleep 60'
      expect(await bash(script, {}, { timeoutMs: 300 })).toMatchObject({ timedOut: true })
    })

    test('a flood of output', async () => {
      const seen = { bytes: 0 }
      const result = await bash(
        'yes',
        {},
        {
          onStdout: chunk => {
            seen.bytes += chunk.length
            return seen.bytes < 50_000_000
          },
        },
      )
      expect(result.stopped).toBe(true)
    })
  })
})
