import { relative } from 'node:path'
import type { JudgeRequest, Outcome } from '../../core/decision.ts'
import { absolutePath, resolvePath } from '../../core/real-path.ts'
import { compileText, type NameTest } from '../../core/wildcard.ts'
import { subcommandStarts } from '../commands/programs/subcommands.ts'
import type { FileItem, Item } from '../items.ts'
import type { PathContext } from '../paths/paths.ts'
import { textForms } from './command-patterns.ts'
import type { CanonicalName, Rule, RuleOrigin } from './rules.ts'

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
 * Translates one ordered list into rules, one for each of its lines and one for its default; each matches exactly where
 * the list would stop at it. So the list keeps its first-match meaning, and across files the strictest still wins.
 */
export function compileOrdered(list: OrderedRules, context: PathContext, canonical: CanonicalName): Rule[] {
  const rules = list.rules.map(rule => ({
    ...rule,
    name: rule.tool.toLowerCase(),
    tool: canonical(rule.tool).toLowerCase(),
    matches: compileText(rule.pattern),
  }))
  const stopsAt = remember((item: Item, request: JudgeRequest) => firstMatch(rules, item, request, context))
  const lines = list.rules.map((rule, index) =>
    toRule(rule, `ordered-${index + 1}`, rule.action, (item, request) => {
      const stop = stopsAt(item, request)
      return stop.some(position => position === index)
    }),
  )
  const ofFiles = lines.map((line, index): Rule | undefined => {
    const { tool = '', matches } = rules[index] ?? {}
    if (line === undefined || !/^(\*|read_file|write_file|delete_file)$/.test(tool)) return line
    const about = (path: string): boolean =>
      pathSpellings(path, path, context).some(text => matches?.(text) === true)
    return { ...line, ordered: about }
  })
  const fallback = toRule(
    { tool: '*', pattern: '*', action: list.defaultAction, origin: list.origin },
    'ordered-default',
    list.defaultAction,
    // The default is about calls; what a command touches is only held to what the list says in so many words.
    (item, request) =>
      (item.kind === 'tool' || item.kind === 'execute') && stopsAt(item, request).includes(DEFAULT),
  )
  return [...ofFiles, fallback].filter(rule => rule !== undefined)
}

const DEFAULT = -1

interface CompiledLine extends OrderedRule {
  /** As it is written. `tool` is the canonical name, where it is one of Kogu's own tools. */
  readonly name: string
  readonly matches: NameTest
}

/** The positions at which the list stops for this item: one, or one for every command of a line. */
function firstMatch(
  rules: readonly CompiledLine[],
  item: Item,
  request: JudgeRequest,
  context: PathContext,
): number[] {
  const search: Search = (tool, texts, forms = []) =>
    rules.findIndex(
      rule =>
        (rule.tool === '*' || rule.tool === tool) &&
        [...texts, ...(rule.action === 'allow' ? [] : forms)].some(text => rule.matches(text)),
    )
  switch (item.kind) {
    case 'tool':
      // A command line is judged by its commands, below: `allow "git *"` must not allow `git status && rm x`.
      if (request.access.some(access => access.kind === 'execute')) return []
      return [rules.findIndex(rule => matchesCall(rule, request, context))]
    case 'file_read':
    case 'file_write':
    case 'file_delete':
      return strictOnly(rules, [
        search(TOOL_OF_KIND[item.kind], pathSpellings(item.path, item.real, context)),
      ])
    case 'execute':
      return commandStops(rules, item, search)
    case 'network':
      return strictOnly(rules, [search('web_fetch', [item.url])])
    case 'custom':
      return []
  }
}

/**
 * By the text of the main argument, as the rule's author sees it. An allow has to hold for where each file really is:
 * `docs/*` would otherwise allow `docs/../.env` and what a link in `docs` leads to.
 */
function matchesCall(rule: CompiledLine, request: JudgeRequest, context: PathContext): boolean {
  if (rule.tool !== '*' && !request.toolNames.has(rule.name)) return false
  const resolve = request.resolvePath ?? resolvePath
  const files = request.access.flatMap(access =>
    'path' in access ? [absolutePath(access.path, request.cwd)] : [],
  )
  if (rule.action !== 'allow' || files.length === 0) {
    const all = files.flatMap(path => pathSpellings(path, resolve(path).real, context))
    return [mainArgument(request), ...all].some(text => rule.matches(text))
  }
  return files.every(path => {
    const { real } = resolve(path)
    return [real, relative(context.workspace, real)].some(text => rule.matches(text))
  })
}

/** `forms` are other spellings of the same, which count for lines that forbid and ask. */
type Search = (tool: string, texts: readonly string[], forms?: readonly string[]) => number

/** Every command that does more than read stops somewhere; plain readers only where the list names them. */
function commandStops(
  rules: readonly CompiledLine[],
  item: Item & { kind: 'execute' },
  search: Search,
): number[] {
  const whole = search('run_command', [item.command])
  const parts = item.analysis.commands.flatMap(found => {
    const words = found.argv.map(word => word.text)
    const forms = textForms(words, subcommandStarts(found.program ?? '', words))
    const stop = search('run_command', [found.argv.map(word => word.raw).join(' ')], forms)
    return found.level === 'safe' && stop === DEFAULT ? [] : [stop]
  })
  return parts.length === 0 ? [whole] : [...parts, ...strictOnly(rules, [whole])]
}

function strictOnly(rules: readonly CompiledLine[], positions: readonly number[]): number[] {
  return positions.filter(position => rules[position]?.action === 'deny' || rules[position]?.action === 'ask')
}

const TOOL_OF_KIND: Readonly<Record<FileItem['kind'], string>> = {
  file_read: 'read_file',
  file_write: 'write_file',
  file_delete: 'delete_file',
}

function pathSpellings(path: string, real: string, { workspace }: PathContext): string[] {
  return [path, real, relative(workspace, path), relative(workspace, real)]
}

function mainArgument(request: JudgeRequest): string {
  const { command, path, pattern } = request.input
  const first = [command, path, pattern].find(value => typeof value === 'string')
  return typeof first === 'string' ? first : JSON.stringify(request.input)
}

function toRule(
  rule: OrderedRule,
  id: string,
  action: OrderedAction,
  matches: Rule['matches'],
): Rule | undefined {
  if (action === 'pass') return undefined
  const { file, line } = rule.origin
  return {
    id,
    decision: action,
    reason: undefined,
    always: false,
    definition: { decision: action, tool: rule.tool, origin: rule.origin },
    ref: {
      id,
      source: file,
      ...(line === undefined ? {} : { line }),
      text: `${action} ${rule.tool} ${rule.pattern}`,
    },
    applies: () => true,
    matches,
  }
}

/** Every rule of the list asks the same question about the same item; it is answered once. */
function remember(answer: (item: Item, request: JudgeRequest) => number[]) {
  const known = new WeakMap<object, number[]>()
  return (item: Item, request: JudgeRequest): number[] => {
    const key = item.kind === 'tool' ? request : item
    const before = known.get(key)
    if (before !== undefined) return before
    const result = answer(item, request)
    known.set(key, result)
    return result
  }
}
