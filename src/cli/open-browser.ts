import type { Environment } from '../config/environment.ts'
import { runProgram } from './run-program.ts'

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
  // There may be no such program.
  return (await runProgram(file, [...args, link], { variables, timeoutMs: MOST_MS }).catch(() => null)) === 0
}
