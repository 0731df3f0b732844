import type { Source } from './read-source.ts'
import type { OrderedAction, OrderedRule, OrderedRules, Rule, RuleOrigin } from './rule-schema.ts'
import type { ParsedConfig } from './schema.ts'

export interface SourceRules {
  readonly rules: Rule[]
  readonly ordered: OrderedRules[]
  /** How many `allow` were taken out. */
  readonly dropped: number
}

/**
 * The rules of one source, each with its place. A source that may only tighten keeps its deny and ask: whoever can
 * write into a project can at worst make an agent there ask too much, and a project's own restrictions must hold
 * before anybody has found the time to review it. Its allow do not count.
 */
export function collectRules(
  source: Source,
  parsed: ParsedConfig,
  trusted: boolean,
  mayLoosen: boolean,
): SourceRules {
  if (source.data.permissions === undefined) return { rules: [], ordered: [], dropped: 0 }
  const origin = (path: readonly (string | number)[]): RuleOrigin => ({
    file: source.file,
    line: source.place(path).position?.line ?? 0,
    layer: source.layer,
    trusted,
  })
  const { rules, rule, default_action } = parsed.permissions
  const all = rules.map((written, index): Rule => {
    const place = origin(['permissions', 'rules', index])
    return { ...written, id: written.id ?? `${source.layer}:${place.line}`, origin: place }
  })
  const kept = mayLoosen ? all : all.filter(({ decision }) => decision !== 'allow')
  const entries = rule.map(
    ({ tool, pattern, action }, index): OrderedRule => ({
      tool,
      pattern,
      action: limited(action, mayLoosen),
      origin: origin(['permissions', 'rule', index]),
    }),
  )
  const ordered: OrderedRules[] = []
  if (default_action !== undefined) {
    ordered.push({
      // Allowing whatever no rule names is the person's own decision, in the person's own file.
      defaultAction: limited(default_action, mayLoosen && source.layer === 'user'),
      rules: entries,
      origin: origin(['permissions', 'default_action']),
    })
  }
  const passed = mayLoosen ? 0 : rule.filter(({ action }) => action === 'allow').length
  return { rules: kept, ordered, dropped: all.length - kept.length + passed }
}

function limited(action: 'allow' | 'ask' | 'deny', mayLoosen: boolean): OrderedAction {
  return action === 'allow' && !mayLoosen ? 'pass' : action
}
