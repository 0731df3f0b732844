import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../config/load.ts'
import { makeFolders } from '../core/make-folders.ts'
import { writeWhole } from '../core/write-whole.ts'
import { findInstalled } from '../providers/cli/cli-provider.ts'
import { type CommandContext, flag } from './command.ts'
import { loadOptions } from './open-runtime.ts'
import { table } from './output.ts'

/** Programs that do more than their usual counterparts. `alias`: the line that makes a tool of one that is none yet. */
const ENHANCED = [
  { program: 'gh', says: 'is the tool github' },
  { program: 'jq', says: 'is the tool json_query' },
  {
    program: 'rg',
    says: 'grep_search has a ripgrep of its own; to use yours:',
    alias: 'grep_search = "rg"',
  },
  {
    program: 'fd',
    says: 'finds files by name, faster than find:',
    alias: 'fd_search = "fd"',
  },
  { program: 'bat', says: 'prints files with their syntax:', alias: 'show_file = "bat"' },
]

/** Says once of each program of this machine how agents can use it, unless `suggest_enhanced_tools` is off. */
export function suggestPrograms(context: CommandContext): void {
  const { output, environment } = context
  const { config, workspace } = loadConfig(loadOptions(context))
  const { cli, suggest_enhanced_tools: isOn, providers = ['cli'] } = config.tools
  if (!isOn || !cli.enabled || !providers.includes('cli')) return
  // Nobody would see it, and it is said once.
  if (output.json || flag(context.values, 'quiet')) return
  const used = Object.values(cli.aliases)
  const { state } = environment.directories
  const said = join(state, 'suggested-programs')
  const before = readLines(said)
  const found = ENHANCED.filter(
    ({ program }) =>
      !used.includes(program) &&
      !before.includes(program) &&
      findInstalled(program, environment.path, workspace.root) !== undefined,
  )
  if (found.length === 0) return
  try {
    makeFolders(state)
    writeWhole(said, `${[...before, ...found.map(({ program }) => program)].join('\n')}\n`)
  } catch {
    // Nowhere to remember it: better never than every time.
    return
  }
  const rows = found.map(({ program, says, alias = '' }) => [`  ${program}`, says, alias])
  output.note(`🔍 Enhanced tools detected on your system:\n${table(rows)}`)
  if (found.some(({ alias }) => alias !== undefined))
    output.note('  The lines go below [tools.cli.aliases] of your configuration: kogu config edit')
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean)
  } catch {
    // Nothing was said yet.
    return []
  }
}
