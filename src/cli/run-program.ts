import { createProcesses } from '../sandbox/processes/processes.ts'

/** Runs a program outside the walls, with the person's rights. Its exit code, or null when a signal ended it. */
export async function runProgram(
  file: string,
  args: readonly string[],
  { variables, timeoutMs }: { variables: Readonly<Record<string, string | undefined>>; timeoutMs: number },
): Promise<number | null> {
  const processes = createProcesses({ spawner: 'direct' })
  const known = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  try {
    const { exitCode } = await processes.run({
      ...{ file, args, cwd: '/', env: Object.fromEntries(known), timeoutMs },
      signal: new AbortController().signal,
      onStdout: () => undefined,
      onStderr: () => undefined,
    })
    return exitCode
  } finally {
    await processes.close()
  }
}
