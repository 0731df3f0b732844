import { toTomlValue } from '../../components/config-file/toml-edit.ts'
import type { Outcome, Rule } from './types.ts'

/** A rule as the form has it. What the form has no field for is in `rest` and is kept. */
export interface RuleDraft {
  readonly id: string
  readonly decision: Outcome
  readonly tool: readonly string[]
  /** One word each; alternatives are written `npm|pnpm`. */
  readonly command: readonly string[]
  readonly path: readonly string[]
  readonly host: readonly string[]
  readonly effects: readonly string[]
  readonly agents: readonly string[]
  /** Of the kind that the rule itself is about: command words, paths or hosts. */
  readonly except: readonly string[]
  readonly reason: string
  readonly match: readonly string[]
  readonly notMatch: readonly string[]
  readonly always: boolean
  readonly rest: Readonly<Record<string, unknown>>
}

export const EMPTY_RULE: RuleDraft = {
  ...{ id: '', decision: 'ask', tool: ['run_command'], command: [], path: [], host: [], effects: [] },
  ...{ agents: [], except: [], reason: '', match: [], notMatch: [], always: false, rest: {} },
}

/** In the address: a rule that is not there yet. No rule can be called so. */
export const NEW = '+'

/**
 * A rule for one call that was approved again and again: for exactly what was approved, without any wildcard. Undefined
 * where no rule says just that: the name of the tool alone would allow all that it can do.
 */
export function proposeRule(tool: string, input: string): RuleDraft | undefined {
  const { command, path } = parseInput(input)
  const name = (words: readonly string[]): string =>
    `always-${[tool, ...words].join('-').replaceAll(/[^\w.-]/g, '-')}`.slice(0, 100)
  // What a shell would read otherwise is no list of words.
  if (typeof command === 'string' && /^[\w@%+=:,./-][\w@%+=:,./ -]*$/.test(command)) {
    const words = command.trim().split(/ +/)
    const id = name(words.slice(0, 2))
    return { ...EMPTY_RULE, id, decision: 'allow', tool: [tool], command: words, match: [command] }
  }
  if (typeof path !== 'string' || command != null || !/^[^*?[\]{}()!\\~\s][^*?[\]{}()!\\]*$/.test(path))
    return undefined
  // Without a slash it would be every file of that name, wherever it lies.
  const pattern = path.includes('/') ? path : `./${path}`
  return { ...EMPTY_RULE, id: name([]), decision: 'allow', tool: [tool], path: [pattern], match: [path] }
}

function parseInput(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    // The address can say anything.
    return {}
  }
}

/** The example that a recorded call is for a rule; undefined when its input has none. */
export function exampleOf(input: unknown): string | undefined {
  const { command, path, url } =
    typeof input === 'object' && input !== null ? ({ ...input } as Record<string, unknown>) : {}
  return [command, path, url].find(value => typeof value === 'string')
}

/** What `except` is about; the kinds of a rule are never mixed. */
export function exceptKind({ path, host }: Pick<RuleDraft, 'path' | 'host'>): 'path' | 'host' | 'command' {
  if (path.length > 0) return 'path'
  return host.length > 0 ? 'host' : 'command'
}

export function toDraft({ id, decision, reason, definition }: Rule): RuleDraft {
  const known = definition ?? {}
  const { tool, command, path, host, effects, agents, match, not_match, always, except, expires, ...others } =
    known
  const { id: _id, decision: _decision, reason: _reason, ...rest } = others
  const kind = exceptKind({ path: toWords(path), host: toWords(host) })
  const excepted = typeof except === 'object' && except !== null ? { ...except } : {}
  const own = kind in excepted && Object.keys(excepted).length === 1
  return {
    ...{ id, decision, reason: reason ?? '', always: always === true },
    ...{ tool: toWords(tool), command: toWords(command), path: toWords(path), host: toWords(host) },
    ...{ effects: toWords(effects), agents: toWords(agents) },
    ...{ match: toWords(match), notMatch: toWords(not_match) },
    except: own ? toWords((excepted as Record<string, unknown>)[kind]) : [],
    rest: {
      ...rest,
      ...(except === undefined || own ? {} : { except }),
      ...(typeof expires === 'number' ? { expires: new Date(expires).toISOString() } : {}),
    },
  }
}

export function toToml(draft: RuleDraft): string {
  const { id, decision, reason, always, rest } = draft
  const list = (words: readonly string[]): readonly string[] | string | undefined =>
    words.length === 0 ? undefined : words.length === 1 ? words[0] : words
  const several = (words: readonly string[]): readonly string[] | undefined =>
    words.length === 0 ? undefined : words
  const kind = exceptKind(draft)
  const excepted = kind === 'command' ? toTokens(draft.except) : several(draft.except)
  const keys: Record<string, unknown> = {
    ...{ id, decision, tool: list(draft.tool), command: toTokens(draft.command) },
    ...{ path: list(draft.path), host: list(draft.host), effects: several(draft.effects) },
    ...{ agents: several(draft.agents), except: excepted === undefined ? undefined : { [kind]: excepted } },
    ...{ reason: reason === '' ? undefined : reason, always: always ? true : undefined },
    ...{ match: several(draft.match), not_match: several(draft.notMatch) },
    ...rest,
  }
  const lines = Object.entries(keys)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => `${key} = ${toTomlValue(value)}`)
  return `[[permissions.rules]]\n${lines.join('\n')}\n`
}

function toTokens(words: readonly string[]): unknown[] | undefined {
  if (words.length === 0) return undefined
  return words.map(word => (/^[^|]+(\|[^|]+)+$/.test(word) ? word.split('|') : word))
}

/** One text or a list of them, in which a list of alternatives is one word. */
function toWords(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return []
  return value.map(each => (Array.isArray(each) ? each.join('|') : String(each)))
}
