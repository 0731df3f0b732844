import type { RunRecord } from '../agents/run-record.ts'
import { requireRun } from './routes/runs.ts'
import type { Services } from './services.ts'

const LOOK_MS = 200

/** The run as soon as it has ended or waits for somebody; as it is when the client has gone. */
export async function awaitRun(services: Services, id: string, signal: AbortSignal): Promise<RunRecord> {
  for (;;) {
    const { newest } = services.hub
    const run = await requireRun(services, id)
    const isWorking = run.status === 'running' || run.stopReason === 'queued'
    if (!isWorking || signal.aborted) return run
    await services.hub.wait(newest, AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]))
  }
}
