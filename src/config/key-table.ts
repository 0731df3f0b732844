import { isPatternOf } from './tables.ts'

/** Of a value so far and a proposed one: the one that holds when only a stricter one may. */
type Combine = (current: unknown, proposed: unknown) => unknown

/** What each setting is, for everybody who has to treat settings differently. */
export interface KeyEntry {
  /** How the administrator's file, which may only tighten, changes it. Undefined: that file cannot set it. */
  readonly managed?: Combine
  /** How a file that nobody trusts yet changes it. Undefined: the person has to trust the file first. */
  readonly untrusted?: Combine
  /** The file below `src` that reads it. Null: nothing does yet, so that setting it is an error and not a false comfort. */
  readonly reader: string | null
}

/**
 * Every setting of the schema; `*` stands for one part of a key, `**` for the rest. A test enumerates the schema and fails
 * for a setting without a line here, and looks for each setting in the file that is said to read it. Whoever builds a
 * part that reads a setting puts its file in the place of `null`.
 */
export const KEYS: Readonly<Record<string, KeyEntry>> = {
  version: { reader: 'config/schema.ts' },
  language: { reader: 'compose/dynamic.ts' },
  mode: { ...stricter(stricterMode), reader: 'compose/policy.ts' },
  'defaults.provider': { reader: 'models.ts' },
  'defaults.model': { reader: 'models.ts' },
  'defaults.temperature': { reader: 'run-spec.ts' },
  'defaults.max_tokens': { reader: 'run-spec.ts' },
  'defaults.orchestration': { reader: 'run-spec.ts' },

  'limits.max_turns': { ...stricter(smaller), reader: 'run-spec.ts' },
  'limits.max_time': { ...stricter(smaller), reader: 'run-spec.ts' },
  'limits.max_cost': { ...stricter(smaller), reader: 'run-spec.ts' },
  'limits.max_tokens': { ...stricter(smaller), reader: 'run-spec.ts' },
  'limits.max_calls': { ...stricter(smaller), reader: 'run-spec.ts' },
  'limits.on_limit': { ...stricter(firstOf(['stop', 'ask'])), reader: 'cli/work-and-tell.ts' },
  'limits.budget.day': { ...stricter(smaller), reader: 'store/runs/budget.ts' },
  'limits.budget.month': { ...stricter(smaller), reader: 'store/runs/budget.ts' },
  'limits.budget.warn_at': { reader: 'store/runs/budget.ts' },
  'providers.**': { reader: 'models.ts' },

  'mcp.*.enabled': { ...stricter(firstOf([false, true])), reader: 'compose/mcp.ts' },
  'mcp.*.tools.off': { ...stricter(both), reader: 'compose/mcp.ts' },
  'mcp.*.sandbox': { ...stricter(firstOf([true, false])), reader: 'compose/mcp.ts' },
  'mcp.**': { reader: 'compose/mcp.ts' },

  'tools.providers': { ...stricter(common), reader: 'compose/providers.ts' },
  'tools.suggest_enhanced_tools': { reader: 'cli/suggest-programs.ts' },
  'tools.budget': { reader: 'cli/commands/mcp.ts' },
  'tools.builtin.enabled': { ...stricter(firstOf([false, true])), reader: 'compose/compose.ts' },
  'tools.custom.**': { reader: 'compose/providers.ts' },
  'tools.scripts.enabled': { ...stricter(firstOf([false, true])), reader: 'compose/providers.ts' },
  'tools.scripts.**': { reader: 'compose/providers.ts' },
  'tools.cli.enabled': { ...stricter(firstOf([false, true])), reader: 'compose/providers.ts' },
  'tools.cli.**': { reader: 'compose/providers.ts' },
  'tools.self_eval.enabled': { ...stricter(firstOf([false, true])), reader: 'compose/compose.ts' },
  'tools.self_eval.**': { reader: 'compose/builtin.ts' },
  'tools.mcp.enabled': { ...stricter(firstOf([false, true])), reader: 'compose/mcp.ts' },
  'tools.mcp.**': { reader: 'compose/mcp.ts' },
  'tools.run_command.profile': {
    ...stricter(firstOf(['restricted', 'shell'])),
    reader: 'compose/policy.ts',
  },
  'tools.run_command.allowed_commands': { ...stricter(common), reader: 'compose/policy.ts' },
  'tools.run_command.timeout': { ...stricter(smaller), reader: 'compose/policy.ts' },
  'tools.run_command.max_output': { ...stricter(smaller), reader: 'compose/compose.ts' },
  'tools.dynamic.enabled': { ...stricter(firstOf([false, true])), reader: 'compose/dynamic.ts' },
  'tools.dynamic.max_tools': { ...stricter(smaller), reader: 'compose/dynamic.ts' },
  'tools.dynamic.timeout': { ...stricter(smaller), reader: 'compose/dynamic.ts' },
  'tools.dynamic.memory': { ...stricter(smaller), reader: 'compose/dynamic.ts' },
  'tools.dynamic.strict': { ...stricter(firstOf([true, false])), reader: 'compose/dynamic.ts' },
  'tools.dynamic.failures': { reader: 'compose/dynamic.ts' },
  'tools.web_search.enabled': { ...stricter(firstOf([false, true])), reader: 'compose/compose.ts' },
  'tools.web_search.**': { reader: 'compose/builtin.ts' },
  'tools.*.enabled': { ...stricter(firstOf([false, true])), reader: 'compose/compose.ts' },
  'tools.*.**': { reader: null },
  'read.**': { reader: null },

  'permissions.default': { ...stricter(firstOf(['deny', 'ask'])), reader: 'compose/policy.ts' },
  // A stranger's file could let every question expire before anybody has read it.
  'permissions.commands': { ...stricter(firstOf(['ask', 'contain'])), reader: 'compose/compose.ts' },
  'permissions.approval_timeout': { managed: smaller, reader: 'runtime.ts' },
  'permissions.remember_max': { ...stricter(smaller), reader: 'compose/policy.ts' },
  // Rules do not merge: see rules.ts, which leaves out what a file may not allow.
  'permissions.rules': { reader: 'config/rules.ts' },
  'permissions.default_action': { reader: 'config/rules.ts' },
  'permissions.rule': { reader: 'config/rules.ts' },
  hooks: { reader: 'compose/compose.ts' },

  'quorum.rule': { reader: 'compose/review.ts' },
  'quorum.min_models': { ...stricter(larger), reader: 'compose/review.ts' },
  'quorum.review': { ...stricter(firstOf(['all', 'asked'])), reader: 'compose/review.ts' },
  'quorum.hil': {
    ...stricter(firstOf(['auto_reject', 'interactive', 'auto_approve'])),
    reader: 'compose/review.ts',
  },
  'quorum.veto': { ...stricter(both), reader: 'compose/review.ts' },
  'quorum.approves': { ...stricter(firstOf([false, true])), reader: 'compose/review.ts' },
  'quorum.veto_for': { ...stricter(both), reader: 'compose/review.ts' },
  'quorum.ordinary': { ...stricter(firstOf(['all', 'one'])), reader: 'compose/review.ts' },
  'quorum.max_time': { reader: 'compose/review.ts' },
  'quorum.max_cost': { reader: 'compose/review.ts' },
  'quorum.max_action_revisions': { ...stricter(smaller), reader: 'compose/review.ts' },
  'quorum.plan_review': { ...stricter(firstOf([true, false])), reader: 'compose/review.ts' },
  'quorum.max_plan_revisions': { ...stricter(smaller), reader: 'compose/review.ts' },
  'quorum.final_review': { ...stricter(firstOf([true, false])), reader: 'compose/review.ts' },
  'quorum.level': { reader: 'compose/review.ts' },
  'quorum.strategy': { reader: 'compose/review.ts' },
  'quorum.scope': { ...stricter(firstOf(['plan-only', 'full', 'fast'])), reader: 'compose/review.ts' },
  // It takes the place of `quorum.rule`, which may be stricter; only another number can be compared with it.
  'reviewers.needed': { ...stricter(largerNumber), reader: 'compose/review.ts' },
  'reviewers.on_deny': { ...stricter(firstOf(['deny', 'human'])), reader: 'compose/review.ts' },
  'reviewers.on_error': { ...stricter(firstOf(['deny', 'abstain'])), reader: 'compose/review.ts' },
  'reviewers.*.kind': { reader: 'compose/review.ts' },
  'reviewers.*.model': { reader: 'compose/review.ts' },
  'reviewers.*.command': { reader: 'compose/review.ts' },
  'reviewers.*.timeout': { reader: 'compose/review.ts' },
  'reviewers.*.lookups': { reader: 'compose/review.ts' },
  'agents.max_depth': { ...stricter(smaller), reader: 'sub-agents.ts' },
  'agents.max_parallel': { ...stricter(smaller), reader: 'runs.ts' },
  'agents.inherit': { reader: 'sub-agents.ts' },

  'sandbox.required': { ...stricter(firstOf([true, false])), reader: 'compose/compose.ts' },
  'sandbox.network': { ...stricter(lessNetwork), reader: 'compose/compose.ts' },
  'sandbox.memory': { ...stricter(smaller), reader: 'compose/compose.ts' },
  'sandbox.processes': { ...stricter(smaller), reader: 'compose/compose.ts' },
  'sandbox.cpu': { ...stricter(smaller), reader: 'compose/compose.ts' },
  'sandbox.file_size': { ...stricter(smaller), reader: 'compose/compose.ts' },
  'sandbox.writable_caches': { ...stricter(common), reader: 'compose/compose.ts' },
  'sandbox.background_write': { ...stricter(common), reader: 'compose/compose.ts' },
  'sandbox.build_output': { ...stricter(firstOf(['drop', 'ask', 'keep'])), reader: 'compose/compose.ts' },
  'sandbox.env': { ...stricter(common), reader: 'compose/compose.ts' },

  // Less room for undo takes away what could be taken back.
  'undo.budget': { reader: 'compose/compose.ts' },
  'undo.max_file_size': { reader: 'compose/compose.ts' },
  'audit.segment_size': { reader: 'compose/compose.ts' },
  'audit.sync': { ...stricter(firstOf(['always', 'batch'])), reader: 'compose/compose.ts' },
  'server.host': { reader: 'cli/commands/serve.ts' },
  'server.port': { reader: 'cli/commands/serve.ts' },
  'server.max_runs': { ...stricter(smaller), reader: 'server/services.ts' },
  'server.max_runs_per_agent': { ...stricter(smaller), reader: 'server/services.ts' },
  'server.otlp_endpoint': { reader: 'server/services.ts' },
  'server.allowed_hosts': { ...stricter(common), reader: 'server/open-server.ts' },
  'retention.runs': { reader: 'cli/commands/data.ts' },
  'retention.audit': { reader: null },
  'retention.outputs_max_bytes': { reader: null },
  // A pattern that matches everything would empty the record, so that it is no stricter side of anything.
  'redaction.patterns': { managed: both, reader: 'compose/compose.ts' },
  'notify.desktop': { reader: null },
  'notify.sound': { reader: null },
  'notify.command': { reader: 'cli/notify.ts' },
  'notify.webhook': { reader: 'cli/notify.ts' },
  'ui.**': { reader: null },
}

