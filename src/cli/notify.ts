import type { Environment } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import { type OutsideProgram, outsideContext, prepareOutside } from '../sandbox/outside-program.ts'
import type { Output } from './output.ts'
import { runProgram } from './run-program.ts'

/** What is said about a question: never its input, which may hold anything. */
export interface Notice {
  readonly id: string
  readonly tool: string
  readonly risk: string
  /** Signs a browser in, once, and leads to the question. */
  readonly link: string
}

const MOST_MS = 10_000

/** Runs the person's own command and calls their webhook. What goes wrong is said, and holds nothing up. */
export function createNotifier(
  { environment, output }: { environment: Environment; output: Pick<Output, 'problem'> },
  { config, workspace }: LoadedConfig,
): (notice: Notice) => void {
  const { command, webhook } = config.notify
  const complain = (what: string) => (error: unknown) =>
    output.problem(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  return notice => {
    if (command.length > 0) {
      const given = { KOGU_QUESTION: notice.id, KOGU_TOOL: notice.tool, KOGU_RISK: notice.risk }
      // It gets a link that can approve: refused where an agent could have written it.
      const run = async () =>
        runCommand(prepareOutside(command, outsideContext(workspace.root, environment)), {
          ...given,
          KOGU_LINK: notice.link,
        })
      run().catch(complain('The command of [notify] failed'))
    }
    if (webhook !== undefined) post(webhook, notice).catch(complain('The webhook of [notify] failed'))
  }
}

async function runCommand(
  { file, args, env }: OutsideProgram,
  given: Readonly<Record<string, string>>,
): Promise<void> {
  const exitCode = await runProgram(file, args, { variables: { ...env, ...given }, timeoutMs: MOST_MS })
  if (exitCode !== 0) throw new Error(`it ended with ${exitCode ?? 'a signal'}`)
}

async function post(url: string, notice: Notice): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(notice),
    redirect: 'error',
    signal: AbortSignal.timeout(MOST_MS),
  })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`it answered ${response.status}`)
}
