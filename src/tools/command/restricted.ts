import { ToolError } from '../../core/errors.ts'

const METACHARACTERS = ['&&', '||', ';', '|', '&', '$(', '`', '${', '$', '>', '<', '\n', '\r'] as const

/** The restricted profile: a single, simple command whose program is on the list. It is run without a shell. */
export function refuseUnrestricted(line: string, allowed: readonly string[]): void {
  const found = METACHARACTERS.find(text => line.includes(text))
  if (found !== undefined) {
    const shown = JSON.stringify(found).slice(1, -1)
    throw new ToolError(
      'forbidden',
      `Command contains forbidden shell metacharacter '${shown}'. Each command must be a single, simple command without chaining or redirection.`,
    )
  }
  const [program = ''] = line.trim().split(/\s+/)
  if (!allowed.includes(program)) {
    throw new ToolError(
      'forbidden',
      `Command '${program}' is not in the allowed command list. Allowed: ${allowed.join(', ')}`,
    )
  }
}