/** The line of the table for a setting; the first that fits. Undefined: there is none. */
export function keyEntry(path: readonly string[]): KeyEntry | undefined {
  const pattern = Object.keys(KEYS).find(candidate => isEntryOf(candidate, path))
  return pattern === undefined ? undefined : KEYS[pattern]
}

function isEntryOf(pattern: string, path: readonly string[]): boolean {
  if (!pattern.endsWith('.**')) return isPatternOf(pattern, path)
  const fixed = pattern.split('.').slice(0, -1)
  return path.length > fixed.length && isPatternOf(fixed.join('.'), path.slice(0, fixed.length))
}

function stricter(combine: Combine): Pick<KeyEntry, 'managed' | 'untrusted'> {
  return { managed: combine, untrusted: combine }
}

/**
 * Modes have no full order: `auto` refuses edits that `accept-edits` lets through, and lets through what a reviewer
 * approves. Only these two are certain: `read-only` is below all, and `ask` puts a person before every change.
 */
function stricterMode(current: unknown, proposed: unknown): unknown {
  if (proposed === 'read-only') return proposed
  return proposed === 'ask' && current !== 'read-only' ? proposed : current
}

/** The values from the strictest to the loosest. Of a setting that is not set, only the strictest one is certain. */
function firstOf(order: readonly unknown[]): Combine {
  return (current, proposed) =>
    current === undefined && proposed !== order[0]
      ? undefined
      : order.find(value => value === current || value === proposed)
}

function smaller(current: unknown, proposed: unknown): unknown {
  return typeof current === 'number' && typeof proposed === 'number' ? Math.min(current, proposed) : proposed
}

function larger(current: unknown, proposed: unknown): unknown {
  return typeof current === 'number' && typeof proposed === 'number' ? Math.max(current, proposed) : proposed
}

/** As `larger`, where a value that is not set does not stand for the least one. */
function largerNumber(current: unknown, proposed: unknown): unknown {
  return typeof current === 'number' ? larger(current, proposed) : current
}

/** What both lists have; a list that is not there stands for everything. */
function common(current: unknown, proposed: unknown): unknown {
  if (!Array.isArray(current) || !Array.isArray(proposed)) return proposed
  return current.filter(item => proposed.includes(item))
}

function both(current: unknown, proposed: unknown): unknown {
  if (!Array.isArray(current) || !Array.isArray(proposed)) return proposed
  return [...new Set([...current, ...proposed])]
}

function lessNetwork(current: unknown, proposed: unknown): unknown {
  if (current === false || proposed === false) return false
  if (current === true) return proposed
  if (proposed === true) return current
  return common(current, proposed)
}
