import type { Environment } from '../config/environment.ts'
import { createProcesses } from '../sandbox/processes/processes.ts'

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}
/** Openers hand the address over and end. */
const MOST_MS = 5_000

/** `BROWSER`, or what the system opens links with. False: there is none, and the person opens the link themselves. */
export async function openBrowser({ variables }: Environment, link: string): Promise<boolean> {
  const { BROWSER: chosen = '' } = variables
  const [file = '', ...args] = chosen === '' ? (OPENERS[process.platform] ?? ['xdg-open']) : [chosen]
  const processes = createProcesses({ spawner: 'direct' })
  const known = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  try {
    const { exitCode } = await processes.run({
      file,
      args: [...args, link],
      cwd: '/',
      env: Object.fromEntries(known),
      timeoutMs: MOST_MS,
      signal: new AbortController().signal,
      onStdout: () => undefined,
      onStderr: () => undefined,
    })
    return exitCode === 0
  } catch {
    // There is no such program.
    return false
  } finally {
    await processes.close()
  }
}
