import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noSandbox } from '../../../test/support/skips.ts'
import { DEFAULT_SANDBOX_LIMITS, type SandboxLimits } from '../../core/sandbox.ts'
import { createProcesses } from '../processes/processes.ts'
import { ownGroups } from '../testing.ts'
import { createSandbox, type SandboxCommand } from './sandbox.ts'
import { findSandboxSystem } from './system.ts'

// Every bomb here has an end of its own: a wall that fails must not take the machine with it.
const system = findSandboxSystem()
const small: SandboxLimits = { ...DEFAULT_SANDBOX_LIMITS, processes: 60, memoryBytes: 256 * 1024 ** 2 }
const state = { folder: '' }
beforeAll(() => {
  state.folder = mkdtempSync(join(tmpdir(), 'kogu-bombs-'))
})
afterAll(() => rmSync(state.folder, { recursive: true, force: true }))

/** Tells how many it could start, and stays. */
const FORKS = `
import os, time
made = 0
try:
    for _ in range(300):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        made += 1
finally:
    print(made, flush=True)
    time.sleep(60)
`

/** Writes to so many sockets until none takes more, and tells how many bytes they took. */
const FILL_SOCKETS = `
import socket
kept = []
def fill(count, size=0, address=None):
    sent = 0
    for _ in range(count):
        if address is None:
            pair = socket.socketpair()
        else:
            pair = (socket.create_connection(address), listen.accept()[0])
        kept.append(pair)
        for end in pair:
            if size: end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
            if size: end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
            end.setblocking(False)
            try:
                while True: sent += end.send(M)
            except BlockingIOError: pass
    return sent
`

for (const spawner of ['helper', 'direct'] as const) {
  describe.skipIf(noSandbox !== '')(`bombs, started by the ${spawner} spawner${noSandbox}`, () => {
    const processes = createProcesses({ spawner })
    afterAll(() => processes.close())

    async function python(
      script: string,
      options: Partial<SandboxCommand> & { limits?: SandboxLimits } = {},
      startedBy = processes,
    ) {
      if (typeof system === 'string') throw new Error(system)
      const sandbox = createSandbox({ processes: startedBy, system })
      const output: string[] = []
      const collect = (chunk: Uint8Array): undefined => void output.push(Buffer.from(chunk).toString())
      const { limits = small, ...command } = options
      try {
        const result = await sandbox.run(
          {
            ...{ writable: [], readable: [], hidden: [], protected: [], network: 'none', unixSockets: false },
            ...{ env: { PATH: '/usr/bin:/bin' }, cwd: '/', limits },
          },
          {
            ...{ file: '/usr/bin/python3', args: ['-c', script], timeoutMs: 15_000 },
            ...{ signal: new AbortController().signal, onStdout: collect, onStderr: collect, ...command },
          },
        )
        return { ...result, output: output.join('') }
      } finally {
        sandbox.close()
      }
    }

    test('a command that starts too many processes is killed at once', async () => {
      const result = await python(FORKS)
      expect(result).toMatchObject({ limit: 'processes', timedOut: false, stopped: false })
    })

    test('the kernel lets no command have more processes than its own limit', async context => {
      if (!processes.keeps('processes')) return context.skip('no control group can be made here')
      const results = await Promise.all([
        python(FORKS),
        python(FORKS, { limits: { ...small, processes: 20 } }),
        python('print("quiet")'),
      ])
      expect(results.map(result => result.limit)).toEqual(['processes', 'processes', null])
      // One of them is the command itself.
      expect(Number.parseInt(results[0].output, 10)).toBe(59)
      expect(Number.parseInt(results[1].output, 10)).toBe(19)
    })

    test('a limit that was reached counts also when the command ended before anybody looked', async context => {
      if (!processes.keeps('processes')) return context.skip('no control group can be made here')
      const script =
        'import os\ntry:\n  for _ in range(100):\n    if os.fork() == 0: os.read(0, 1); os._exit(0)\nexcept OSError: os._exit(0)'
      expect((await python(script, { limits: { ...small, processes: 5 } })).limit).toBe('processes')
    })

    test.each([
      ['a file in memory without a name', 'f = os.memfd_create("x")\nfor _ in range(700): os.write(f, M)'],
      ['shared memory', 'f = open("/dev/shm/x", "wb")\nfor _ in range(700): f.write(M)'],
      [
        'memory and shared memory together',
        'f = open("/dev/shm/x", "wb")\nfor _ in range(100): f.write(M)\nx = bytearray(200 * 2**20)',
      ],
      [
        'memory that processes share',
        'm = mmap.mmap(-1, 700 * 2**20)\nfor i in range(700): m[i * 2**20:(i + 1) * 2**20] = M',
      ],
      [
        'segments of System V',
        'c = ctypes.CDLL(None)\nc.shmat.restype = ctypes.c_void_p\nfor _ in range(70):\n  i = c.shmget(0, 10 * 2**20, 0o1600)\n  assert i >= 0\n  a = c.shmat(i, None, 0); ctypes.memset(a, 1, 10 * 2**20); c.shmdt(ctypes.c_void_p(a))',
      ],
      ['large buffers of sockets', `${FILL_SOCKETS}\nassert fill(90, 4 * 2**20) > 256 * 2**20`],
      [
        'buffers of many sockets',
        `${FILL_SOCKETS}\nfor _ in range(3):\n  if os.fork() == 0: fill(450); time.sleep(60); os._exit(0)\nfill(450)`,
      ],
      [
        'buffers of connections',
        `${FILL_SOCKETS}\nlisten = socket.create_server(("127.0.0.1", 0))\nassert fill(150, 0, listen.getsockname()) > 256 * 2**20`,
      ],
    ])('no more memory than allowed is held as %s', async (_, body) => {
      const script = `import ctypes, mmap, os, time\nM = b"x" * 2**20\n${body}\ntime.sleep(60)\nprint("held")`
      const result = await python(script)
      expect(result.output).not.toContain('held')
      // Either ended by the limit, or refused what it asked for.
      expect([result.limit, result.exitCode]).toSatisfy(
        ([limit, exitCode]) => limit === 'memory' || (limit === null && exitCode === 1),
      )
    })

    test('a program may use the shared memory that fits', async () => {
      const script =
        'import os\nopen("/dev/shm/x", "wb").write(b"x" * 50 * 2**20)\nprint(os.path.getsize("/dev/shm/x"))'
      expect(await python(script)).toMatchObject({ limit: null, output: `${50 * 2 ** 20}\n` })
    })

    test('nothing is left of the control groups', async context => {
      const before = ownGroups()
      const other = createProcesses({ spawner })
      await python('print(1)', {}, other)
      const made = ownGroups().filter(path => !before.includes(path))
      await other.close()
      if (made.length === 0) return context.skip('no control group can be made here')
      await expect.poll(() => made.filter(path => existsSync(path)), { timeout: 5_000 }).toEqual([])
    })
  })
}
