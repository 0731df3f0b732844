import { closest } from '../../core/suggest.ts'
import { STRICTNESS } from './defaults.ts'
import {
  type Conditions,
  isForEveryTool,
  isToolPattern,
  KINDS_OF_TOOL,
  type Rule,
  toolPattern,
} from './rules.ts'

export interface LintFinding {
  readonly rule: string
  readonly file: string
  readonly line: number | undefined
  readonly kind: 'contradiction' | 'unreachable' | 'duplicate' | 'expired' | 'unknown-tool' | 'never-matches'
  readonly message: string
}

const CONDITIONS = ['tool', 'path', 'host', 'method', 'command', 'effects', 'agents', 'modes'] as const

/** Rules that cannot do what they seem to: hidden by a stricter one, said twice, over, or about nothing that exists. */
export function lintRules(rules: readonly Rule[], toolNames: readonly string[], now: number): LintFinding[] {
  return rules.flatMap((rule, index) => [
    ...ownFindings(rule, toolNames, now),
    ...rules.flatMap((other, position) => (position === index ? [] : compare(rule, other, position < index))),
  ])
}

/** Names that no tool answers to now. The rule holds for a tool that comes later. */
export function findUnknownTools(rule: Rule, toolNames: readonly string[]): LintFinding[] {
  if (isForEveryTool(rule.definition)) return []
  return [rule.definition.tool ?? []]
    .flat()
    .filter(name => name !== '*' && !Object.hasOwn(KINDS_OF_TOOL, name))
    .filter(name =>
      isToolPattern(name, rule.decision === 'allow')
        ? !toolNames.some(toolPattern(name))
        : !toolNames.includes(name.toLowerCase()),
    )
    .map(name => {
      const near = closest(name.toLowerCase(), toolNames)
      const hint = near === undefined ? '' : ` Did you mean '${near}'?`
      return finding(
        rule,
        'unknown-tool',
        `there is no tool '${name}' now.${hint} The rule applies if one is added.`,
      )
    })
}

function ownFindings(rule: Rule, toolNames: readonly string[], now: number): LintFinding[] {
  const { expires, host } = rule.definition
  const addresses = (host ?? []).filter(pattern => /[/\s]/.test(pattern))
  return [
    ...(expires !== undefined && expires <= now ? [finding(rule, 'expired', 'it has expired.')] : []),
    ...findUnknownTools(rule, toolNames),
    ...addresses.map(address =>
      finding(rule, 'never-matches', `'${address}' is an address, not a host: write only the name.`),
    ),
  ]
}

function compare(rule: Rule, other: Rule, otherIsFirst: boolean): LintFinding[] {
  if (!coversAll(other.definition, rule.definition)) return []
  const place = other.ref.line === undefined ? other.ref.source : `${other.ref.source}:${other.ref.line}`
  if (STRICTNESS[other.decision] > STRICTNESS[rule.decision]) {
    const [kind, what] = coversAll(rule.definition, other.definition)
      ? (['contradiction', 'the same thing'] as const)
      : (['unreachable', 'all of it'] as const)
    return [finding(rule, kind, `'${other.id}' (${place}) says ${other.decision} about ${what}, and wins.`)]
  }
  const repeats = other.decision === rule.decision && otherIsFirst
  return repeats ? [finding(rule, 'duplicate', `'${other.id}' (${place}) says the same already.`)] : []
}

/** Whether everything that `inner` speaks about, `outer` speaks about too. Only what is certain counts. */
function coversAll(outer: Rule['definition'], inner: Rule['definition']): boolean {
  if (outer.except !== undefined || outer.expires !== undefined || outer.after !== undefined) return false
  // Of an ordered list, other lines say where one counts.
  if (outer.argument !== undefined) return false
  return CONDITIONS.every(name => coversOne(name, outer, inner))
}

function coversOne(name: (typeof CONDITIONS)[number], outer: Conditions, inner: Conditions): boolean {
  const wide = outer[name]
  const narrow = inner[name]
  // A rule without a path or command is about calls of the tool as a whole: it does cover narrower ones.
  if (wide === undefined) return true
  if (narrow === undefined) return false
  if (name === 'command')
    return JSON.stringify(wide) === JSON.stringify(narrow) || isPrefixPattern(wide, narrow)
  const all = [wide].flat().map(String)
  return [narrow]
    .flat()
    .every(value => all.includes(String(value)) || (name === 'path' && all.includes('**')))
}

/** `["git", "**"]` covers every pattern that begins with `git`. */
function isPrefixPattern(wide: unknown, narrow: unknown): boolean {
  if (!Array.isArray(wide) || !Array.isArray(narrow) || wide.at(-1) !== '**') return false
  const fixed = wide.slice(0, -1)
  return fixed.every((token, index) => JSON.stringify(token) === JSON.stringify(narrow[index]))
}

function finding(rule: Rule, kind: LintFinding['kind'], message: string): LintFinding {
  return {
    rule: rule.id,
    file: rule.ref.source,
    line: rule.ref.line,
    kind,
    message: `Rule '${rule.id}': ${message}`,
  }
}
