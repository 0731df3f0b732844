import { relative } from 'node:path'
import { findScripts } from '../providers/script/find-scripts.ts'
import { scriptFolders } from '../providers/script/script-folders.ts'
import { placesFor } from '../store/places.ts'
import { openScriptTrust } from '../store/script-trust.ts'
import { type CommandContext, UsageError } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { loadForCommand } from './open-runtime.ts'

/** Lets a script of the workspace be used as it is now. A change of it holds it back again. */
export async function trustScript(context: CommandContext, name: string): Promise<number> {
  const { environment, output } = context
  if (environment.insideCall !== undefined) throw new UsageError('This is not available inside a Kogu call.')
  const { workspace, config } = loadForCommand(context)
  const { root } = workspace
  const { state } = placesFor(root, environment.directories.state)
  const folders = scriptFolders(state, root, config.tools.scripts.folders)
  const scripts = folders.flatMap(folder => findScripts(folder, process.execPath).scripts)
  const script = scripts.find(each => each.name === name)
  if (script === undefined) {
    output.problem(
      `There is no script '${name}' that declares itself in ${folders.map(each => relative(root, each)).join(', ')}.`,
    )
    if (output.json)
      output.object({ ok: false, error: { code: 'not_found', message: 'No such script.', hint: null } })
    return EXIT.notFound
  }
  await openScriptTrust(environment.directories.state, root).trust(script)
  if (output.json) output.object({ ok: true, name, sha256: script.sha256 })
  else
    output.note(
      `${relative(root, script.path)} can be used as it is now (sha256 ${script.sha256.slice(0, 12)}).`,
    )
  return EXIT.ok
}
