import { fromJsonSchema } from '../../core/json-schema.ts'
import { PROCESS_FIELDS } from '../../core/processes.ts'
import type { JsonSchema } from '../../core/schema.ts'
import { type AnyTool, describedOutput, type Tool } from '../../core/tool.ts'
import { toProcessOutput } from '../process-output.ts'
import { render, toLine, type Values } from './render.ts'
import { parseTemplate } from './template.ts'

/** One `[tools.custom.NAME]` of the configuration. */
export interface CustomToolSettings {
  readonly description: string
  readonly command: string
  readonly risk_level: 'low' | 'high'
  readonly overrides?: string | undefined
  readonly parameters: Readonly<Record<string, CustomParameter>>
  /** In milliseconds. */
  readonly timeout?: number | undefined
  readonly working_dir?: string | undefined
  /** Bytes of each stream that a result shows. */
  readonly max_output?: number | undefined
  readonly env: Readonly<Record<string, string>>
}

interface CustomParameter {
  readonly type: 'string' | 'integer' | 'number' | 'boolean'
  readonly description: string
  readonly required: boolean
  readonly default?: string | number | boolean | undefined
  readonly enum?: readonly (string | number)[] | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
}

const DEFAULT_TIMEOUT_MS = 120_000

/**
 * A command of the configuration as a tool. What it may do is judged from the command line that the values make, as for
 * run_command; it runs in the same sandbox. Throws a TemplateError when the template cannot be used.
 */
export function toCustomTool(name: string, settings: CustomToolSettings): AnyTool {
  const { command, parameters } = settings
  const isFree = (parameter: string): boolean =>
    parameters[parameter]?.type === 'string' && parameters[parameter].enum === undefined
  const template = parseTemplate(command, new Set(Object.keys(parameters)), isFree)
  const { working_dir: cwd, timeout: timeoutMs = DEFAULT_TIMEOUT_MS, max_output: outputBytes, env } = settings
  const limits = { timeoutMs, ...(outputBytes === undefined ? {} : { outputBytes }) }
  const tool: Tool<Values> = {
    name,
    aliases: [],
    parameterAliases: {},
    title: name,
    description: settings.description,
    category: 'Execution',
    risk: settings.risk_level,
    isHighRisk: settings.risk_level === 'high',
    // The schema lets strings, numbers and booleans through, and nothing else.
    input: fromJsonSchema(toSchema(settings.parameters)) as Tool<Values>['input'],
    output: describedOutput(PROCESS_FIELDS),
    ...(settings.overrides === undefined ? {} : { overrides: settings.overrides }),
    access: values => [
      { kind: 'execute', command: toLine(render(template, values)), ...(cwd === undefined ? {} : { cwd }) },
    ],
    async run(values, { processes }) {
      const rendered = render(template, values)
      const command = toLine(rendered)
      const started = performance.now()
      const words = 'argv' in rendered ? { words: rendered.argv } : {}
      const result = await processes.run({ command, ...words, ...limits, env })
      return toProcessOutput(command, result, performance.now() - started)
    },
  }
  return tool
}

function toSchema(parameters: CustomToolSettings['parameters']): JsonSchema {
  const properties = Object.entries(parameters).map(([name, { required: _, ...rest }]) => {
    const stated = Object.entries(rest).filter(([, value]) => value !== undefined && value !== '')
    return [name, Object.fromEntries(stated)] as const
  })
  const required = Object.entries(parameters)
    .filter(([, parameter]) => parameter.required && parameter.default === undefined)
    .map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required,
    additionalProperties: false,
  }
}
