import type { Environment } from '../config/environment.ts'
import { outsideContext, prepareOutside } from '../sandbox/outside-program.ts'
import { runProgram } from './run-program.ts'

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}
/** Openers hand the address over and end. */
const MOST_MS = 5_000

/**
 * `BROWSER`, or what the system opens links with. False: there is none that may have the link, and the person opens it
 * themselves. The link signs in, so no program of that name in a `bin` of the workspace gets it.
 */
export async function openBrowser(
  environment: Environment,
  workspace: string,
  link: string,
): Promise<boolean> {
  const { variables } = environment
  const { BROWSER: chosen = '' } = variables
  const [program = '', ...args] = chosen === '' ? (OPENERS[process.platform] ?? ['xdg-open']) : [chosen]
  const find = (): string => prepareOutside([program], outsideContext(workspace, environment)).file
  try {
    const file = program.includes('/') ? program : find()
    return (await runProgram(file, [...args, link], { variables, timeoutMs: MOST_MS })) === 0
  } catch {
    // There may be no such program.
    return false
  }
}
