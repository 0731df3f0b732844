import type { LoadedConfig } from '../config/load.ts'
import { createProcesses } from '../sandbox/processes/processes.ts'
import type { CommandContext } from './command.ts'

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
  { environment, output }: CommandContext,
  { config }: LoadedConfig,
): (notice: Notice) => void {
  const { command, webhook } = config.notify
  const complain = (what: string) => (error: unknown) =>
    output.problem(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  return notice => {
    const [file, ...args] = command
    if (file !== undefined) {
      const given = { KOGU_QUESTION: notice.id, KOGU_TOOL: notice.tool, KOGU_RISK: notice.risk }
      runCommand(file, args, { ...environment.variables, ...given, KOGU_LINK: notice.link }).catch(
        complain('The command of [notify] failed'),
      )
    }
    if (webhook !== undefined) post(webhook, notice).catch(complain('The webhook of [notify] failed'))
  }
}

async function runCommand(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const processes = createProcesses({ spawner: 'direct' })
  const known = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  try {
    const { exitCode } = await processes.run({
      file,
      args,
      cwd: '/',
      env: Object.fromEntries(known),
      timeoutMs: MOST_MS,
      signal: new AbortController().signal,
      onStdout: () => undefined,
      onStderr: () => undefined,
    })
    if (exitCode !== 0) throw new Error(`it ended with ${exitCode ?? 'a signal'}`)
  } finally {
    await processes.close()
  }
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
