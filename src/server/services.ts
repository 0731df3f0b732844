import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import { isNewDatabase, openRunDatabase } from '../run-database.ts'
import { openRuns, type Runs } from '../runs.ts'
import type { Runtime } from '../runtime.ts'
import type { Database } from '../store/database/database.ts'
import { type EventHub, openEventHub } from './events/event-hub.ts'
import type { RegularLook } from './events/look-regularly.ts'
import { startWatch, type Watch } from './events/watch-approvals.ts'
import { startWorkspaceWatch } from './events/watch-workspace.ts'
import { type PipelineWorker, startPipelineWorker } from './pipeline-worker.ts'
import { HttpProblem } from './problem.ts'
import { startWorker, type Worker } from './worker.ts'

/** What routes about agents and runs work with; all of it rests on the database. */
export interface Services {
  readonly database: Database
  readonly runs: Runs
  readonly hub: EventHub
  readonly worker: Worker
  readonly watch: Watch
  readonly workspaceWatch: RegularLook
  readonly pipelines: PipelineWorker
  close(): Promise<void>
}

export interface ServicesOptions {
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly runtime: Runtime
  readonly version: string
  readonly log: (line: Record<string, unknown>) => void
  /** When the server began; the services may be opened much later. */
  readonly began: number
  /** Called when the database is there, or made for the first time. */
  readonly reached?: () => void
  /** Called once for each question that has begun to wait since. */
  readonly onQuestion: (question: { id: string; tool: string; risk: string }) => void
}

const PATIENCE_MS = 4_000

/**
 * Opens the services when they are first needed, and again after a failure. A request that finds the database away, until
 * `reached` was called, hears so in time.
 */
export function lazyServices(
  open: (reached: () => void) => Promise<Services>,
  patienceMs = PATIENCE_MS,
): (isPatient?: boolean) => Promise<Services> {
  const now: { opened?: Promise<Services>; isReached: boolean } = { isReached: false }
  const late = async (opened: Promise<Services>): Promise<Services> => {
    await sleep(patienceMs, undefined, { ref: false })
    if (!now.isReached) throw new Error('it is not ready')
    return opened
  }
  return async (isPatient = false) => {
    now.opened ??= open(() => {
      now.isReached = true
    }).catch(error => {
      delete now.opened
      now.isReached = false
      throw error
    })
    try {
      return await (isPatient ? now.opened : Promise.race([now.opened, late(now.opened)]))
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      throw new HttpProblem(503, 'database_unavailable', `The database cannot be used: ${detail}`, {
        hint: 'See: kogu doctor',
      })
    }
  }
}

export async function openServices(options: ServicesOptions): Promise<Services> {
  // Closed in reverse, also when one of them cannot be opened: the next request opens all of them again.
  const opened = new AsyncDisposableStack()
  try {
    return { ...(await openInto(opened, options)), close: () => opened.disposeAsync() }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

async function openInto(
  opened: AsyncDisposableStack,
  { runtime, loaded, environment, version, log, began, onQuestion, reached }: ServicesOptions,
): Promise<Omit<Services, 'close'>> {
  const keep = <T extends { close(): Promise<void> }>(part: T): T =>
    opened.adopt(part, ({ close }) => close())
  // To make one takes longer than anybody should wait for one that is away.
  if (isNewDatabase(environment)) reached?.()
  const database = keep(await openRunDatabase(environment))
  reached?.()
  const runs = keep(await openRuns({ loaded, environment, runtime, database }))
  const hub = keep(await openEventHub(database, runs.place))
  const watch = keep(startWatch({ runtime, database, place: runs.place, began, onQuestion }))
  const workspaceWatch = keep(startWorkspaceWatch({ runtime, loaded, database, place: runs.place }))
  const { max_runs: most, max_runs_per_agent: mostPerAgent, otlp_endpoint: endpoint } = loaded.config.server
  if (endpoint !== undefined) {
    const { startExport } = await import('./telemetry/export-spans.ts')
    keep(startExport({ hub, endpoint, version, log }))
  }
  const worker = keep(await startWorker({ runtime, runs, database, most, mostPerAgent, log }))
  const pipelines = keep(startPipelineWorker({ loaded, environment, runtime, database, runs, log }))
  // What routes ask, somebody waits for.
  return { database: database.hurried, runs, hub, worker, watch, workspaceWatch, pipelines }
}
