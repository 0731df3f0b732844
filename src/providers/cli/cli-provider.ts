import { basename } from 'node:path'
import { PRIORITY, type Provider } from '../../core/provider.ts'
import type { AnyTool } from '../../core/tool.ts'
import { findTrusted } from '../../tools/command/find-program.ts'
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

/** What would be lost with any other program in the place of the built-in tool. */
const NOT_IN_PROGRAMS: Readonly<Record<string, string>> = {
  glob_search: 'the order by time, pages, extended globs and the rules about files that may not be read',
  read_file: 'the record of what was read, which edits need, encodings, notebooks and PDF files',
}

/**
 * Programs of this machine as tools. It takes the place of a built-in tool only where an alias asks for it and nothing is
 * lost: of the usual programs only ripgrep does all that the built-in search does.
 */
export function createCliProvider(options: CliProviderOptions): Provider {
  return {
    id: 'cli',
    displayName: 'Programs of this machine',
    priority: PRIORITY.cli,
    isPartOfKogu: true,
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
    const path = findAlias(options.findProgram, program)
    if (path === undefined) {
      const consequence = options.builtin.has(name) ? 'stays built in' : 'is not offered'
      const where = program.includes('/') ? 'there, or lies where an agent can write' : 'installed'
      problems.push(`'${name}' ${consequence}: the program '${program}' is not ${where}`)
    } else if (!options.builtin.has(name)) {
      // By the name that it has here: Debian's fd is fdfind.
      const found = program.includes('/') ? program : basename(path)
      tools.push(programTool(name, found, `Run ${found} with the given arguments.`))
    } else if (name === 'grep_search' && /(^|\/)rg$/.test(path)) {
      tools.push({ ...options.searchWith(path), overrides: name })
    } else {
      const missing = NOT_IN_PROGRAMS[name] ?? `parameters that callers of ${name} pass`
      problems.push(`'${name}' stays built in: '${program}' lacks ${missing}`)
    }
  }
  if (options.findProgram('gh') !== undefined && !Object.hasOwn(options.aliases, 'github'))
    tools.push(programTool('github', 'gh', 'Run the GitHub command line, gh, with the given arguments.'))
  if (options.findProgram('jq') !== undefined && !Object.hasOwn(options.aliases, 'json_query'))
    tools.push(jqTool('jq'))
  return { tools, problems }
}

/** Of no program that lies where an agent can write a tool is made. */
export function findInstalled(
  program: string,
  folders: readonly string[],
  workspace: string,
): string | undefined {
  return findAlias(name => findTrusted(name, folders, workspace), program)
}

/** By its own name, or by the one that it has on other systems. */
function findAlias(findProgram: CliProviderOptions['findProgram'], program: string): string | undefined {
  const other = Object.hasOwn(OTHER_NAMES, program) ? OTHER_NAMES[program] : undefined
  return findProgram(program) ?? (other === undefined ? undefined : findProgram(other))
}
