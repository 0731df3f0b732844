import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolders } from '../core/make-folders.ts'
import type { Runtime } from '../runtime.ts'
import type { CommandContext } from './command.ts'

/** Says once which programs of this machine became tools, unless `suggest_enhanced_tools` is off. */
export function suggestPrograms({ output, environment }: CommandContext, { registry }: Runtime): void {
  const found = registry.list().filter(({ provider }) => provider.id === 'cli')
  if (found.length === 0 || output.json) return
  const marker = join(environment.directories.state, 'suggested-programs')
  try {
    makeFolders(environment.directories.state)
    // 'wx': whoever creates the file is the one who says it.
    writeFileSync(marker, '', { flag: 'wx', mode: 0o600 })
  } catch {
    // Said before, or no place to remember that it was.
    return
  }
  const names = found.map(({ tool }) => tool.name).join(', ')
  output.note(`🔍 Enhanced tools detected on your system: ${names}. Choose others with [tools.cli.aliases].`)
}
