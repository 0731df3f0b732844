import { calibrate } from '../../review/calibration.ts'
import type { Runtime } from '../../runtime.ts'
import { readEvents } from '../../store/audit/read.ts'
import { reviewedCalls } from '../../store/audit/reviewed-calls.ts'
import { logFolders } from '../../store/places.ts'
import { type Api, json, route, z } from '../api.ts'
import { span, toSpan } from '../span.ts'

const reviewer = z
  .object({
    reviewer: z.string(),
    approvals: z.int(),
    rejections: z.int(),
    without_vote: z.int(),
    /** Of its approvals whose outcome is known, the share that stood. */
    approval_precision: z.number().nullable(),
    /** Of its rejections whose outcome is known, the share that a person agreed with. */
    rejection_precision: z.number().nullable(),
  })
  .openapi('ReviewerRecord')

/** How reviewers voted, beside what people decided later. */
export function reviewRoutes(api: Api, { places }: Runtime): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/reviews/stats',
      summary: 'Votes of each reviewer, how often they agreed, and what became of the calls',
      request: { query: span.pick({ since: true }) },
      responses: {
        200: json(
          z.object({
            calls: z.int(),
            /** Calls on which all who voted said the same. */
            unanimous: z.int(),
            reviewers: z.array(reviewer),
          }),
          'The record',
        ),
      },
    }),
    async context => {
      const events = readEvents({ directory: logFolders(places), ...toSpan(context.req.valid('query')) })
      const calls = await reviewedCalls(events)
      const unanimous = calls.filter(({ votes }) => {
        const cast = votes
          .map(({ verdict }) => verdict)
          .filter(each => each === 'approve' || each === 'reject')
        return new Set(cast).size === 1
      }).length
      const reviewers = calibrate(calls).map(({ reviews: _reviews, ...record }) => ({
        ...{ reviewer: record.reviewer, approvals: record.approvals, rejections: record.rejections },
        without_vote: record.withoutVote,
        approval_precision: record.approvalPrecision,
        rejection_precision: record.rejectionPrecision,
      }))
      return context.json({ calls: calls.length, unanimous, reviewers }, 200)
    },
  )
}
