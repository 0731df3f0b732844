import type { CallFinished } from './audit.ts'
import type { Call, CallRuntime } from './call.ts'
import { belongsToRun, type StoredQuestion } from './stored-question.ts'

/**
 * Ends a question, and with it the call that asked, unless that call is the one that goes on. False when somebody else
 * was faster.
 */
export async function endQuestion(
  runtime: Pick<CallRuntime, 'questions' | 'audit'>,
  { question, lineage, outer }: StoredQuestion,
  how: 'used' | 'expired' | 'stale' | 'withdrawn',
  by?: Call,
): Promise<boolean> {
  if (!(await runtime.questions.end(question.id))) return false
  const { callId, runId, tool, access, decision, risk, subject } = question
  if (by?.id === callId || subject.kind === 'gate') {
    // The call itself has not ended, and a gate is none; what became of the question is on record all the same.
    if (how !== 'used')
      runtime.audit.record({
        ...{ type: 'approval-answered', call: callId, run: runId, question: question.id, answer: how },
      })
    return true
  }
  const message = {
    used: `Its answer was used by ${by?.id}, the same call made again.`,
    expired: 'Nobody answered in time.',
    withdrawn: 'Its run was stopped, or the call that it was a part of has ended.',
    stale: `It was made again by ${by?.id} when what was judged had changed.`,
  }[how]
  const about: Omit<CallFinished, 'call' | 'run' | 'tool'> = {
    type: 'call-finished',
    agent: lineage.at(-1)?.authority.agent,
    ok: false,
    error: { code: CODES[how], message },
    decision: how === 'expired' ? { ...decision, outcome: 'deny', by: 'timeout' } : decision,
    ...{ risk, effects: [], runMs: 0, waitMs: 0 },
  }
  const { name, fingerprint } = tool
  runtime.audit.record({ ...about, call: callId, run: runId, tool: name, fingerprint, access })
  // The call that it is a part of waits no longer either, unless its run makes it again.
  if (outer !== undefined && how === 'expired' && !belongsToRun(question))
    runtime.audit.record({
      ...about,
      call: outer.id,
      run: outer.lineage.at(-1)?.id ?? runId,
      tool: outer.tool,
    })
  return true
}

const CODES = { used: 'needs_approval', expired: 'expired', stale: 'stale', withdrawn: 'cancelled' } as const

/** Ends the questions of a run that was stopped, and of those below it: nobody waits for their answers any more. */
export async function withdrawQuestions(
  runtime: Pick<CallRuntime, 'questions' | 'audit'>,
  run: string,
): Promise<void> {
  for (const stored of await runtime.questions.list()) {
    if (stored.question.runPath.includes(run)) await endQuestion(runtime, stored, 'withdrawn')
  }
}

/** Ends the questions whose time is over. */
export async function endExpired(runtime: Pick<CallRuntime, 'questions' | 'audit' | 'clock'>): Promise<void> {
  const now = runtime.clock.now()
  for (const stored of await runtime.questions.list()) {
    if (now >= stored.question.expiresAt) await endQuestion(runtime, stored, 'expired')
  }
}
