import type { Usage } from '../agents/model.ts'
import { ConfigError } from '../config/config-error.ts'
import type { Environment } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { Approver } from '../core/approval.ts'
import type { AuditLog } from '../core/audit.ts'
import type { CallRuntime } from '../core/call.ts'
import type { Processes } from '../core/processes.ts'
import type { Reviewer } from '../core/review.ts'
import type { QuorumMember } from '../review/ask-members.ts'
import type { ReviewBoard } from '../review/board.ts'
import { reviewIssues, ruleOf } from '../review-settings.ts'
import { outsideContext } from '../sandbox/outside-program.ts'

interface ReviewParts {
  readonly processes: Processes
  readonly record: AuditLog['record']
  /** Made after the reviewers; one that looks at files needs it then. */
  calls(): CallRuntime | undefined
}

export interface Review {
  /** See calls. */
  readonly reviewers: readonly Reviewer[]
  /** Sees plans and outcomes. */
  readonly board: ReviewBoard
  /** Tells of every request to a model that reviews something. Returns how to end that. */
  onSpent(listener: (spent: ReviewSpending) => void): () => void
  /** Lets the quorum answer questions first, where the configuration says so. */
  answerFirst(person: Approver): Approver
}

export interface ReviewSpending {
  /** Of the run whose call, plan or outcome was reviewed. */
  readonly run: string
  readonly provider: string
  readonly model: string
  readonly usage: Usage
  /** Null when the price is not known. */
  readonly costUsd: number | null
  readonly ms: number
}

/** The quorum of the configuration: undefined where no reviewer is named. */
export async function createReview(
  loaded: LoadedConfig,
  environment: Environment,
  parts: ReviewParts,
): Promise<Review | undefined> {
  const { quorum, reviewers } = loaded.config
  const { needed: _, on_deny: onDeny, on_error: onError, ...named } = reviewers
  const listeners = new Set<(spent: ReviewSpending) => void>()
  const spent = (spending: ReviewSpending): void => {
    for (const listener of listeners) listener(spending)
  }
  const members = Object.entries(named).map(([name, settings]) =>
    toMember(name, settings, { loaded, environment, spent, ...parts }),
  )
  if (members.length === 0) return undefined
  const { createQuorum } = await import('../review/quorum.ts')
  const { createBoard } = await import('../review/board.ts')
  const error = reviewIssues(loaded).find(({ severity }) => severity === 'error')
  if (error !== undefined) throw new ConfigError(error.message, { file: error.key })
  const rule = ruleOf(loaded)
  if (rule === undefined)
    throw new ConfigError(`'${quorum.rule}' is not a quorum rule.`, { file: 'quorum.rule' })
  const shared = {
    ...{ members, rule, onError, veto: quorum.veto, hil: quorum.hil, minModels: quorum.min_models },
    ...{ maxTimeMs: quorum.max_time, maxCostUsd: quorum.max_cost, debate: quorum.strategy === 'debate' },
  }
  const note = (action: string, details: Record<string, unknown>): void =>
    parts.record({ type: 'note', action, details })
  const reviewer = createQuorum({
    ...shared,
    onDeny,
    review: quorum.review,
    ordinary: quorum.ordinary,
    vetoFor: quorum.veto_for,
    maxActionRevisions: quorum.max_action_revisions,
    record: ({ callId, runId, tool }, { passed, undecided, display, votes, needed }, { before, costUsd }) =>
      note('quorum-review', {
        ...{ phase: 'action', call: callId, run: runId, tool: tool.name },
        ...{ passed, undecided, display, votes, needed, cost_usd: costUsd },
        ...(before === undefined ? {} : { before }),
      }),
  })
  return {
    reviewers: [reviewer],
    onSpent(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    answerFirst: person => (quorum.approves ? reviewer.answerFirst(person) : person),
    board: createBoard({
      ...shared,
      scope: quorum.scope,
      level: quorum.level,
      planReview: quorum.plan_review,
      finalReview: quorum.final_review,
      maxPlanRevisions: quorum.max_plan_revisions,
      record: (phase, run, details) => note('quorum-review', { phase, run, ...details }),
    }),
  }
}

interface MemberParts extends ReviewParts {
  spent(spending: ReviewSpending): void
  readonly loaded: LoadedConfig
  readonly environment: Environment
}

type ReviewerSettings = {
  kind: 'model' | 'command'
  model?: string | undefined
  command?: string[] | undefined
  timeout: number
  lookups: number
}

function toMember(name: string, settings: ReviewerSettings, parts: MemberParts): QuorumMember {
  const { kind, model, command, timeout: timeoutMs } = settings
  const { loaded, environment, processes } = parts
  if (kind === 'command') {
    if (command === undefined)
      throw new ConfigError(`The reviewer '${name}' names no command.`, { file: `reviewers.${name}` })
    return {
      ...{ name, kind, timeoutMs },
      async ask(prompt, call, { signal }) {
        const { askProgram } = await import('../sandbox/ask-program.ts')
        const outside = outsideContext(loaded.workspace.root, environment)
        const text = await askProgram(command, { prompt, call }, { ...outside, processes, timeoutMs, signal })
        return { text, costUsd: 0 }
      },
    }
  }
  if (model === undefined)
    throw new ConfigError(`The reviewer '${name}' names no model.`, { file: `reviewers.${name}` })
  return {
    ...{ name, kind, timeoutMs },
    async ask(prompt, _subject, limits) {
      // Loaded when something is reviewed: the vendors' packages are large.
      const { openModels } = await import('../models.ts')
      const { askReviewer } = await import('../ask-reviewer.ts')
      const found = openModels(loaded, environment).find(model)
      const { run } = limits
      return askReviewer(found, prompt, {
        ...{ ...limits, name, lookups: settings.lookups, calls: parts.calls() },
        spent: (usage, costUsd, ms) =>
          parts.spent({ run, provider: found.provider, model: found.name, usage, costUsd, ms }),
      })
    },
  }
}
