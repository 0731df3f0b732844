import * as z from 'zod'
import type { AuditEvent } from '../../core/audit.ts'
import type { Fate, ReviewedCall } from '../../review/calibration.ts'

const votes = z.array(
  z.object({
    reviewer: z.string(),
    verdict: z.enum(['approve', 'reject', 'abstain', 'error']),
    reasoning: z.string(),
  }),
)

/** One verdict as the log has it: of a call, a plan or an outcome. */
const reviewNote = z.object({
  phase: z.enum(['action', 'plan', 'final']).default('action'),
  run: z.string(),
  call: z.string().optional(),
  tool: z.string().optional(),
  passed: z.boolean(),
  undecided: z.boolean(),
  display: z.string(),
  votes,
  cost_usd: z.number().nullable().optional(),
})

export type ReviewNote = z.output<typeof reviewNote>

export function toReviewNote(event: AuditEvent): ReviewNote | undefined {
  if (event.type !== 'note' || event.action !== 'quorum-review') return undefined
  const parsed = reviewNote.safeParse(event.details)
  return parsed.success ? parsed.data : undefined
}

const undone = z.object({ ok: z.literal(true), calls: z.array(z.string()) })

/** Calls that were voted on, with what became of them. Of several votes on one call the last one counts. */
export async function reviewedCalls(events: AsyncIterable<{ event: AuditEvent }>): Promise<ReviewedCall[]> {
  const found = new Map<string, Found>()
  for await (const { event } of events) {
    const note = toReviewNote(event)
    if (note?.call !== undefined)
      found.set(note.call, { votes: note.votes, passed: note.passed, fate: 'none' })
    else if (event.type === 'approval-answered') setFate(found, event.call, answerFate(event.answer))
    else if (event.type === 'call-finished' && stands(event, found.get(event.call)))
      setFate(found, event.call, 'kept')
    else if (event.type === 'note' && event.action === 'undo-finished')
      for (const call of undone.safeParse(event.details).data?.calls ?? []) setFate(found, call, 'undone')
  }
  return [...found].map(([call, { votes: cast, fate }]) => ({ call, votes: cast, fate }))
}

interface Found {
  readonly votes: ReviewNote['votes']
  readonly passed: boolean
  fate: Fate
}

/** A contained command whose changes were refused has run and is fine; nothing of it stands. */
function stands({ ok, effects }: Extract<AuditEvent, { type: 'call-finished' }>, found?: Found): boolean {
  return ok && (found?.passed === true || effects.length > 0)
}

function answerFate(answer: string): Fate {
  if (answer === 'deny' || answer === 'deny-permanently') return 'denied'
  return answer === 'once' || answer === 'session' || answer === 'permanent' ? 'approved' : 'none'
}

/** A person's word counts for more than that a call ran; that it was taken back counts for most. */
function setFate(found: Map<string, Found>, call: string, fate: Fate): void {
  const known = found.get(call)
  if (known === undefined || fate === 'none' || (fate === 'kept' && known.fate !== 'none')) return
  known.fate = fate
}
