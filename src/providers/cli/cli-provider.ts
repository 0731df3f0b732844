import { PRIORITY, type Provider } from '../../core/provider.ts'
import type { AnyTool } from '../../core/tool.ts'
import { jqTool, programTool } from './program-tool.ts'

export interface CliProviderOptions {
  /** `[tools.cli.aliases]`: tool name → program. */
  readonly aliases: Readonly<Record<string, string>>
  /** Full path of a program where nobody but the person can put one; undefined: it is not installed. */
  findProgram(name: string): string | undefined
  /** The built-in search on another ripgrep. */
  searchWith(ripgrep: string): AnyTool
  /** Names of the built-in tools. */
  readonly builtin: ReadonlySet<string>
}

/** Names of the same program on other systems. */
const OTHER_NAMES: Readonly<Record<string, string>> = { fd: 'fdfind', bat: 'batcat', rg: 'ripgrep' }

/**
 * Programs of this machine as tools. It takes the place of a built-in tool only where an alias asks for it and nothing is
 * lost: of the usual programs only ripgrep does all that the built-in search does.
 */
export function createCliProvider(options: CliProviderOptions): Provider {
  return {
    id: 'cli',
    displayName: 'Programs of this machine',
    priority: PRIORITY.cli,
    start(_signal, onTools) {
      const { tools, problems } = toTools(options)
      onTools(tools, problems)
    },
    close: () => undefined,
  }
}

function toTools(options: CliProviderOptions): { tools: AnyTool[]; problems: string[] } {
  const tools: AnyTool[] = []
  const problems: string[] = []
  for (const [name, program] of Object.entries(options.aliases)) {
    const path = find(options, program)
    if (path === undefined) {
      const consequence = options.builtin.has(name) ? 'stays built in' : 'is not offered'
      problems.push(`'${name}' ${consequence}: the program '${program}' is not installed`)
    } else if (!options.builtin.has(name)) {
      tools.push(programTool(name, program, `Run ${program} with the given arguments.`))
    } else if (name === 'grep_search' && /(^|\/)rg$/.test(path)) {
      tools.push({ ...options.searchWith(path), overrides: name })
    } else {
      problems.push(`'${name}' stays built in: '${program}' lacks parameters that callers of ${name} pass`)
    }
  }
  if (find(options, 'gh') !== undefined && !Object.hasOwn(options.aliases, 'github'))
    tools.push(programTool('github', 'gh', 'Run the GitHub command line, gh, with the given arguments.'))
  if (find(options, 'jq') !== undefined && !Object.hasOwn(options.aliases, 'json_query'))
    tools.push(jqTool('jq'))
  return { tools, problems }
}

function find({ findProgram }: CliProviderOptions, program: string): string | undefined {
  const other = Object.hasOwn(OTHER_NAMES, program) ? OTHER_NAMES[program] : undefined
  return findProgram(program) ?? (other === undefined ? undefined : findProgram(other))
}
