import { isDeepStrictEqual } from 'node:util'
import { type DynamicTool, definitionHash } from './definition.ts'
import type { CodeContext } from './life-cycle.ts'
import { toSchema } from './parameters.ts'
import type { DynamicParts } from './parts.ts'
import { CodeFailure, runCode } from './run-code.ts'

export interface Verification {
  readonly tool: DynamicTool
  readonly passed: number
  readonly total: number
  /** One sentence for each example that did not pass. */
  readonly failures: readonly string[]
}

/** The examples of a tool are its tests: each must give exactly its result. */
export async function verifyTool(
  tool: DynamicTool,
  context: CodeContext,
  parts: DynamicParts,
): Promise<Verification> {
  const failures: string[] = []
  const about = { toolId: tool.id, toolName: tool.name }
  if (tool.examples.length > 0) parts.note('verification.run', { ...about, examples: tool.examples.length })
  for (const [index, example] of tool.examples.entries()) {
    const problem = await tryExample(tool, example, context, parts)
    if (problem !== undefined) failures.push(`${index + 1}: ${problem}`)
  }
  const total = tool.examples.length
  const isGood = failures.length === 0 && tool.safety.isSafe
  if (total > 0)
    parts.note(isGood ? 'verification.pass' : 'verification.fail', { ...about, success: isGood, failures })
  const status = failures.length > 0 ? 'failed' : tool.safety.isSafe ? 'passed' : 'unverified'
  const passed = total - failures.length
  const verified = total === 0 ? {} : { verified: { at: parts.now().toISOString(), passed, total } }
  return { tool: { ...tool, verificationStatus: status, ...verified }, passed, total, failures }
}

async function tryExample(
  tool: DynamicTool,
  { parameters, result }: DynamicTool['examples'][number],
  context: CodeContext,
  parts: DynamicParts,
): Promise<string | undefined> {
  const parsed = toSchema(tool.parameters).parse(parameters)
  if (!parsed.ok)
    return parsed.issues.map(({ pointer, message }) => `${pointer.slice(1)} ${message}`.trim()).join('; ')
  try {
    const made = { tool, hash: definitionHash(tool) }
    const { value } = await runCode(made, parsed.value, context, parts, parts.settings.timeoutMs)
    if (isDeepStrictEqual(value, result)) return undefined
    return `${shorten(JSON.stringify(value))} ≠ ${shorten(JSON.stringify(result))}`
  } catch (error) {
    if (error instanceof CodeFailure) return error.message
    throw error
  }
}

function shorten(text: string | undefined): string {
  return (text ?? 'undefined').slice(0, 200)
}
