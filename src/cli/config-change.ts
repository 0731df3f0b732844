import { dirname, join, resolve } from 'node:path'
import { type ChangedFile, setInFile, unsetInFile } from '../config/change-file.ts'
import { describeConfigError } from '../config/describe-error.ts'
import { createStateFolder } from '../config/init.ts'
import { inspectConfig } from '../config/load.ts'
import { joinKey, splitKey } from '../config/positions.ts'
import { noApprover } from '../core/approval.ts'
import { makeFolders } from '../core/make-folders.ts'
import { toLine, underMargin } from '../core/visible.ts'
import { createRuntime } from '../runtime.ts'
import { type CommandContext, flag, textOption, UsageError } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { loadOptions } from './open-runtime.ts'

/** `kogu config set KEY VALUE`, `unset KEY`, `edit`: comments and order of the file stay as they are. */
export async function changeConfig(context: CommandContext, verb: 'set' | 'unset' | 'edit'): Promise<number> {
  const [, key, value, ...extra] = context.positionals
  if (context.environment.insideCall !== undefined)
    throw new UsageError('This is not available inside a Kogu call.')
  if (verb === 'edit') return edit(context)
  if (key === undefined || extra.length > 0 || (verb === 'set') !== (value !== undefined))
    throw new UsageError(
      'Use: kogu config set KEY VALUE | unset KEY',
      'For example: kogu config set mode auto',
    )
  const file = findFile(context)
  const written = verb === 'set' ? setInFile(file, key, value ?? '') : unsetInFile(file, key)
  await putOnRecord(context, file, `config-${verb}`, key)
  if (context.output.json) context.output.object({ ok: true, file: file.path, key, value: written ?? null })
  else {
    const what = verb === 'set' ? `${key} = ${JSON.stringify(written)}` : `${key} is no longer set`
    context.output.data(toLine(`${what}  (${file.path})`))
  }
  tellEffect(context, file, key)
  return EXIT.ok
}

function findFile(context: CommandContext): ChangedFile {
  const { values, environment, cwd } = context
  const project = flag(values, 'project')
  const local = flag(values, 'local')
  if (project && local) throw new UsageError('Use either --project or --local, not both.')
  if (!project && !local) {
    const named = textOption(values, 'config')
    const own = join(environment.directories.config, 'config.toml')
    return { path: named === undefined ? own : resolve(cwd, named), layer: 'user' }
  }
  const { files } = inspectConfig(loadOptions(context))
  const layer = project ? 'project' : 'local'
  const path = files.findLast(file => file.layer === layer)?.path ?? ''
  createStateFolder(dirname(dirname(path)))
  return { path, layer }
}

/** What is written down does not always count: a stronger file may say something else, or the project needs trust. */
function tellEffect(context: CommandContext, { path, layer }: ChangedFile, key: string): void {
  const { output } = context
  const { loaded, errors } = inspectConfig(loadOptions(context))
  if (loaded === undefined) {
    for (const error of errors) output.note(`warning: ${underMargin(describeConfigError(error))}`)
    return
  }
  const [highest] = loaded.contributions.get(joinKey(splitKey(key) ?? [])) ?? []
  if (highest !== undefined && highest.source.file !== path) {
    const { source, value } = highest
    output.note(`Here, ${toLine(source.file)} overrides it with ${toLine(JSON.stringify(value))}.`)
  }
  const untrusted = loaded.files.some(file => file.path === path && file.status === 'untrusted')
  if (untrusted && layer !== 'user')
    output.note('The files of this project are not trusted: kogu config trust')
}

async function edit(context: CommandContext): Promise<number> {
  const { environment, output, stdin } = context
  const { path } = findFile(context)
  if (environment.editor === undefined) {
    throw new UsageError('No editor is set.', `Set EDITOR, or change the file yourself: ${path}`)
  }
  if (stdin.isTTY !== true) throw new UsageError('An editor needs a terminal.', `The file is ${path}`)
  makeFolders(dirname(path))
  const { runOnTerminal } = await import('../sandbox/processes/on-terminal.ts')
  const code = await runOnTerminal(environment.editor, path)
  if (code !== 0) {
    output.problem(`The editor ended with code ${code}.`)
    return EXIT.failed
  }
  const { errors } = inspectConfig(loadOptions(context))
  for (const error of errors)
    output.problem(`${output.noteStyle('red', 'error:')} ${underMargin(describeConfigError(error))}`)
  if (errors.length > 0) output.problem('Kogu does not work until this is fixed: kogu config edit')
  return errors.length > 0 ? EXIT.config : EXIT.ok
}

/** Which setting of which file, not its value: some say where a secret is. */
async function putOnRecord(
  context: CommandContext,
  file: ChangedFile,
  action: string,
  key: string,
): Promise<void> {
  const { loaded } = inspectConfig(loadOptions(context))
  if (loaded === undefined) return
  const approver = noApprover('nothing is called')
  const runtime = await createRuntime({ loaded, environment: context.environment, approver })
  runtime.note(action, { file: file.path, key })
  await runtime.close()
}
