import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runOnOverlay } from '../../src/sandbox/overlay.ts'
import { createProcesses } from '../../src/sandbox/processes.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { findSandboxSystem } from '../../src/sandbox/system.ts'
import { ATTEMPTS } from './sandbox-attempts.ts'
import { createHost } from './sandbox-host.ts'

export interface AttackReport {
  attempted: number
  /** `group: name`, and how it was noticed. */
  escaped: string[]
}

const PLACES = [
  '/etc/kogu-escape',
  '/usr/bin/kogu-escape',
  '/kogu-escape',
  '/tmp/kogu-escape',
  '/dev/shm/kogu-escape',
]

/**
 * Tries every way out, as the user who runs this process. On a layer, what is done to git and to Kogu's files is judged
 * only when it is brought over, so those attempts are left out.
 */
export async function attack({ onLayer }: { onLayer: boolean }): Promise<AttackReport> {
  const attempts = ATTEMPTS.filter(({ group }) => !onLayer || group !== 'git and Kogu')
  const system = findSandboxSystem()
  if (typeof system === 'string') throw new Error(system)
  const host = await createHost()
  const processes = createProcesses()
  const sandbox = createSandbox({ processes, system })
  const escaped: string[] = []
  try {
    const before = host.fingerprint()
    for (const { group, name, script } of attempts) {
      const output: string[] = []
      const command = {
        file: '/bin/bash',
        args: ['--norc', '--noprofile', '-c', script],
        timeoutMs: 10_000,
        signal: new AbortController().signal,
        onStdout: (chunk: Uint8Array) => void output.push(Buffer.from(chunk).toString()),
      }
      if (onLayer) {
        const { workspace, profile } = host
        const folder = join(workspace, '.kogu/layer')
        const run = await runOnOverlay(sandbox, processes, { workspace, folder, profile, command })
        run.discard()
      } else {
        await sandbox.run(host.profile, command)
      }
      if (output.join('').includes('ESCAPED')) escaped.push(`${group}: ${name} (says so)`)
      if (host.fingerprint() !== before) escaped.push(`${group}: ${name} (files changed)`)
      for (const place of PLACES) if (existsSync(place)) escaped.push(`${group}: ${name} (${place})`)
    }
    await sleep(1_200)
    if (existsSync(join(host.workspace, 'survived'))) escaped.push('a process survived')
    return { attempted: attempts.length, escaped }
  } finally {
    sandbox.close()
    await processes.close()
    await host.close()
  }
}

if (import.meta.main)
  process.stdout.write(JSON.stringify(await attack({ onLayer: process.argv.includes('--layer') })))
