import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runOnOverlay } from '../../src/sandbox/layer/overlay.ts'
import { createProcesses } from '../../src/sandbox/processes/processes.ts'
import { createSandbox } from '../../src/sandbox/walls/sandbox.ts'
import { findSandboxSystem } from '../../src/sandbox/walls/system.ts'
import { ATTEMPTS, type Attempt } from './sandbox-attempts.ts'
import { createHost, type Host } from './sandbox-host.ts'

export interface AttackReport {
  attempted: number
  /** What got out, and how it was noticed. */
  escaped: string[]
}

/** How the commands are run. */
export const WAYS = ['plainly', 'on a layer', 'with a proxy', 'with ports'] as const
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
  const attempts = ATTEMPTS.filter(({ group }) => matters(group, way))
  const host = await createHost()
  const run = createRunner(host, way)
  const escaped: string[] = []
  try {
    const before = host.fingerprint()
    for (const [name, script] of toScripts(attempts, way)) {
      const output = await run.bash(script)
      const lines = output.split('\n')
      // In a group, the line before names the attempt.
      for (const [index, line] of lines.entries()) {
        if (line.endsWith('ESCAPED')) escaped.push(`${name}: says so after ${lines[index - 1] ?? 'nothing'}`)
      }
      if (host.fingerprint() !== before) escaped.push(`${name}: files changed`)
      escaped.push(...strangersIn(host.ports.opened.folder).map(entry => `${name}: ${entry} among the ports`))
      for (const place of PLACES) if (existsSync(place)) escaped.push(`${name}: ${place}`)
    }
    await sleep(way === 'plainly' ? 1_200 : 0)
    if (existsSync(join(host.workspace, 'survived'))) escaped.push('a process survived')
    return { attempted: attempts.length, escaped }
  } finally {
    await run.close()
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
      return group !== 'ports'
    case 'on a layer':
      return ['write outside', 'change the walls', 'read what is hidden'].includes(group)
    case 'with a proxy':
      return ['network', 'change the walls', 'the relay'].includes(group)
    case 'with ports':
      return ['change the walls', 'the relay', 'ports'].includes(group)
  }
}

/** What Kogu would connect to, or be led to, when somebody uses an opened port. */
function strangersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(entry => !entry.isSocket())
    .map(entry => entry.name)
}

/** Each in a sandbox of its own; where that takes long to start, all of a group in one, each in its own shell. */
function toScripts(attempts: readonly Attempt[], way: Way): [name: string, script: string][] {
  if (way === 'plainly') return attempts.map(({ group, name, script }) => [`${group}, ${name}`, script])
  const groups = new Set(attempts.map(({ group }) => group))
  return [...groups].map(group => {
    const own = attempts.filter(attempt => attempt.group === group)
    const lines = own.map(
      ({ name, script }) => `echo ${quote(name)}; bash --norc --noprofile -c ${quote(script)}`,
    )
    return [group, lines.join('\n')]
  })
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function createRunner(host: Host, way: Way) {
  const system = findSandboxSystem()
  if (typeof system === 'string') throw new Error(system)
  const processes = createProcesses()
  const sandbox = createSandbox({ processes, system })
  const { workspace, proxySocket } = host
  const profile = {
    ...host.profile,
    ...(way === 'with a proxy' ? { network: { proxySocket } } : {}),
    // As for every approved command: else nobody could try to use the sockets of ports.
    ...(way === 'with ports' ? { unixSockets: true } : {}),
  }
  return {
    async bash(script: string): Promise<string> {
      const output: string[] = []
      const command = {
        file: '/bin/bash',
        args: ['--norc', '--noprofile', '-c', script],
        timeoutMs: 30_000,
        signal: new AbortController().signal,
        ...(way === 'with ports' ? { ports: host.ports } : {}),
        onStdout: (chunk: Uint8Array) => void output.push(Buffer.from(chunk).toString()),
      }
      if (way !== 'on a layer') {
        await sandbox.run(profile, command)
        return output.join('')
      }
      const folder = join(workspace, '.kogu/layer')
      const layer = await runOnOverlay(sandbox, processes, { workspace, folder, profile, command })
      layer.discard()
      return output.join('')
    },
    async close(): Promise<void> {
      sandbox.close()
      await processes.close()
    },
  }
}

if (import.meta.main) {
  process.stdout.write(JSON.stringify(await attack(WAYS[Number(process.argv[2])] ?? 'plainly')))
}
