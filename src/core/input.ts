import { ToolError } from './errors.ts'
import { checkValue } from './json.ts'
import { numberFrom, repairInput } from './repair-input.ts'
import type { Issue } from './schema.ts'
import { closest } from './suggest.ts'
import type { AnyTool, ParameterAlias } from './tool.ts'

/** Checks a call's input against the tool's schema and returns it with canonical parameter names and defaults. */
export function validateInput(tool: AnyTool, value: unknown, calledAs = tool.name): Record<string, unknown> {
  checkValue(value)
  const meant =
    tool.inputAs !== undefined && Object.hasOwn(tool.inputAs, calledAs) ? tool.inputAs[calledAs] : undefined
  const given = renameParameters(tool, value)
  let input = meant === undefined ? given : meant(given)
  for (let round = 0; ; round += 1) {
    const parsed = tool.input.parse(input)
    if (parsed.ok) return deepFreeze(parsed.value)
    // The caller's own values stay as they are.
    if (round === 0) input = structuredClone(input)
    if (round === MOST_REPAIRS || !repairInput(input, parsed.issues)) throw refusal(tool, parsed.issues)
  }
}

/** Some schemas name only the first thing that is wrong. */
const MOST_REPAIRS = 20

function refusal(tool: AnyTool, issues: readonly Issue[]): ToolError {
  const known = parameterNames(tool)
  const messages = issues.map(issue => {
    const place = issue.pointer.split('/').slice(1).join('.')
    const named = /^(Missing required|Unknown) parameter /.test(issue.message) || place === ''
    return named ? issue.message : `'${place}' ${issue.message}`
  })
  const unknown = issues.map(issue => /^Unknown parameter '(.*)'$/.exec(issue.message)?.[1])
  const typo = unknown.find(name => name !== undefined)
  const near = typo === undefined ? undefined : closest(typo, known)
  const isAboutNames = messages.every(message => /parameters? '|parameter$/.test(message))
  const all = messages.join('; ')
  const message = isAboutNames ? `${all} for tool '${tool.name}'.` : `${tool.name}: ${all}.`
  return new ToolError('invalid_input', message, {
    hint:
      near === undefined
        ? `'${tool.name}' takes: ${known.join(', ') || 'no parameters'}.`
        : `Did you mean '${near}'?`,
  })
}

/** Canonical parameter names of a tool, in the order of its schema. */
export function parameterNames(tool: AnyTool): string[] {
  const properties = tool.input.json.properties
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}

function renameParameters(tool: AnyTool, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ToolError('invalid_input', `The input of '${tool.name}' must be a JSON object.`, {
      hint: `'${tool.name}' takes: ${parameterNames(tool).join(', ') || 'no parameters'}.`,
    })
  }
  return renamed(tool, value)
}

/** What lists hold has the same names: one of several edits is written as a single one is. */
function renamed(tool: AnyTool, value: object): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  const keys = new Map<string, string>()
  for (const [key, item] of Object.entries(value)) {
    // Own properties only: a parameter called `constructor` must not find Object's.
    const alias = Object.hasOwn(tool.parameterAliases, key) ? tool.parameterAliases[key] : undefined
    const name = alias === undefined ? key : typeof alias === 'string' ? alias : alias.to
    const converted = alias === undefined || typeof alias === 'string' ? item : convert(alias, item)
    const isGiven = Object.hasOwn(result, name) && result[name] !== null
    if (isGiven && converted === null) continue
    if (isGiven && result[name] !== converted) {
      throw new ToolError('invalid_input', `'${keys.get(name)}' and '${key}' name the same parameter.`, {
        hint: 'Pass only one of them.',
      })
    }
    keys.set(name, key)
    result[name] = Array.isArray(converted) ? converted.map(each => renamedItem(tool, each)) : converted
  }
  return result
}

function renamedItem(tool: AnyTool, item: unknown): unknown {
  const isObject = typeof item === 'object' && item !== null && !Array.isArray(item)
  return isObject && Object.keys(tool.parameterAliases).length > 0 ? renamed(tool, item) : item
}

/** Numbers are converted before anything repairs them: "5" seconds must not become 5 milliseconds. */
function convert(alias: Exclude<ParameterAlias, string>, item: unknown): unknown {
  if (item === null) return null
  return alias.convert((typeof item === 'string' ? numberFrom(item) : undefined) ?? item)
}

/** Hooks and tools see the input that was judged; none of them can change it for the others. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const item of Object.values(value)) deepFreeze(item)
  return Object.freeze(value)
}
