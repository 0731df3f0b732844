import { expect, test } from 'vitest'
import type { AuditEvent } from '../core/audit.ts'
import type { Effect } from '../core/effects.ts'
import { reviewedCalls } from '../store/audit/reviewed-calls.ts'
import { calibrate } from './calibration.ts'

const review = (call: string, ...verdicts: string[]): AuditEvent => noted(true, call, verdicts)
const rejected = (call: string, ...verdicts: string[]): AuditEvent => noted(false, call, verdicts)
const noted = (passed: boolean, call: string, verdicts: string[]): AuditEvent => ({
  ...{ type: 'note', action: 'quorum-review' },
  details: {
    ...{ call, run: 'r', tool: 'write_file', passed, undecided: false, display: '' },
    votes: verdicts.map((verdict, index) => ({ reviewer: `r${index}`, verdict, reasoning: '' })),
  },
})
const ran = (call: string, effects: readonly Effect[] = []): AuditEvent => ({
  ...{ type: 'call-finished', call, run: 'r', tool: 'write_file', ok: true, risk: 'high', effects },
  ...{ decision: { outcome: 'allow', by: 'mode', ref: null, reason: '' }, runMs: 0, waitMs: 0 },
})
const answered = (call: string, answer: 'once' | 'deny' | 'expired'): AuditEvent => ({
  ...{ type: 'approval-answered', call, run: 'r', question: 'q', answer },
})
const undone = (...calls: string[]): AuditEvent => ({
  ...{ type: 'note', action: 'undo-finished', details: { ok: true, calls } },
})

async function* log(...events: AuditEvent[]) {
  for (const event of events) yield { event }
}

test('each reviewer is measured by what people decided later, and by what was taken back', async () => {
  const calls = await reviewedCalls(
    log(
      ...[review('kept', 'approve', 'reject'), ran('kept')],
      ...[review('undone', 'approve', 'reject'), ran('undone'), undone('undone', 'other')],
      ...[review('denied', 'approve', 'reject'), answered('denied', 'deny')],
      ...[review('allowed', 'approve', 'error'), answered('allowed', 'once'), ran('allowed')],
      ...[review('open', 'approve', 'abstain'), answered('open', 'expired')],
    ),
  )
  expect(calls.map(({ call, fate }) => [call, fate])).toEqual([
    ['kept', 'kept'],
    ['undone', 'undone'],
    ['denied', 'denied'],
    ['allowed', 'approved'],
    ['open', 'none'],
  ])
  expect(calibrate(calls)).toEqual([
    {
      ...{ reviewer: 'r0', reviews: 5, approvals: 5, rejections: 0, withoutVote: 0 },
      ...{ approvalPrecision: 0.5, rejectionPrecision: null },
    },
    {
      ...{ reviewer: 'r1', reviews: 5, approvals: 0, rejections: 3, withoutVote: 2 },
      ...{ approvalPrecision: null, rejectionPrecision: 2 / 3 },
    },
  ])
})

test('an undo that failed has taken nothing back', async () => {
  const failed: AuditEvent = { type: 'note', action: 'undo-finished', details: { ok: false, calls: ['a'] } }
  const [call] = await reviewedCalls(log(review('a', 'approve'), ran('a'), failed))
  expect(call?.fate).toBe('kept')
})

test('a contained command whose changes were rejected ran, and was not kept', async () => {
  const [call] = await reviewedCalls(log(rejected('a', 'reject'), ran('a')))
  expect(call?.fate).toBe('none')
  // A person had said yes before, and a rejection is theirs to decide: it stands.
  const effect: Effect = { path: '/w/a', change: 'created', entry: 'file' }
  const [kept] = await reviewedCalls(log(rejected('b', 'reject'), ran('b', [effect])))
  expect(kept?.fate).toBe('kept')
})
