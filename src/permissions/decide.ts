import { GIT_READ, PROTECTED_FILES } from '../core/access.ts'
import type { HiddenFiles } from '../core/command.ts'
import type { Decision, JudgeRequest, Mode, Outcome } from '../core/decision.ts'
import type { FindSecret } from '../core/known-secrets.ts'
import type { Risk } from '../core/tool.ts'
import { findAuthorityStop } from './authority-stops.ts'
import { findHardStop, type HardStop, type ScopeContext } from './hard-limits.ts'
import { GIT_PUSH, type Item, NO_SANDBOX, UNREAD_LINE } from './items.ts'
import type { NetworkSetting } from './network/command-network.ts'
import { patternsFor } from './network/named-hosts.ts'
import { findSecretStop } from './network/secret-stops.ts'
import { defaultVerdict, type Fallback, STRICTNESS, type Verdict } from './rules/defaults.ts'
import type { Rule } from './rules/rules.ts'

/** What one call is decided by. */
export interface DecideContext {
  readonly request: JudgeRequest
  readonly scope: ScopeContext
  readonly fallback: Fallback
  /** Those in force for the call. */
  readonly rules: readonly Rule[]
  /** The grant that covers this item, if one does. `isRule`: a rule or setting asks or refuses, not only the mode asks. */
  grantFor(item: Item, isRule: boolean): { id: string; text: string; source: string } | undefined
  /** False when no call of this engine hides the file from a command. */
  readonly mayHide: HiddenFiles['mayHide']
  /** Hosts that approved commands may contact beside those that they name. */
  readonly network: NetworkSetting
  /** Of these, what the person's own settings name. */
  readonly ownHosts: readonly string[]
  /** Whether a text contains a secret that must not be sent. */
  readonly findSecret: FindSecret
}

export interface Judged {
  readonly decision: Decision
  readonly hard: HardStop | undefined
  /** The verdict on each item, in the order of the items. */
  readonly verdicts: readonly Verdict[]
}

/**
 * Pure. Hard limits first; then every item of the call gets a verdict of its own (rules: deny > ask > allow, whatever
 * file they stand in; a grant lifts an ask; the mode settles the rest), and the strictest one decides the call.
 */
export function decide(items: readonly Item[], context: DecideContext): Judged {
  const { request, rules: inForce } = context
  const hard =
    findHardStop(items, context.scope, item => patternsFor(item, context)) ??
    findAuthorityStop(items, request) ??
    findSecretStop(items, context)
  if (hard !== undefined) {
    const decision: Decision = {
      outcome: 'deny',
      by: 'hard-stop',
      ref: { id: hard.id, source: 'built-in', text: 'hard limit' },
      reason: hard.reason,
    }
    return { decision, hard, verdicts: [] }
  }
  const matched = new Map<Rule, Outcome>()
  const toolRules = inForce.filter(rule => rule.matches(TOOL_ITEM, request))
  const confirmed = itemsToConfirm(items, request)
  const verdicts = items.map(item => {
    const own = inForce.filter(rule => item.kind !== 'tool' && rule.matches(item, request))
    for (const rule of own) matched.set(rule, rule.decision)
    const rules = { own: [...own, ...mayForbid(item, inForce)], toolRules, isConfirmed: confirmed.has(item) }
    return judgeItem(item, rules, context)
  })
  for (const rule of toolRules) matched.set(rule, rule.decision)
  return { decision: toDecision(items, verdicts, matched), hard: undefined, verdicts }
}

/** Where a line starts what is only known when it runs, each rule that forbids commands may be about it: it asks. */
function mayForbid(item: Item, rules: readonly Rule[]): Rule[] {
  if (item.kind !== 'execute' || !item.analysis.startsUnknown) return []
  return rules
    .filter(({ decision, definition }) => decision !== 'allow' && (definition.command ?? definition.effects))
    .map(rule => ({
      ...rule,
      decision: 'ask',
      onlyTightens: true,
      reason: `The rule '${rule.id}' forbids commands, and this line starts one that is known only when it runs.`,
    }))
}

const TOOL_ITEM: Item = { kind: 'tool', derived: false }

interface ItemRules {
  readonly own: readonly Rule[]
  readonly toolRules: readonly Rule[]
  /** An allow is not enough; a grant is. */
  readonly isConfirmed: boolean
}

/** What a call is about, in a run whose side effects are all confirmed. What the call only reads for it needs no yes. */
function itemsToConfirm(items: readonly Item[], request: JudgeRequest): ReadonlySet<Item> {
  if (request.run.authority.confirm !== true || riskOf(items, request) === 'low') return new Set()
  const effects = items.filter(({ kind, derived }) => !derived && kind !== 'tool' && kind !== 'file_read')
  return new Set(effects.length > 0 ? effects : items)
}

/** A call is of low risk when nothing in it has a side effect; a command line by what it says, unless its tool is declared. */
export function riskOf(items: readonly Item[], request: JudgeRequest, isContained = false): Risk {
  const command = items.find(item => item.kind === 'execute')
  // Only Kogu's own tools are trusted to be read-only.
  const looks = items.some(item => item.kind === 'custom' && item.name === GIT_READ)
  if (command === undefined) return looks && request.tool.isPartOfKogu === true ? 'low' : request.risk
  const isLow = isContained || command.analysis.level === 'safe'
  return isLow && request.tool.isHighRisk !== true ? 'low' : 'high'
}

