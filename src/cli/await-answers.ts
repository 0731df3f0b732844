import { setTimeout as sleep } from 'node:timers/promises'
import type { RunRecord } from '../agents/run-record.ts'
import { toToolError } from '../core/errors.ts'
import { findRun } from '../store/tables/workflow-runs.ts'
import type { CommandContext } from './command.ts'
import { readDuration } from './read-time.ts'
import type { RunSession } from './run-session.ts'

const LOOK_MS = 300
const PATIENCE_MS = 30 * 60_000

/**
 * `--on-ask wait`: goes on with a run as soon as its questions are answered, by whoever and wherever. Returns how the run
 * stands then, or as it stood when nobody answered in time. A server of this workspace may be faster; then this only waits.
 */
export async function goOnAfterAnswers(
  { signal, values }: CommandContext,
  { runtime, database, runs }: Pick<RunSession, 'runtime' | 'database' | 'runs'>,
  run: RunRecord,
  work: (run: RunRecord) => Promise<RunRecord>,
): Promise<RunRecord> {
  const deadline = performance.now() + (readDuration(values, 'ask-timeout') ?? PATIENCE_MS)
  while (!signal.aborted && performance.now() < deadline) {
    const now = (await findRun(database, run.id)) ?? run
    const waits = now.stopReason === 'awaiting_approval'
    if (!waits && now.status !== 'running' && now.stopReason !== 'queued') return now
    const questions = await runtime.listQuestions()
    if (waits && !questions.some(({ runPath, answer }) => runPath[0] === run.id && answer === null)) {
      const taken = await runs.take(run.id).catch(error => {
        if (toToolError(error).code !== 'conflict') throw error
      })
      if (taken !== undefined) return work(taken)
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
  return run
}
