import { relative } from 'node:path'
import { toBlock, toLine } from '../core/visible.ts'
import { findScripts, readTrusted, type Script } from '../providers/script/find-scripts.ts'
import { scriptFolders, scriptMachine } from '../providers/script/script-folders.ts'
import { placesFor } from '../store/places.ts'
import { openScriptTrust } from '../store/script-trust.ts'
import { type CommandContext, UsageError } from './command.ts'
import { confirmed } from './confirm.ts'
import { EXIT } from './exit-codes.ts'
import { loadForCommand, openRuntime } from './open-runtime.ts'

/** 128 bits: of twelve digits, an agent finds two scripts with the same ones in seconds, and shows you the harmless one. */
const SHOWN_HASH = 32

/**
 * Lets a script of the workspace be used as it is now; a change of it holds it back again. What is trusted is what was
 * shown: agents can write to configured folders, also between somebody's look at the script and their yes.
 */
export async function trustScript(context: CommandContext, name: string, seen?: string): Promise<number> {
  const { environment, output } = context
  if (environment.insideCall !== undefined) throw new UsageError('This is not available inside a Kogu call.')
  const { workspace, config } = loadForCommand(context)
  const { root } = workspace
  const { state } = placesFor(root, environment.directories.state)
  const folders = scriptFolders(state, root, config.tools.scripts.folders)
  const found = folders.map(folder => findScripts(folder, scriptMachine(root, environment)))
  const script = found.flatMap(({ scripts }) => scripts).find(each => each.name === name)
  if (script === undefined) {
    for (const problem of found.flatMap(({ problems }) => problems)) output.problem(toLine(problem, 300))
    output.problem(
      `No script '${name}' with a declaration was found in ${folders.map(each => relative(root, each)).join(', ')}. See docs/own-tools.md.`,
    )
    if (output.json)
      output.object({ ok: false, error: { code: 'not_found', message: 'No such script.', hint: null } })
    return EXIT.notFound
  }
  const short = script.sha256.slice(0, SHOWN_HASH)
  const path = relative(root, script.path)
  if (seen === undefined) {
    show(context, script, path)
    if (!(await confirmed(context, 'Trust exactly this?'))) {
      output.note(`Not trusted. To trust exactly this: kogu tools trust ${name} ${short}`)
      if (output.json) output.object({ ok: false, name, path, sha256: script.sha256 })
      return EXIT.needsPerson
    }
  } else if (seen.length < SHOWN_HASH || !script.sha256.startsWith(seen)) {
    throw new UsageError(
      `${path} has changed since you looked at it.`,
      `Look at it again: kogu tools trust ${name}`,
    )
  }
  await openScriptTrust(environment.directories.state, root).trust(script)
  if (output.json) output.object({ ok: true, name, sha256: script.sha256 })
  else output.note(`${path} is trusted as it is now (sha256 ${short}).`)
  await tellWhyNot(context, name)
  return EXIT.ok
}

function show({ output }: CommandContext, script: Script, path: string): void {
  const { description, risk, writes, network } = script.declaration
  const may = [
    writes.length === 0 ? 'changes nothing' : `may change ${writes.join(', ')}`,
    network.length === 0 ? 'contacts nobody' : `may contact ${network.join(', ')}`,
  ]
  output.note(`${toLine(path)}: ${toLine(description, 300)}\n  risk ${risk}, ${toLine(may.join(', '))}`)
  // Between two looks it may have become another one; what is shown has the hash that is trusted.
  const content = readTrusted(script)
  if (content === undefined) throw new UsageError(`${path} has just changed.`, 'Look at it again.')
  const whole = { margin: '  | ', mostCharacters: Infinity, mostLines: Infinity }
  if (content.declaration !== undefined)
    output.note(`${toBlock(content.declaration, whole)}\n  and the script:`)
  output.note(toBlock(Buffer.from(content.bytes).toString('utf8'), whole))
}

/** Its name may be somebody else's. */
async function tellWhyNot(context: CommandContext, name: string): Promise<void> {
  const runtime = await openRuntime({ ...context, output: { ...context.output, note: () => undefined } })
  try {
    const problem = runtime.registry
      .problems()
      .find(each => each.startsWith('script: ') && each.includes(`of tool '${name}'`))
    if (problem !== undefined) context.output.problem(toLine(problem))
  } finally {
    await runtime.close()
  }
}
