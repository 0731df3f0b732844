import { checkRules } from '../../check-rules.ts'
import { describeProjectAuthority } from '../../config/authority.ts'
import type { ConfigError } from '../../config/config-error.ts'
import { describeConfigError } from '../../config/describe-error.ts'
import { configJsonSchema } from '../../config/json-schema.ts'
import { getKey, type KeyInfo, listKeys } from '../../config/keys.ts'
import { inspectConfig, type LoadedConfig } from '../../config/load.ts'
import { trust, untrust } from '../../config/trust.ts'
import { unreadKeys } from '../../config/unread-keys.ts'
import { noApprover } from '../../core/approval.ts'
import { counted } from '../../core/counted.ts'
import { toLine, underMargin } from '../../core/visible.ts'
import { createRuntime } from '../../runtime.ts'
import { type Command, type CommandContext, flag, textOption, UsageError, unknownVerb } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand, loadOptions } from '../open-runtime.ts'
import { table } from '../output.ts'

const VERBS = [
  ...['list', 'get', 'set', 'unset', 'edit'],
  ...['path', 'validate', 'schema', 'trust', 'untrust'],
]

export const config: Command = {
  help: `
Read, change, check and trust the configuration.

  kogu config list                     every setting, with the file and line it comes from
  kogu config get permissions.default
  kogu config set defaults.model anthropic/claude-sonnet-4-5
  kogu config unset limits.max_cost
  kogu config edit                     in $EDITOR, checked afterwards
  kogu config path                     the files that Kogu reads; later ones override earlier ones
  kogu config validate                 exit 3 when a file has errors
  kogu config schema [--draft 04]      JSON Schema for editors
  kogu config trust [--yes]            review what the project's files would allow, and trust exactly that
  kogu config untrust

set, unset and edit change your own file; --project: .kogu/config.toml, --local: .kogu/local.toml, --config FILE: that one.
Comments and order are kept; if that is not possible, nothing is changed.
Until you trust a project, its files can only make settings stricter.
`,
  options: {
    draft: { type: 'string' },
    yes: { type: 'boolean', short: 'y' },
    project: { type: 'boolean' },
    local: { type: 'boolean' },
  },
  words: { list: 1, get: 2, edit: 1, path: 1, validate: 1, schema: 1, trust: 1, untrust: 1 },
  async run(context) {
    const [verb = 'list', key] = context.positionals
    switch (verb) {
      case 'get':
        if (key === undefined) throw new UsageError('Which setting?', 'For example: kogu config get mode')
        return get(context, getKey(loadForCommand(context), key))
      case 'list':
        return list(context, listKeys(loadForCommand(context)))
      case 'set':
      case 'unset':
      case 'edit':
        return (await import('../config-change.ts')).changeConfig(context, verb)
      case 'path':
        return paths(context)
      case 'validate':
        return validate(context)
      case 'schema':
        return schema(context)
      case 'trust':
        return trustProject(context, loadForCommand(context))
      case 'untrust':
        return untrustProject(context, loadForCommand(context))
      default:
        throw unknownVerb('config', verb, VERBS)
    }
  },
}

function get({ output }: CommandContext, info: KeyInfo): number {
  if (output.json) output.object(info)
  else output.data(typeof info.value === 'string' ? info.value : JSON.stringify(info.value ?? null))
  return EXIT.ok
}

function list({ output }: CommandContext, keys: readonly KeyInfo[]): number {
  if (output.json) output.object(keys)
  else output.data(table(keys.map(info => [info.key, toLine(JSON.stringify(info.value)), originOf(info)])))
  return EXIT.ok
}

function originOf({ origin }: KeyInfo): string {
  const place = origin.line === undefined ? origin.file : `${origin.file}:${origin.line}`
  return place === undefined ? origin.layer : `${origin.layer} ${place}`
}

function paths(context: CommandContext): number {
  const { files } = inspectConfig(loadOptions(context))
  if (context.output.json) context.output.object(files)
  else context.output.data(table(files.map(file => [file.layer, file.status, file.path])))
  return EXIT.ok
}

