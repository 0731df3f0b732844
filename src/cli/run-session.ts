import { randomUUID } from 'node:crypto'
import type { LoadedConfig } from '../config/load.ts'
import { type Approver, laterApprover, noApprover } from '../core/approval.ts'
import type { Runs } from '../runs.ts'
import { createRuntime, type Runtime } from '../runtime.ts'
import type { Database } from '../store/database/database.ts'
import { type CommandContext, flag, textOption, UsageError } from './command.ts'
import { matchId } from './match-id.ts'
import { loadForCommand } from './open-runtime.ts'

/** What the commands about runs work with. */
export interface RunSession {
  readonly loaded: LoadedConfig
  readonly database: Database
  readonly runtime: Runtime
  readonly runs: Runs
  readonly approver: Approver
  /** The run whose id begins like this. */
  findId(start: string): Promise<string>
  /** Leaves a message that enters with the run's next turn. */
  say(id: string, text: string): Promise<void>
}

/** Opens the database only. */
export async function withDatabase<T>(
  context: CommandContext,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  refuseInsideCall(context)
  const { openRunDatabase } = await import('../run-database.ts')
  const database = await openRunDatabase(context.environment)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Opens everything that working on a run takes, and closes it again. */
export async function withRuns<T>(
  context: CommandContext,
  work: (session: RunSession) => Promise<T>,
): Promise<T> {
  refuseInsideCall(context)
  const { environment, output } = context
  const loaded = loadForCommand(context)
  const approver = await approverFor(context)
  const { openRunDatabase } = await import('../run-database.ts')
  // While the database server starts, this process loads and composes everything else.
  const opening = openRunDatabase(environment)
  opening.catch(() => undefined)
  try {
    const runtime = await createRuntime({ loaded, environment, approver })
    try {
      const { openRuns } = await import('../runs.ts')
      const database = await opening
      const runs = await openRuns({ loaded, environment, runtime, database })
      try {
        for (const sentence of await runtime.recover()) output.note(sentence)
        return await work({
          loaded,
          database,
          runtime,
          runs,
          approver,
          findId: start => findRunId(database, start),
          say: (id, text) => say(database, id, text),
        })
      } finally {
        await runs.close()
      }
    } finally {
      await runtime.close()
    }
  } finally {
    await opening.then(
      database => database.close(),
      () => undefined,
    )
  }
}

/** The one run whose id begins as given. */
export async function findRunId(database: Database, start: string): Promise<string> {
  const { listRuns } = await import('../store/tables/workflow-runs.ts')
  const found = await listRuns(database, { idPrefix: start.replace(/…$/, ''), limit: 20 })
  const id = matchId(
    start,
    'run',
    found.map(run => run.id),
  )
  if (!found.some(run => run.id === id)) {
    const { ToolError } = await import('../core/errors.ts')
    throw new ToolError('not_found', `There is no run '${start}'.`, { hint: 'See: kogu runs list' })
  }
  return id
}

async function say(database: Database, id: string, text: string): Promise<void> {
  const { sayToRun } = await import('../store/tables/run-messages.ts')
  await sayToRun(database, randomUUID(), id, text)
}

/** An agent that starts agents would have the person's authority instead of its own. */
function refuseInsideCall({ environment }: CommandContext): void {
  if (environment.insideCall === undefined) return
  throw new UsageError('Agents cannot be run from inside a Kogu call.')
}

const ON_ASK = ['fail', 'deny', 'wait'] as const

/**
 * What becomes of a question when nobody is at a terminal. `fail`, the default, ends the command and keeps the run: a
 * refusal that nobody spoke would lead the model elsewhere, and an answer given later lets it go on.
 */
export function readOnAsk(values: CommandContext['values']): (typeof ON_ASK)[number] {
  const text = textOption(values, 'on-ask') ?? 'fail'
  const found = ON_ASK.find(name => name === text)
  if (found === undefined) throw new UsageError(`--on-ask takes ${ON_ASK.join(', ')}, not '${text}'.`)
  return found
}

/** A person at this terminal, or nobody. */
async function approverFor({ stdin, output, values, environment }: CommandContext): Promise<Approver> {
  const interactive = stdin.isTTY === true && process.stderr.isTTY === true
  // Without a terminal the question waits in the inbox, and the run with it.
  if (!interactive || flag(values, 'no-input')) {
    return readOnAsk(values) === 'deny' ? noApprover('the run was started with --on-ask deny') : laterApprover
  }
  const { terminalApprover } = await import('./prompt.ts')
  return terminalApprover({ stdin, output, user: environment.variables.USER ?? 'terminal' })
}
