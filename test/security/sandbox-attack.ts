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

/** How the commands are run. */
export const WAYS = ['plainly', 'on a layer', 'with a proxy'] as const
export type Way = (typeof WAYS)[number]

const PLACES = [
  '/etc/kogu-escape',
  '/usr/bin/kogu-escape',
  '/kogu-escape',
  '/tmp/kogu-escape',
  '/dev/shm/kogu-escape',
]

/** Tries every way out, as the user who runs this process. */
export async function attack(way: Way): Promise<AttackReport> {
  const onLayer = way === 'on a layer'
  const attempts = ATTEMPTS.filter(({ group }) => matters(group, way))
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
      const { workspace } = host
      const profile =
        way === 'with a proxy'
          ? { ...host.profile, network: { proxySocket: host.proxySocket } }
          : host.profile
      if (onLayer) {
        const folder = join(workspace, '.kogu/layer')
        const run = await runOnOverlay(sandbox, processes, { workspace, folder, profile, command })
        run.discard()
      } else {
        await sandbox.run(profile, command)
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

/**
 * Not all of them every time: only the walls that are put up differently. On a layer, what is done to git and to Kogu's
 * files is judged when it is brought over.
 */
function matters(group: string, way: Way): boolean {
  switch (way) {
    case 'plainly':
      return true
    case 'on a layer':
      return ['write outside', 'change the walls', 'read what is hidden'].includes(group)
    case 'with a proxy':
      return group === 'network' || group === 'change the walls'
  }
}

if (import.meta.main)
  process.stdout.write(JSON.stringify(await attack(WAYS[Number(process.argv[2])] ?? 'plainly')))
