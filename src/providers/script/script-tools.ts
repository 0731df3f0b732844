import { ToolError } from '../../core/errors.ts'
import { fromJsonSchema } from '../../core/json-schema.ts'
import type { JsonSchema } from '../../core/schema.ts'
import { toShellLine } from '../../core/shell-words.ts'
import type { AnyTool, Tool } from '../../core/tool.ts'
import { toProcessOutput } from '../process-output.ts'
import { findScripts, readTrusted, type Script } from './find-scripts.ts'
import type { ScriptProviderOptions } from './script-provider.ts'

/** The trusted scripts of all folders as tools; the others are held, and said to be. */
export function toTools(options: ScriptProviderOptions): { tools: AnyTool[]; problems: string[] } {
  const found = options.folders.map(folder => findScripts(folder, options.machine))
  const all = found.flatMap(({ scripts: each }) => each)
  const isFirst = ({ name, path }: Script): boolean => all.find(each => each.name === name)?.path === path
  const scripts = all.filter(isFirst)
  const held = scripts.filter(script => !options.isTrusted(script))
  return {
    tools: scripts.filter(script => options.isTrusted(script)).map(toTool),
    problems: [
      ...found.flatMap(({ problems }) => problems),
      ...all
        .filter(script => !isFirst(script))
        .map(({ path, name }) => `${path} is ignored: another script has the name '${name}'.`),
      ...held.map(
        ({ name }) => `'${name}' is new or has changed. To read and trust it: kogu tools trust ${name}`,
      ),
    ],
  }
}

function toTool({ path, name, declaration, interpreter, sha256 }: Script): AnyTool {
  const { network, writes } = declaration
  const words = [...interpreter, path]
  const command = toShellLine(words)
  const tool: Tool<Record<string, unknown>> = {
    name,
    aliases: [],
    parameterAliases: {},
    title: name,
    description: declaration.description,
    category: 'Execution',
    risk: declaration.risk,
    isHighRisk: declaration.risk === 'high',
    input: fromJsonSchema(toSchema(declaration.parameters)),
    access: () => [
      { kind: 'execute', command },
      ...network.map(host => ({
        kind: 'network' as const,
        // A pattern is judged by a host that it stands for.
        url: `https://${host.replace(/^\*\./, 'any.')}/`,
        method: 'POST',
      })),
    ],
    async run(input, { processes }) {
      // It may have been changed since the list was made; what was trusted is a content, not a name.
      const current = readTrusted({ path, sha256 })
      if (current === undefined) {
        throw new ToolError('forbidden', `The script '${name}' has changed since it was trusted.`, {
          hint: `To read it and trust it again: kogu tools trust ${name}`,
        })
      }
      const started = performance.now()
      const timeoutMs = declaration.timeout_seconds * 1000
      const stdin = JSON.stringify(input)
      const trusted = { path, content: current.bytes }
      const within = { network, writes }
      const result = await processes.run({ command, words, trusted, timeoutMs, stdin, within })
      const output = toProcessOutput(command, result, performance.now() - started)
      const json = result.exitCode === 0 ? asJson(result.stdout) : undefined
      return json === undefined ? output : { ...output, text: result.stdout.trimEnd(), data: json }
    },
  }
  return tool
}

/** A script may answer with JSON; anything else is text. */
function asJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    // Text that only begins like JSON.
    return undefined
  }
}

function toSchema(parameters: Script['declaration']['parameters']): JsonSchema {
  const properties = Object.entries(parameters).map(
    ([name, { required: _, ...rest }]) => [name, rest] as const,
  )
  const required = Object.entries(parameters)
    .filter(([, parameter]) => parameter.required && parameter.default === undefined)
    .map(([name]) => name)
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false }
}
