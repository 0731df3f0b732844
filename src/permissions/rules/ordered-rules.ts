import type { JudgeRequest, Outcome } from '../../core/decision.ts'
import { absolutePath } from '../../core/real-path.ts'
import { fileItem, type Item } from '../items.ts'
import type { PathContext } from '../paths/paths.ts'
import type { TokenPattern } from './command-patterns.ts'
import {
  type CanonicalName,
  compileRule,
  KINDS_OF_TOOL,
  type Part,
  type Rule,
  type RuleDefinition,
  type RuleOrigin,
} from './rules.ts'

/** The ordered form of one file: the first rule that matches decides, else the default. */
export interface OrderedRules {
  readonly defaultAction: OrderedAction
  readonly rules: readonly OrderedRule[]
  readonly origin: RuleOrigin
}

/** `pass`: the list ends here without a verdict (an allow that may not count). */
type OrderedAction = Outcome | 'pass'

interface OrderedRule {
  readonly tool: string
  /** With `*` and `?`, over the argument that matters most: command, path, pattern, else all of them as JSON. */
  readonly pattern: string
  readonly action: OrderedAction
  readonly origin: RuleOrigin
}

/**
 * Translates one ordered list into rules of the other form. A line does not count where a milder one before it does; a
 * stricter one wins by itself. So the list keeps its first-match meaning, and across files the strictest still wins.
 */
export function compileOrdered(list: OrderedRules, context: PathContext, canonical: CanonicalName): Rule[] {
  const { defaultAction, origin } = list
  const lines = list.rules.map((rule, index) => toLine(rule, `ordered-${index + 1}`, context, canonical))
  const held = lines.flatMap(({ action, rule }, index) => {
    if (action === 'pass') return []
    return exceptWhere(
      lines.slice(0, index).filter(each => MILDNESS[each.action] > MILDNESS[action]),
      rule,
    )
  })
  if (defaultAction === 'pass') return held
  const everything = { tool: '*', pattern: '*', action: defaultAction, origin }
  const { rule } = toLine(everything, 'ordered-default', context, canonical)
  return [...held, defaultAction === 'allow' ? rule : { ...rule, matches: reachesEnd(lines) }]
}

const MILDNESS: Readonly<Record<OrderedAction, number>> = { deny: 0, ask: 1, allow: 2, pass: 2 }

interface Line {
  readonly action: OrderedAction
  readonly rule: Rule
  /** Whether the list stops here, for this item or this part of a command line. */
  stops(item: Item, request: JudgeRequest, part?: Part): boolean
}

/** A line says the same of files, of commands and of the argument as text: it is a rule about each of them. */
function toLine(ordered: OrderedRule, id: string, context: PathContext, canonical: CanonicalName): Line {
  const { action, tool, pattern } = ordered
  const definitions = toDefinitions(ordered, id, canonical)
  const definition: RuleDefinition = Object.assign({}, ...definitions, { argument: pattern })
  const rules = definitions.map(each => compileRule(each, 0, context, canonical))
  const matches: Rule['matches'] = (...about) => rules.some(each => each.matches(...about))
  const whole = compileRule(definition, 0, context, canonical)
  const isAllow = whole.decision === 'allow'
  const isEverything = isAllow && tool === '*' && pattern === '*'
  return {
    action,
    rule: { ...whole, matches, ref: { ...whole.ref, text: `${action} ${tool} ${pattern}` } },
    stops(item, request, part) {
      const files = item.kind === 'tool' && isAllow ? filesOf(request, context) : []
      if (isEverything || files.length === 0) return isEverything || matches(item, request, part)
      // `docs/*` must not allow `docs/../.env`, nor what a link in `docs` leads to.
      return files.every(file => matches(file, request))
    },
  }
}

function toDefinitions(rule: OrderedRule, id: string, canonical: CanonicalName): RuleDefinition[] {
  const { action, tool, pattern, origin } = rule
  const decision = action === 'pass' ? 'allow' : action
  const base = { id, decision, origin, argument: pattern }
  const path = [pathPattern(pattern, decision)]
  if (tool === '*' && decision === 'allow') {
    // It names files. That `docs/*` may also run `docs/build.sh`, or call any tool with such a text, it does not say.
    return [pattern === '*' ? { id, decision, origin } : { ...base, path }]
  }
  const kinds = KINDS_OF_TOOL[canonical(tool).toLowerCase()] ?? ['file_read', 'execute']
  return [
    ...(kinds.some(kind => kind.startsWith('file_')) ? [{ ...base, tool, path }] : []),
    ...(kinds.includes('execute') ? [{ ...base, tool, command: commandWords(pattern) }] : []),
    { ...base, tool },
  ]
}

/** `*` of a text goes across folders: in a path pattern that is part of a name, or of several with folders between. */
function pathPattern(pattern: string, decision: Outcome): string {
  const text = pattern.replaceAll(/[\\[\]{}()]/g, '\\$&').replaceAll(/\*+/g, '*')
  const spread = (part: string): string => part.replaceAll('?', '{?,/}').replaceAll('*', '{*,*/**/*}')
  if (text.startsWith('*')) return `**/*${spread(text.slice(1))}`
  const local = /^(?:\/|~\/|\.\.?\/)/.test(text) ? text : `./${text}`
  // What forbids all in a folder forbids the folder.
  return decision !== 'allow' && local.endsWith('/*') ? `${spread(local.slice(0, -2))}/**` : spread(local)
}

/** `git push*` is `git`, a word that begins with `push`, and any more words. */
function commandWords(pattern: string): TokenPattern[] {
  const words = pattern.replaceAll(/\*+/g, '*').trim().split(/\s+/)
  return words.flatMap(word => {
    if (word === '*') return ['*', '**']
    return [...(word.startsWith('*') ? ['**'] : []), word, ...(word.endsWith('*') ? ['**'] : [])]
  })
}

function exceptWhere(milder: readonly Line[], rule: Rule): Rule {
  if (milder.length === 0) return rule
  return {
    ...rule,
    matches: (item, request, only) =>
      partsOf(item, only).some(
        part => rule.matches(item, request, part) && !milder.some(line => line.stops(item, request, part)),
      ),
  }
}

function partsOf(item: Item, only: Part | undefined): (Part | undefined)[] {
  if (item.kind !== 'execute' || only !== undefined) return [only]
  return [...item.analysis.commands, 'line']
}

/**
 * The default is about calls and command lines; what they touch is only held to what the list says in so many words.
 * Of a line, every command that does more than read has to stop somewhere before.
 */
function reachesEnd(lines: readonly Line[]): Rule['matches'] {
  return (item, request) => {
    if (item.kind !== 'tool' && item.kind !== 'execute') return false
    const isStopped = (part?: Part): boolean => lines.some(line => line.stops(item, request, part))
    if (item.kind === 'tool') return request.access.every(({ kind }) => kind !== 'execute') && !isStopped()
    if (item.analysis.level === 'safe') return false
    const active = item.analysis.commands.filter(({ level }) => level !== 'safe')
    return active.length === 0 ? !isStopped() : !active.every(isStopped)
  }
}

function filesOf(request: JudgeRequest, context: PathContext): Item[] {
  const resolve = request.resolvePath
  return request.access.flatMap(access => {
    if (!('path' in access)) return []
    const path = absolutePath(access.path, request.cwd)
    return [fileItem(access.kind, path, context, false, resolve?.(path).real)]
  })
}
