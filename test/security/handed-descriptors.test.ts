import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { DEFAULT_SANDBOX_LIMITS, type SandboxProfile } from '../../src/core/sandbox.ts'
import { runOnOverlay } from '../../src/sandbox/layer/overlay.ts'
import { commitOverlay } from '../../src/sandbox/layer/overlay-commit.ts'
import { createProcesses } from '../../src/sandbox/processes/processes.ts'
import { createSandbox } from '../../src/sandbox/walls/sandbox.ts'
import { findSandboxSystem } from '../../src/sandbox/walls/system.ts'
import { noSandbox } from '../support/skips.ts'

// Two commands that share a cache share the Unix sockets in it, and with those every descriptor that one hands to the
// other. The one that lives on must not be able to change what the other left in the workspace (issue 10).

/** Takes a descriptor, and writes to it as soon as the file `go` is there. */
const KEEPER = `
import os, socket, time
s = socket.socket(socket.AF_UNIX); s.bind('/shared/s'); s.listen(1); print('ready', flush=True)
c, _ = s.accept(); _, fds, _, _ = socket.recv_fds(c, 10, 2)
print('got', flush=True)
while not os.path.exists('/shared/go'): time.sleep(0.01)
os.pwrite(fds[0], b'OWNED!', 0)
try: open('evil', 'w', opener=lambda p, f: os.open(p, f, dir_fd=fds[1])).close()
except OSError: pass
print('done', flush=True)
`
const GIVER = `
import os, socket
f = os.open('file', os.O_RDWR); d = os.open('.', os.O_RDONLY)
os.pwrite(f, b'judged', 0)
s = socket.socket(socket.AF_UNIX); s.connect('/shared/s'); socket.send_fds(s, [b'x'], [f, d]); pass
`

test.skipIf(noSandbox !== '')(
  `a handed descriptor does not reach what was brought over${noSandbox}`,
  async () => {
    const system = findSandboxSystem()
    if (typeof system === 'string') throw new Error(system)
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-test-')))
    const workspace = join(root, 'work')
    const shared = join(root, 'shared')
    for (const folder of [join(workspace, '.kogu'), shared]) mkdirSync(folder, { recursive: true })
    writeFileSync(join(workspace, 'file'), 'before')
    const processes = createProcesses()
    const sandbox = createSandbox({ processes, system })
    const stop = new AbortController()
    onTestFinished(async () => {
      stop.abort()
      sandbox.close()
      await processes.close()
      rmSync(root, { recursive: true, force: true })
    })
    const profile: SandboxProfile = {
      writable: [workspace, shared],
      readable: [],
      hidden: [],
      protected: [],
      network: 'none',
      unixSockets: true,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      cwd: workspace,
      limits: DEFAULT_SANDBOX_LIMITS,
    }
    const said: string[] = []
    const python = (script: string) => ({
      file: '/usr/bin/env',
      args: ['python3', '-c', script.replaceAll('/shared', shared)],
      timeoutMs: 30_000,
      signal: stop.signal,
      onStdout: (chunk: Uint8Array) => void said.push(Buffer.from(chunk).toString()),
    })
    const until = async (word: string): Promise<void> => {
      while (!said.join('').includes(word)) await sleep(5)
    }
    const keeper = sandbox.run({ ...profile, writable: [shared], cwd: shared }, python(KEEPER))
    await until('ready')
    const given = runOnOverlay(sandbox, processes, {
      workspace,
      folder: join(workspace, '.kogu/layer'),
      profile,
      command: { ...python(GIVER), timeoutMs: 3000 },
      isAlone: async () => false,
    })
    await until('got')
    const { changes } = await given
    await commitOverlay(changes, { refusal: () => null, keep: async () => {}, committed: async () => {} })
    writeFileSync(join(shared, 'go'), '')
    await until('done')
    expect(readFileSync(join(workspace, 'file'), 'utf8')).toBe('judged')
    stop.abort()
    await keeper
  },
)