async function validate(context: CommandContext): Promise<number> {
  const { output } = context
  const { errors: found, warnings: noticed, files, loaded } = inspectConfig(loadOptions(context))
  const rules =
    loaded === undefined ? { errors: found, warnings: [] } : await checkRules(context.environment, loaded)
  const unread = loaded === undefined ? [] : unreadKeys(loaded)
  const errors = [...unread, ...rules.errors]
  const warnings = [...noticed, ...rules.warnings]
  const used = files.filter(file => file.status !== 'missing').length
  if (output.json) {
    output.object({ ok: errors.length === 0, files, errors: errors.map(errorData), warnings })
  } else {
    for (const error of errors)
      output.note(`${output.noteStyle('red', 'error:')} ${underMargin(describeConfigError(error))}`)
    for (const warning of warnings)
      output.note(`${output.noteStyle('yellow', 'warning:')} ${underMargin(warning.message)}`)
    const counts = [
      counted(used, 'file'),
      counted(errors.length, 'error'),
      counted(warnings.length, 'warning'),
    ]
    output.data(counts.join(', '))
  }
  return errors.length === 0 ? EXIT.ok : EXIT.config
}

function errorData({ message, file, line, column, hint }: ConfigError) {
  return { message, file, line: line ?? null, column: column ?? null, hint: hint ?? null }
}

function schema({ output, values }: CommandContext): number {
  const draft = textOption(values, 'draft') ?? '2020-12'
  if (draft !== '2020-12' && draft !== '04')
    throw new UsageError(`--draft takes 2020-12 or 04, not '${draft}'.`)
  const document = configJsonSchema(draft === '04' ? 'draft-04' : 'draft-2020-12')
  if (output.json) output.object(document)
  else output.data(JSON.stringify(document, null, 2))
  return EXIT.ok
}

async function trustProject(context: CommandContext, loaded: LoadedConfig): Promise<number> {
  const { output, values, environment } = context
  const { trust: state, projectPart, workspace } = loaded
  if (state.status === 'not-needed' || state.status === 'trusted') {
    const reason =
      state.status === 'trusted' ? 'It is trusted already.' : 'Nothing in this project needs trust.'
    report(context, state.status, reason)
    return EXIT.ok
  }
  output.note(`The files of ${toLine(workspace.root)} would do this:`)
  for (const line of describeProjectAuthority(projectPart)) {
    output.note(`  ${line.kind.padEnd(8)} ${toLine(line.text)}  (${toLine(line.file)})`)
  }
  if (state.status === 'changed') {
    output.note('Since you trusted it:')
    for (const { change, text } of state.changes) output.note(`  ${change.padEnd(9)} ${toLine(text)}`)
  }
  if (!flag(values, 'yes')) {
    report(context, state.status, 'Not trusted. To trust exactly this: kogu config trust --yes')
    return EXIT.needsPerson
  }
  await trust(environment, workspace.root, projectPart)
  await putOnRecord(context, loaded, 'trust-given')
  report(context, 'trusted', 'Trusted. A change of any of these settings ends the trust.')
  return EXIT.ok
}

async function untrustProject(context: CommandContext, loaded: LoadedConfig): Promise<number> {
  const existed = await untrust(context.environment, loaded.workspace.root)
  if (existed) await putOnRecord(context, loaded, 'trust-ended')
  report(context, 'ended', existed ? 'No longer trusted.' : 'It was not trusted.')
  return EXIT.ok
}

async function putOnRecord(
  { environment }: CommandContext,
  loaded: LoadedConfig,
  action: string,
): Promise<void> {
  const runtime = await createRuntime({ loaded, environment, approver: noApprover('nothing is called') })
  runtime.note(action, {
    workspace: loaded.workspace.root,
    settings: describeProjectAuthority(loaded.projectPart),
  })
  await runtime.close()
}

function report({ output }: CommandContext, status: string, sentence: string): void {
  const ok = status === 'trusted' || status === 'not-needed' || status === 'ended'
  if (output.json) output.object({ ok, status, message: sentence })
  else output.data(sentence)
}
