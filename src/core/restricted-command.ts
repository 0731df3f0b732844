const METACHARACTERS = ['&&', '||', ';', '|', '&', '$(', '`', '${', '$', '>', '<', '\n', '\r'] as const

/** Why a line is not one simple command whose program is on the list; undefined when it is. */
export function restrictedProblem(line: string, allowed: readonly string[]): string | undefined {
  const found = METACHARACTERS.find(text => line.includes(text))
  if (found !== undefined) {
    const shown = JSON.stringify(found).slice(1, -1)
    return `Command contains forbidden shell metacharacter '${shown}'. Each command must be a single, simple command without chaining or redirection.`
  }
  const [program = ''] = line.trim().split(/\s+/)
  if (allowed.includes(program)) return undefined
  return `Command '${program}' is not in the allowed command list. Allowed: ${allowed.join(', ')}`
}
