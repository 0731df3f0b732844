import { ToolError } from './errors.ts'
import { checkValue } from './json.ts'
import type { Issue } from './schema.ts'
import { closest } from './suggest.ts'
import type { AnyTool, ParameterAlias } from './tool.ts'

/** Checks a call's input against the tool's schema and returns it with canonical parameter names and defaults. */
export function validateInput(tool: AnyTool, value: unknown, calledAs = tool.name): Record<string, unknown> {
  checkValue(value)
  const meant =
    tool.inputAs !== undefined && Object.hasOwn(tool.inputAs, calledAs) ? tool.inputAs[calledAs] : undefined
  if (!isObject(value)) {
    const message = `The input of '${tool.name}' must be a JSON object.`
    throw new ToolError('invalid_input', message, { hint: parametersOf(tool) })
  }
  const given = renamed(tool, value)
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
  const messages = issues.map(issue => {
    const place = issue.pointer.split('/').slice(1).join('.')
    // A sentence of its own says what it is about; the rest goes on after the name, as "must be …" does.
    const isSentence = /^(?!Invalid)[A-Z]/.test(issue.message) || place === ''
    return isSentence ? issue.message : `'${place}' ${issue.message}`
  })
  const unknown = issues.map(issue => /^Unknown parameter '(.*)'$/.exec(issue.message)?.[1])
  const typo = unknown.find(name => name !== undefined)
  const near = typo === undefined ? undefined : closest(typo, parameterNames(tool))
  const isAboutNames = messages.every(message => /parameters? '|parameter$/.test(message))
  const all = messages.join('; ')
  const message = isAboutNames ? `${all} for tool '${tool.name}'.` : `${tool.name}: ${all}.`
  const hint = near === undefined ? parametersOf(tool) : `Did you mean '${near}'?`
  return new ToolError('invalid_input', message, { hint })
}

function parametersOf(tool: AnyTool): string {
  return `'${tool.name}' takes: ${parameterNames(tool).join(', ') || 'no parameters'}.`
}

/** Canonical parameter names of a tool, in the order of its schema. */
export function parameterNames(tool: AnyTool): string[] {
  const properties = tool.input.json.properties
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
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
  return isObject(item) && Object.keys(tool.parameterAliases).length > 0 ? renamed(tool, item) : item
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

/**
 * Puts right, in the input itself, what can be meant in one way only; false when there is no such thing: `null` where
 * nothing was wanted (clients that must send every parameter send that), numbers and booleans as text. Only what the
 * schema refused is touched, so a parameter that takes null or text gets it.
 */
function repairInput(input: Record<string, unknown>, issues: readonly Issue[]): boolean {
  return issues.map(issue => repairAt(input, issue)).includes(true)
}

/** A number that is written as people and JSON write it, and that is exactly this number. */
function numberFrom(text: string): number | undefined {
  if (!/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/.test(text)) return undefined
  return Number(text)
}

function repairAt(input: Record<string, unknown>, { pointer, expected }: Issue): boolean {
  const names = pointer
    .split('/')
    .slice(1)
    .map(name => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = names.pop()
  const holder = names.reduce<unknown>(memberOf, input)
  if (last === undefined || typeof holder !== 'object' || holder === null) return false
  const value = memberOf(holder, last)
  if (value === null && !Array.isArray(holder)) return Reflect.deleteProperty(holder, last)
  const meant = typeof value === 'string' ? meantBy(value, expected) : undefined
  return meant !== undefined && Reflect.set(holder, last, meant)
}

/** Own properties only: `constructor` must not lead to Object's. */
function memberOf(holder: unknown, name: string): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return undefined
  return Reflect.get(holder, name)
}

function meantBy(text: string, expected: Issue['expected']): number | boolean | undefined {
  if (expected === 'number') return numberFrom(text)
  const isBoolean = expected === 'boolean' && /^(?:[Tt]rue|[Ff]alse)$/.test(text)
  return isBoolean ? text.toLowerCase() === 'true' : undefined
}
