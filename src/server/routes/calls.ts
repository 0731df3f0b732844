import type { CallResult } from '../../core/call.ts'
import { ToolError } from '../../core/errors.ts'
import type { Runtime } from '../../runtime.ts'
import { type Api, body, json, route, z } from '../api.ts'
import { callerName, type DoorContext, ownRun } from '../door.ts'
import { toProblem } from '../problem.ts'

export const callResult = z
  .object({
    ok: z.boolean(),
    call: z.string(),
    tool: z.string(),
    text: z.string(),
    data: z.unknown(),
    error: z.object({ code: z.string(), message: z.string(), hint: z.string().nullable() }).nullable(),
    decision: z.looseObject({ outcome: z.string(), by: z.string(), reason: z.string() }),
    risk: z.string(),
    effects: z.array(z.unknown()),
    /** The question that waits for an answer, when the call does: see /api/approvals. */
    question: z.string().nullable(),
    durationMs: z.number(),
    waitMs: z.number(),
  })
  .openapi('CallResult')

/** One call through the pipeline, as from every other door. */
export function callRoutes(api: Api, runtime: Runtime): void {
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/calls',
      summary: 'Call a tool',
      request: {
        body: body(
          z.object({
            tool: z.string().min(1).max(200),
            input: z.record(z.string(), z.unknown()).default({}),
            /** Calls of one name belong together, as far as one caller makes them. */
            run: z.string().max(64).optional(),
          }),
        ),
      },
      responses: {
        200: json(callResult, 'What the tool returned'),
        202: json(callResult, 'The call waits for approval'),
      },
    }),
    async context => {
      const { tool, input, run } = context.req.valid('json')
      const done = await runtime.call({
        tool,
        input,
        caller: callerName(context),
        signal: context.req.raw.signal,
        ...(run === undefined ? {} : { run: ownRun(context, run) }),
      })
      return sendResult(context, done) as never
    },
  )
}

/** 202 for a call that waits; a failure is a problem that holds the whole result. */
export function sendResult(context: DoorContext, done: CallResult): Response {
  const shown = toShown(done)
  if (done.error === null) return context.json(shown, 200)
  const { code, message, hint } = done.error
  if (done.question !== undefined) return context.json(shown, 202)
  const problem = toProblem(new ToolError(code, message, hint === null ? {} : { hint }))
  return new Response(JSON.stringify({ ...problem, request_id: context.get('requestId'), result: shown }), {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json' },
  })
}

function toShown({
  images: _images,
  label: _label,
  question,
  ...rest
}: CallResult): z.infer<typeof callResult> {
  return { ...rest, decision: { ...rest.decision }, effects: [...rest.effects], question: question ?? null }
}
