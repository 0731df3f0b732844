import type { GrantOffer } from '../../core/decision.ts'
import type { ShownQuestion } from '../../core/stored-question.ts'
import { countCovered } from '../../permissions/rules/dry-run.ts'
import type { Runtime } from '../../runtime.ts'
import { readCalls } from '../../store/audit/calls.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { commandPattern, requireQuestion } from './approvals.ts'

const params = z.object({ id: z.string().max(200) })

const matches = z
  .object({
    id: z.string(),
    /** What would be remembered, in words. */
    covers: z.string(),
    /** Of a command line: its words. `lock`: why a word stays as it is. */
    words: z.array(z.object({ text: z.string(), lock: z.string().nullable() })),
    /** Where it can hold. */
    scopes: z.array(z.enum(['run', 'panel', 'project', 'everywhere'])),
    /** Calls of the last 30 days that are asked about today, and would not be any more. */
    calls: z.int(),
    /** Those of them that a person has refused. */
    denied: z.int(),
  })
  .openapi('OfferMatches')

/** What can be remembered of an answer, and what that would have meant for the calls of the last days. */
export function approvalOfferRoutes(api: Api, runtime: Runtime): void {
  const describe = async ({ agent, createdAt }: ShownQuestion, offers: readonly GrantOffer[]) => {
    const calls = readCalls({ directory: runtime.places.audit, since: new Date(createdAt - DAYS_30) })
    const find = (name: string) => runtime.registry.candidates(name)[0]
    const counts = await countCovered(calls, offers, runtime.permissions, find, runtime.authority)
    return offers.map((offer, index) => ({
      id: offer.id,
      covers: offer.label,
      words: [...(offer.pattern ?? [])],
      scopes: scopesOf(offer, agent),
      calls: counts[index]?.calls ?? 0,
      denied: counts[index]?.denied ?? 0,
    }))
  }
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/approvals/{id}/offers',
      summary: 'What can be remembered, and which recorded calls it would have let through unasked',
      request: { params },
      responses: { 200: json(z.array(matches), 'From the narrowest to the widest') },
    }),
    async request => {
      const question = await requireQuestion(runtime, request.req.valid('param').id)
      return answer(request, await describe(question, await runtime.offersOf(question.id)))
    },
  )
  api.openapi(
    route('read', {
      method: 'post',
      path: '/api/approvals/{id}/offers/{grant}/match',
      summary: 'The same for one of them with other words; refused where it would not cover the call',
      request: {
        params: params.extend({ grant: z.string().max(200) }),
        body: body(commandPattern),
      },
      responses: { 200: json(matches, 'What it would cover') },
    }),
    async request => {
      const { id, grant } = request.req.valid('param')
      const question = await requireQuestion(runtime, id)
      const offer = await runtime.narrowedOffer(question.id, grant, request.req.valid('json'))
      const [narrowed] = await describe(question, [offer])
      return answer(request, narrowed)
    },
  )
}

const DAYS_30 = 30 * 24 * 3_600_000

type Scope = z.infer<typeof matches>['scopes'][number]

function scopesOf({ everywhere }: GrantOffer, agent: string | undefined): Scope[] {
  return [
    'run',
    ...(agent === undefined ? [] : ['panel' as const]),
    'project',
    ...(everywhere === true ? ['everywhere' as const] : []),
  ]
}