function judgeItem(item: Item, { own, toolRules, isConfirmed }: ItemRules, context: DecideContext): Verdict {
  const fallback = defaultVerdict(item, context.request, context.fallback)
  const { mode } = context.request.run.authority
  // Rules and grants were given for sandboxed commands and for changes that can be undone: only an approval of this
  // call counts.
  if (item.kind === 'custom' && [NO_SANDBOX, GIT_PUSH, PROTECTED_FILES, UNREAD_LINE].includes(item.name))
    return { ...fallback, always: true }
  // The mode read-only is a ceiling: an allow rule does not raise it.
  if (fallback.outcome === 'deny' && mode === 'read-only') return fallback
  const rules = item.kind === 'tool' ? toolRules : own
  const strictest = pickStrictest(rules.filter(rule => !rule.onlyTightens))
  // A rule for the whole tool covers items without a rule of their own.
  const general =
    strictest === undefined && !item.derived ? toolRules.find(rule => rule.decision === 'allow') : undefined
  const settled = stricterOf(
    toVerdict(strictest ?? general, mode) ?? fallback,
    toVerdict(pickStrictest(rules.filter(rule => rule.onlyTightens)), mode),
  )
  const verdict = isConfirmed && settled.outcome === 'allow' ? confirmation(mode) : settled
  const open = verdict.outcome === 'ask' || verdict.unasked === true
  if (!open || verdict.always === true) return verdict
  const grant = context.grantFor(item, verdict.outcome !== 'ask' || verdict.ref.source !== 'built-in')
  if (grant === undefined) return verdict
  return {
    outcome: 'allow',
    by: 'grant',
    ref: grant,
    reason: `Allowed by the grant ${grant.id}: ${grant.text}.`,
  }
}

function confirmation(mode: Mode): Verdict {
  return {
    outcome: mode === 'auto' ? 'deny' : 'ask',
    by: 'mode',
    ref: { id: 'orchestration-approval', source: 'built-in', text: 'orchestration approval' },
    reason: 'This run was started so that everything with a side effect is confirmed.',
    unasked: mode === 'auto',
  }
}

function pickStrictest(rules: readonly Rule[]): Rule | undefined {
  return rules.toSorted((a, b) => STRICTNESS[b.decision] - STRICTNESS[a.decision])[0]
}

/** An ask of a file that may not loosen anything must not take the place of a refusal. */
function stricterOf(own: Verdict, added: Verdict | undefined): Verdict {
  if (added === undefined) return own
  // A grant answers a refusal that only stands for a question.
  const weight = ({ outcome, unasked }: Verdict): number =>
    STRICTNESS[outcome] * 2 + (unasked === true ? 0 : 1)
  return {
    ...(weight(added) >= weight(own) ? added : own),
    always: own.always === true || added.always === true,
  }
}

function toVerdict(rule: Rule | undefined, mode: Mode): Verdict | undefined {
  if (rule === undefined) return undefined
  const reason = rule.reason ?? `The rule '${rule.id}' says ${rule.decision}: ${rule.ref.text}.`
  // In the mode auto nobody is asked.
  const unasked = rule.decision === 'ask' && mode === 'auto'
  return {
    outcome: unasked ? 'deny' : rule.decision,
    by: 'rule',
    ref: rule.ref,
    reason,
    always: rule.always,
    unasked,
  }
}

function toDecision(
  items: readonly Item[],
  verdicts: readonly Verdict[],
  matched: ReadonlyMap<Rule, Outcome>,
): Decision {
  const chosen = pickVerdict(items, verdicts)
  const also = [...matched.entries()]
    .filter(([rule]) => rule.ref !== chosen.ref)
    .map(([rule, outcome]) => ({
      id: rule.id,
      outcome,
      why: STRICTNESS[outcome] < STRICTNESS[chosen.outcome] ? 'less strict' : 'shadowed',
    }))
  return {
    outcome: chosen.outcome,
    by: chosen.by,
    ref: chosen.ref,
    reason: chosen.reason,
    ...(also.length === 0 ? {} : { also }),
  }
}

/** The strictest verdict decides; among equals, the one that says most. */
function pickVerdict(items: readonly Item[], verdicts: readonly Verdict[]): Verdict {
  const weigh = (verdict: Verdict, item: Item | undefined): number =>
    STRICTNESS[verdict.outcome] * 10 + howTelling(verdict, item) - (item?.derived ? 1 : 0)
  const weighed = verdicts.map((verdict, index) => ({ verdict, weight: weigh(verdict, items[index]) }))
  const best = weighed.sort((a, b) => b.weight - a.weight)[0]?.verdict
  if (best === undefined) throw new Error('A call without items cannot be judged.')
  return best
}

/** An ask that nothing lifts before other asks, then a grant or rule of the user before a default. */
function howTelling({ always, ref, by }: Verdict, item: Item | undefined): number {
  if (always === true) return 4
  if (ref.source !== 'built-in') return 3
  if (by === 'mode') return 2
  return item?.kind === 'tool' ? 0 : 1
}
