import { resolve } from 'node:path'
import { type GivenAnswer, isSameAnswer } from '../../core/approval.ts'
import type { ShownQuestion } from '../../core/stored-question.ts'
import type { Runtime } from '../../runtime.ts'
import { type Api, answer, body, json, route, withoutUndefined, z } from '../api.ts'
import { callerName, doorUser, ownRun } from '../door.ts'
import { HttpProblem } from '../problem.ts'
import { callResult, sendResult } from './calls.ts'

const approval = z
  .looseObject({
    id: z.string(),
    callId: z.string(),
    runId: z.string(),
    tool: z.looseObject({ name: z.string(), title: z.string() }),
    input: z.record(z.string(), z.unknown()),
    digest: z.string(),
    isDangerous: z.boolean(),
    offers: z.array(z.object({ id: z.string(), label: z.string() })),
    createdAt: z.number(),
    expiresAt: z.number(),
    answer: z.looseObject({ kind: z.string(), user: z.string() }).nullable(),
  })
  .openapi('Approval')

const params = z.object({ id: z.string().max(200) })

/** The words of a command line: null is any one word. */
export const commandPattern = z.object({
  words: z.array(z.string().max(10_000).nullable()).min(1).max(1_000),
  /** Whether more words may follow. */
  more: z.boolean(),
})

const given = z.object({
  answer: z.enum(['once', 'session', 'permanent', 'deny', 'deny-permanently']),
  /** Of the question as it was looked at. */
  digest: z.string().max(100),
  /** Which of the offers is to be remembered, for `session` and `permanent`. */
  grant: z.string().max(200).optional(),
  /** How long it is remembered; the configured time, or that of the run, without it. */
  hours: z.int().min(1).max(8_760).optional(),
  /** Where a `permanent` answer holds. Without it: for the agent that asked, or in the workspace where none did. */
  scope: z.enum(['panel', 'project', 'everywhere']).optional(),
  /** Of a command line: which words, in the place of those that the offer names. Never wider than the offer. */
  pattern: commandPattern.optional(),
  message: z.string().max(10_000).optional(),
  /** Of the changes that a command has made, only these and what is below them; for `once`. */
  keep: z.array(z.string().max(4_096)).min(1).max(1_000).optional(),
  /** The name of the tool, for a yes to a dangerous call. */
  confirm: z.string().max(200).optional(),
})

/** Questions that wait, answers to them, and the calls that go on after a yes. */
export function approvalRoutes(api: Api, runtime: Runtime): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/approvals',
      summary: 'Questions that wait for an answer, the oldest first',
      request: { query: z.object({ run: z.string().max(200).optional() }) },
      responses: { 200: json(z.array(approval), 'The questions') },
    }),
    async context => {
      const { run } = context.req.valid('query')
      const questions = await runtime.listQuestions()
      return answer(
        context,
        questions.filter(
          ({ runPath }) =>
            run === undefined || runPath.includes(run) || runPath.includes(ownRun(context, run)),
        ),
      )
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/approvals/{id}',
      summary: 'One question, by its id or that of its call',
      request: { params },
      responses: { 200: json(approval, 'The question') },
    }),
    async context => answer(context, await requireQuestion(runtime, context.req.valid('param').id)),
  )
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/approvals/{id}/answer',
      summary: 'Answer a question; the first answer counts',
      request: { params, body: body(given) },
      responses: { 200: json(approval, 'The question with its answer') },
    }),
    async context => {
      const question = await requireQuestion(runtime, context.req.valid('param').id)
      const user = callerName(context)
      const wanted = toAnswer(question, context.req.valid('json'), user)
      const answered = await runtime.answerQuestion(question.id, wanted, doorUser(context))
      if (answered === undefined) throw ended(question.id)
      const kept = answered.stored.answer ?? null
      if (!answered.isFirst && (kept === null || !isSameAnswer(kept, wanted))) {
        throw new HttpProblem(
          409,
          'conflict',
          `It was answered already: ${kept?.kind} by ${kept?.user ?? ''}.`,
        )
      }
      return answer(context, { ...question, answer: kept })
    },
  )
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/approvals/{id}/extend',
      summary: 'Leave a question open for longer, up to a week from now',
      request: { params, body: body(z.object({ hours: z.int().min(1).max(168).default(1) })) },
      responses: { 200: json(z.object({ expiresAt: z.number() }), 'Until when it is open') },
    }),
    async context => {
      const { id } = await requireQuestion(runtime, context.req.valid('param').id)
      const { hours } = context.req.valid('json')
      const user = callerName(context)
      return context.json({ expiresAt: await runtime.extend(id, hours * 3_600_000, user) }, 200)
    },
  )
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/approvals/{id}/continue',
      summary: 'Go on with the call that asked: judged again, and run if nothing has changed',
      request: { params, body: body(z.object({})) },
      responses: {
        200: json(callResult, 'What the tool returned'),
        202: json(callResult, 'The call still waits for an answer'),
      },
    }),
    async context => {
      const { id } = await requireQuestion(runtime, context.req.valid('param').id)
      const done = await runtime.continueCall(id, {
        signal: context.req.raw.signal,
        by: doorUser(context),
      })
      return sendResult(context, done) as never
    },
  )
}

export async function requireQuestion(runtime: Runtime, id: string): Promise<ShownQuestion> {
  const found = (await runtime.listQuestions()).find(
    question => [question.id, question.callId].includes(id) || question.within?.[0]?.callId === id,
  )
  if (found !== undefined) return found
  // Questions leave nothing behind when they end, so one that looks like ours was one.
  throw /^(q-[0-9a-f]{8}$|call_)/.test(id)
    ? ended(id)
    : new HttpProblem(404, 'not_found', 'There is no such question.')
}

function ended(id: string): HttpProblem {
  return new HttpProblem(
    410,
    'expired',
    `No question ${id} waits: its answer was used, or its time is over.`,
    {
      hint: 'Repeat the call to ask again.',
    },
  )
}

/** A yes counts for what was looked at and for nothing else. */
function toAnswer(question: ShownQuestion, body: z.infer<typeof given>, user: string): GivenAnswer {
  if (body.digest !== question.digest) {
    throw new HttpProblem(409, 'stale', 'The question has changed since it was shown.', {
      hint: 'Read it again and answer with its current digest.',
    })
  }
  const message = body.message === undefined ? {} : { message: body.message }
  if (body.answer === 'deny' || body.answer === 'deny-permanently')
    return { kind: body.answer, user, ...message }
  if (question.isDangerous && body.confirm !== question.tool.name) {
    throw new HttpProblem(400, 'invalid_input', 'This call is dangerous.', {
      hint: `Send confirm: "${question.tool.name}" to approve it.`,
    })
  }
  if (body.answer === 'once') return { kind: 'once', user, ...keptPaths(question, body.keep) }
  const { answer: kind, grant = '', hours, scope, pattern } = body
  return { kind, user, grant, ...withoutUndefined({ hours, scope, pattern }) }
}

function keptPaths({ subject }: ShownQuestion, names: readonly string[] | undefined): { paths?: string[] } {
  if (names === undefined) return {}
  if (subject.kind !== 'changes') {
    throw new HttpProblem(400, 'invalid_input', 'keep works only for a command that has already run.')
  }
  return { paths: names.map(name => resolve(subject.root, name)) }
}
