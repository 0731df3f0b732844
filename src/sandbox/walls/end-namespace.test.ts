import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { noSandbox } from '../../../test/support/skips.ts'
import { endNamespace } from './end-namespace.ts'
import { findSandboxSystem } from './system.ts'

const system = findSandboxSystem()

/** Bubblewrap without the option that ends all with it, as if a command had undone that. */
async function startOrphan(mark: string): Promise<string> {
  if (typeof system === 'string') throw new Error(system)
  const folder = mkdtempSync(join(tmpdir(), 'kogu-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const status = join(folder, 'status')
  const started = join(folder, 'started')
  // The shell ends when its child is there.
  const script = `/bin/sh -c 'echo > ${started}; sleep 600; :' ${mark} > /dev/null 2>&1 & until [ -s ${started} ]; do :; done`
  const own = system.privileged ? ['--unshare-pid'] : ['--unshare-all']
  const words = [...own, '--dev-bind', '/', '/', '--json-status-fd', '3', '--', '/bin/sh', '-c', script]
  const child = spawn('/bin/sh', ['-c', `exec "$0" "$@" 3> ${status}`, system.bubblewrap, ...words])
  await new Promise(resolve => child.on('exit', resolve))
  return readFileSync(status, 'utf8')
}

function alive(mark: string): number {
  return readdirSync('/proc').filter(name => commandOf(name).includes(mark)).length
}

function commandOf(name: string): string[] {
  try {
    return /^\d+$/.test(name) ? readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0') : []
  } catch {
    return []
  }
}

test.skipIf(noSandbox !== '')(`an orphan is gone when its namespace was ended${noSandbox}`, async () => {
  const mark = `orphan-${process.pid}`
  const status = await startOrphan(mark)
  // Two for a moment: the shell is copied before the copy becomes `sleep`.
  expect(alive(mark)).toBeGreaterThanOrEqual(1)
  await endNamespace(status)
  expect(alive(mark)).toBe(0)
  // It may be asked again: the process is gone.
  await endNamespace(status)
})

test.skipIf(noSandbox !== '')(
  `another process with the number of one that ended lives on${noSandbox}`,
  async () => {
    const other = spawn('/bin/sleep', ['600'])
    onTestFinished(() => void other.kill('SIGKILL'))
    await endNamespace(`{ "child-pid": ${other.pid}, "pid-namespace": 1 }`)
    expect(other.exitCode).toBe(null)
    expect(other.signalCode).toBe(null)
    expect(() => process.kill(other.pid ?? 0, 0)).not.toThrow()
  },
)

test('a status without a process says that nothing ran', async () => {
  await expect(endNamespace('')).resolves.toBeUndefined()
})
