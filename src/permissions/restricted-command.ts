import { namesProgram } from './commands/embedded-commands.ts'
import type { CommandAnalysis } from './commands/types.ts'

const METACHARACTERS = ['&&', '||', ';', '|', '&', '$(', '`', '${', '$', '>', '<', '\n', '\r'] as const

/** Why a line is not one simple command that starts only programs of the list; undefined when it is. */
export function restrictedProblem(analysis: CommandAnalysis, allowed: readonly string[]): string | undefined {
  const { line, commands, unread, startsUnknown } = analysis
  const found = METACHARACTERS.find(text => line.includes(text))
  if (found !== undefined) {
    const shown = JSON.stringify(found).slice(1, -1)
    return `Command contains forbidden shell metacharacter '${shown}'. Each command must be a single, simple command without chaining or redirection.`
  }
  const [first = ''] = line.trim().split(/\s+/)
  // `find -exec node`, `env node`: what the program starts has to be on the list too.
  const started = commands.map(({ program, argv }) => program ?? argv[0]?.raw ?? '')
  const other = [first, ...started].find(program => !allowed.includes(program))
  if (other !== undefined)
    return `Command '${other}' is not in the allowed command list. Allowed: ${allowed.join(', ')}`
  if (!unread && !startsUnknown && !commands.some(namesProgram)) return undefined
  return `Command '${first}' may start another program here, and Kogu cannot tell that it is in the allowed command list. Allowed: ${allowed.join(', ')}`
}
