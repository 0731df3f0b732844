import { join } from 'node:path'
import { appendToFile } from '../config/change-file.ts'
import { loadConfig } from '../config/load.ts'
import { parseTemplate } from '../providers/custom/template.ts'
import { TemplateError } from '../providers/custom/template-error.ts'
import { type CommandContext, textOption, UsageError } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { loadOptions, openRuntime } from './open-runtime.ts'

/** Writes a custom tool to the end of the user's configuration. Comments and order of the file stay as they are. */
export async function addTool(context: CommandContext, name: string): Promise<number> {
  const { values, output, environment } = context
  if (environment.insideCall !== undefined) throw new UsageError('This is not available inside a Kogu call.')
  const command = textOption(values, 'command')
  if (command === undefined)
    throw new UsageError('Which command?', `kogu tools add ${name} --command 'wc -l {file}' --param file`)
  const parameters = readParameters(values.param)
  checkTemplate(command, parameters)
  const risk = textOption(values, 'risk') ?? 'high'
  if (risk !== 'low' && risk !== 'high') throw new UsageError(`--risk takes low or high, not '${risk}'.`)
  if (!/^[A-Za-z][\w-]{0,63}$/.test(name))
    throw new UsageError(`'${name}' is not a tool name: letters, digits, - and _, beginning with a letter.`)
  if (Object.hasOwn(loadConfig(loadOptions(context)).config.tools.custom, name))
    throw new UsageError(`There is a custom tool '${name}' already.`)
  await requireFree(context, name)
  const block = toToml(name, {
    command,
    risk,
    description: textOption(values, 'description') ?? command,
    parameters,
  })
  const file = join(environment.directories.config, 'config.toml')
  appendToFile({ path: file, layer: 'user' }, block)
  if (output.json) output.object({ ok: true, name, file })
  else {
    output.data(block.trimEnd())
    output.note(`Written to ${file}. Try it: kogu tools test ${name} '{…}'`)
  }
  return EXIT.ok
}

/** A tool that wants the name of another one is left out. */
async function requireFree(context: CommandContext, name: string): Promise<void> {
  const runtime = await openRuntime(context)
  try {
    const [holder] = runtime.registry.candidates(name)
    if (holder === undefined) return
    throw new UsageError(
      `The name '${name}' is taken by '${holder.tool.name}' (${holder.provider.id}).`,
      'Choose another name.',
    )
  } finally {
    await runtime.close()
  }
}

interface Parameter {
  readonly name: string
  readonly type: string
  readonly required: boolean
}

/** `title`, `count:integer`, `pattern:string?` (optional). */
function readParameters(given: unknown): Parameter[] {
  return (Array.isArray(given) ? given.map(String) : []).map(text => {
    const [, name, type = 'string', optional] =
      /^([A-Za-z_]\w*)(?::(string|integer|number|boolean))?(\?)?$/.exec(text) ?? []
    if (name === undefined)
      throw new UsageError(
        `--param takes NAME, NAME:TYPE or NAME:TYPE? (optional), not '${text}'.`,
        'TYPE is string, integer, number or boolean.',
      )
    return { name, type, required: optional === undefined }
  })
}

function checkTemplate(command: string, parameters: readonly Parameter[]): void {
  const free = new Set(parameters.filter(({ type }) => type === 'string').map(({ name }) => name))
  try {
    parseTemplate(command, new Set(parameters.map(({ name }) => name)), name => free.has(name))
  } catch (error) {
    if (error instanceof TemplateError) throw new UsageError(error.message)
    throw error
  }
}

function toToml(
  name: string,
  tool: { command: string; description: string; risk: string; parameters: readonly Parameter[] },
): string {
  const head = [
    `[tools.custom.${name}]`,
    `description = ${JSON.stringify(tool.description)}`,
    `command = ${JSON.stringify(tool.command)}`,
    `risk_level = "${tool.risk}"`,
  ]
  const parameters = tool.parameters.flatMap(({ name: parameter, type, required }) => [
    '',
    `[tools.custom.${name}.parameters.${parameter}]`,
    `type = "${type}"`,
    `required = ${required}`,
  ])
  return `${[...head, ...parameters].join('\n')}\n`
}
