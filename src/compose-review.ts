import { outsideContext } from './compose-hooks.ts'
import { ConfigError } from './config/config-error.ts'
import type { Environment } from './config/environment.ts'
import type { LoadedConfig } from './config/load.ts'
import type { AuditLog } from './core/audit.ts'
import type { Processes } from './core/processes.ts'
import type { Reviewer } from './core/review.ts'
import type { QuorumMember } from './review/quorum.ts'

interface ReviewParts {
  readonly processes: Processes
  readonly record: AuditLog['record']
}

/** The quorum of the configuration: none where no reviewer is named. */
export async function createReviewers(
  loaded: LoadedConfig,
  environment: Environment,
  { processes, record }: ReviewParts,
): Promise<Reviewer[]> {
  const { quorum, reviewers } = loaded.config
  const { needed, on_deny: onDeny, on_error: onError, ...named } = reviewers
  const members = Object.entries(named).map(([name, settings]) =>
    toMember(name, settings, { loaded, environment, processes }),
  )
  if (members.length === 0) return []
  const { createQuorum } = await import('./review/quorum.ts')
  const { parseQuorumRule } = await import('./review/quorum-rule.ts')
  const rule = parseQuorumRule(needed === undefined ? quorum.rule : `at_least:${needed}`)
  if (rule === undefined)
    throw new ConfigError(`'${quorum.rule}' is no rule for a quorum.`, { file: 'quorum.rule' })
  if (members.length < quorum.min_models) {
    throw new ConfigError(
      `[quorum] min_models = ${quorum.min_models}, but only ${members.length} reviewer is configured: no call could ever pass.`,
      { file: 'quorum.min_models' },
    )
  }
  return [
    createQuorum({
      members,
      rule,
      minModels: quorum.min_models,
      onError,
      onDeny,
      veto: quorum.veto,
      review: quorum.review,
      hil: quorum.hil,
      record: ({ callId, runId, tool }, { passed, undecided, display, votes }) =>
        record({
          type: 'note',
          action: 'quorum-review',
          details: { call: callId, run: runId, tool: tool.name, passed, undecided, display, votes },
        }),
    }),
  ]
}

interface MemberParts {
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly processes: Processes
}

type ReviewerSettings = {
  kind: 'model' | 'command'
  model?: string | undefined
  command?: string[] | undefined
  timeout: number
}

function toMember(
  name: string,
  settings: ReviewerSettings,
  { loaded, environment, processes }: MemberParts,
): QuorumMember {
  const { kind, model, command, timeout: timeoutMs } = settings
  if (kind === 'command') {
    if (command === undefined)
      throw new ConfigError(`The reviewer '${name}' names no command.`, { file: `reviewers.${name}` })
    return {
      name,
      timeoutMs,
      async ask(prompt, call, signal) {
        const { askProgram } = await import('./sandbox/ask-program.ts')
        const outside = outsideContext(loaded.workspace.root, environment)
        return askProgram(command, { prompt, call }, { ...outside, processes, timeoutMs, signal })
      },
    }
  }
  if (model === undefined)
    throw new ConfigError(`The reviewer '${name}' names no model.`, { file: `reviewers.${name}` })
  return {
    name,
    timeoutMs,
    async ask({ system, user }, _call, signal) {
      // Loaded when a call is reviewed: the vendors' packages are large.
      const { openModels } = await import('./models.ts')
      const found = openModels(loaded, environment).find(model)
      const message = { role: 'user', content: [{ type: 'text', text: user }] } as const
      const { content } = await found.respond({ system, messages: [message], tools: [], signal })
      return content.map(block => (block.type === 'text' ? block.text : '')).join('')
    },
  }
}
