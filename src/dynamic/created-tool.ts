import { ToolError } from '../core/errors.ts'
import { type AnyTool, describedOutput, type ToolContext, type ToolOutput } from '../core/tool.ts'
import type { Catalogue } from './catalogue/catalogue.ts'
import { failedText, finishedText } from './catalogue/layouts.ts'
import { accessOf } from './code-access.ts'
import type { ToolParameterDefinition } from './definition.ts'
import { toSchema } from './parameters.ts'
import { type DynamicParts, MOST_TIMEOUT_MS } from './parts.ts'
import { refusal } from './refusal.ts'
import { CodeFailure, quickCheck, runCode } from './run-code.ts'
import type { StoredTool } from './store.ts'

/** A tool that a model made, as every other tool: under its own name, with its parameters as its schema. */
export function toTool(stored: StoredTool, parts: DynamicParts): AnyTool {
  const { tool } = stored
  const input = toSchema(tool.parameters)
  return {
    name: tool.name,
    aliases: [],
    parameterAliases: {},
    // With the id, which is a hash of the code: other code is another tool for whoever approved this one.
    title: `${tool.description.split('\n')[0]?.slice(0, 60) ?? ''} (${tool.id})`,
    description: `${tool.verificationStatus === 'deprecated' ? 'Deprecated. ' : ''}${tool.description}`,
    category: 'Execution',
    risk: 'high',
    isIsolated: true,
    input,
    output: OUTPUT,
    access: () => accessOf(tool, parts),
    async run(values, context) {
      const { value, logs } = await runRecorded(stored, values, context, parts, parts.settings.timeoutMs)
      return toOutput(showValue(value), { value, logs })
    },
  }
}

const OUTPUT = describedOutput({ value: {}, logs: { type: 'array', items: { type: 'string' } } })

/** For run_dynamic_tool: the layouts of a finished and a failed run. */
export async function runByName(
  stored: StoredTool,
  values: Readonly<Record<string, unknown>>,
  context: ToolContext,
  parts: DynamicParts,
  timeoutMs: number | undefined,
): Promise<ToolOutput> {
  const { tool } = stored
  const parsed = toSchema(tool.parameters).parse(values)
  if (!parsed.ok) {
    const names = new Set(parsed.issues.map(({ pointer }) => pointer.split('/')[1] ?? ''))
    const words = [...names].map(name => describeProblem(name, tool.parameters, parts.texts))
    throw refusal(parts, words.join('; '), { remedy: 'missing' })
  }
  const limit = Math.min(MOST_TIMEOUT_MS, timeoutMs ?? parts.settings.timeoutMs)
  const { value, logs, ms } = await runRecorded(stored, parsed.value, context, parts, limit)
  return toOutput(finishedText(tool.name, ms, showValue(value), parts.texts), {
    tool_id: tool.id,
    tool_name: tool.name,
    value,
    logs,
    ms,
  })
}

/** What the definition says, in no language: the schema's own words are English. */
function describeProblem(
  name: string,
  parameters: readonly ToolParameterDefinition[],
  { errors }: Catalogue,
): string {
  const definition = parameters.find(parameter => parameter.name === name)
  if (definition === undefined) return errors.unknownParameter(name)
  const { type, allowedValues, minimum, maximum } = definition
  const bounds = [
    ...(minimum === undefined ? [] : [`≥ ${minimum}`]),
    ...(maximum === undefined ? [] : [`≤ ${maximum}`]),
    ...(allowedValues === undefined ? [] : [allowedValues.map(value => JSON.stringify(value)).join(' | ')]),
  ]
  return errors.invalidValue(name, [type, ...bounds].join(', '))
}

function toOutput(text: string, data: unknown): ToolOutput {
  return { text, data, label: { origin: 'dynamic', trusted: false } }
}

/** Text as it is, everything else as JSON. */
function showValue(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value, null, isDeeperThan(value, MOST_INDENTED) ? 0 : 2)
}

/** Each level indents whatever is in it: a megabyte in deep lists would become gigabytes of spaces. */
const MOST_INDENTED = 16

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(each => isDeeperThan(each, levels - 1))
}

/** Quick check, run, usage record, audit; a failure is recorded like a success. */
async function runRecorded(
  stored: StoredTool,
  values: Readonly<Record<string, unknown>>,
  context: ToolContext,
  parts: DynamicParts,
  timeoutMs: number,
) {
  const { tool } = stored
  const problem = quickCheck(stored, parts.store.current(tool.id), parts)
  if (problem !== undefined) throw refusal(parts, problem.text, { code: 'forbidden', ...problem })
  const at = parts.now().toISOString()
  const about = { toolId: tool.id, toolName: tool.name, call: context.callId, run: context.run.id }
  try {
    const result = await runCode(stored, values, context, parts, timeoutMs)
    parts.store.recordRun(tool.id, { at, ok: true, ms: result.ms })
    parts.note('tool.run', { ...about, success: true, ms: result.ms })
    return result
  } catch (error) {
    if (!(error instanceof CodeFailure)) throw error
    const { kind, ms, message } = error
    parts.store.recordRun(tool.id, { at, ok: false, ms, error: kind })
    parts.note('tool.run', { ...about, success: false, ms, error: kind })
    throw new ToolError(
      kind === 'timeout' ? 'timeout' : 'failed',
      failedText(tool.name, ms, message, parts.texts),
      { hint: parts.texts.remedies[kind === 'timeout' ? 'timeout' : 'run'] },
    )
  }
}
