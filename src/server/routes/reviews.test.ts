import { expect, test } from 'vitest'
import { openTestApp } from '../../../test/support/app.ts'

test('the record of reviewers says how they voted, how often they agreed, and how often people did', async () => {
  const app = await openTestApp()
  const review = async (path: string, votes: readonly [string, string], answer: string): Promise<void> => {
    const asked: { json: { question: string } } = await app.send('POST /api/calls', {
      ...{ tool: 'write_file', input: { path, content: 'x' } },
    })
    const shown: { json: { callId: string; digest: string } } = await app.send(
      `GET /api/approvals/${asked.json.question}`,
    )
    app.machine.runtime.note('quorum-review', {
      ...{ phase: 'action', run: 'r', call: shown.json.callId, passed: false, undecided: false, display: '' },
      votes: votes.map((verdict, index) => ({ reviewer: `r${index}`, verdict, reasoning: '' })),
    })
    const { digest } = shown.json
    await app.send(`POST /api/approvals/${asked.json.question}/answer`, { answer, digest })
  }
  await review('a.txt', ['approve', 'reject'], 'deny')
  await review('b.txt', ['approve', 'approve'], 'once')
  const { json } = await app.send('GET /api/reviews/stats')
  await app.close()
  expect(json).toEqual({
    calls: 2,
    unanimous: 1,
    reviewers: [
      {
        ...{ reviewer: 'r0', approvals: 2, rejections: 0, without_vote: 0 },
        ...{ approval_precision: 0.5, rejection_precision: null },
      },
      {
        ...{ reviewer: 'r1', approvals: 1, rejections: 1, without_vote: 0 },
        ...{ approval_precision: 1, rejection_precision: 1 },
      },
    ],
  })
})
