import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { ShownQuestion } from '../../core/stored-question.ts'
import { analyzeUrl } from '../../permissions/network/network.ts'
import type { Runtime } from '../../runtime.ts'
import { readEvents } from '../../store/audit/read.ts'
import { type ListedCall, listRecentCalls } from '../../store/audit/recent-calls.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { callerName, doorUser } from '../door.ts'
import { HttpProblem } from '../problem.ts'
import { requireQuestion } from './approvals.ts'
import { callResult, sendResult } from './calls.ts'

const params = z.object({ id: z.string().max(200) })

const vote = z.object({
  reviewer: z.string(),
  verdict: z.enum(['approve', 'reject', 'abstain', 'error']),
  reasoning: z.string(),
  confidence: z.number().optional(),
  ms: z.number().optional(),
})

/** As `compose/review.ts` puts it on record. */
const review = z.object({
  call: z.string(),
  passed: z.boolean(),
  undecided: z.boolean(),
  /** One mark per reviewer: `[●●○]`. */
  display: z.string(),
  /** Approvals that it takes; records of older versions do not say. */
  needed: z.int().optional(),
  votes: z.array(vote),
  /** What they had said before they heard each other. */
  before: z.array(vote).optional(),
})

const context = z
  .object({
    review: review.nullable(),
    /** Files that are no longer what they were when it asked: a yes would write nothing and ask again. */
    changed: z.array(z.string()),
    /** Where each address leads, as far as that can be told without asking anybody: a name is looked up by the call. */
    addresses: z.array(z.object({ url: z.string(), leads_to: z.string() })),
    /** Of a command line: each command in it, and what the line does beside them. */
    commands: z.array(
      z.object({
        program: z.string(),
        words: z.array(z.string()),
        options: z.array(z.string()),
        level: z.string(),
        effects: z.array(z.string()),
      }),
    ),
    beside: z.array(z.string()),
    /** Calls like this one that ended before. */
    similar: z.object({
      /** What they have in common: the tool, and the beginning of the command line. */
      what: z.string(),
      /** How many of them there are among the calls of the tool that were looked at. */
      calls: z.int(),
      looked_at: z.int(),
      allowed: z.int(),
      /** By a person. */
      denied: z.int(),
      failed: z.int(),
      /** With the very same input. */
      same: z.int(),
      last: z.string().nullable(),
    }),
  })
  .openapi('ApprovalContext')

/** What helps to answer a question: who has looked at it, what became of others like it, and trying or changing it. */
export function approvalContextRoutes(api: Api, runtime: Runtime, home: string): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/approvals/{id}/context',
      summary:
        'Votes of the reviewers, files that have changed since, and what became of calls like this one',
      request: { params },
      responses: { 200: json(context, 'What is known') },
    }),
    async request => {
      const question = await requireQuestion(runtime, request.req.valid('param').id)
      const { audit } = runtime.places
      const [found, similar, changed] = await Promise.all([
        findReview(audit, question),
        findSimilar(audit, question),
        runtime.changedSince(question.id),
      ])
      const line = await analyzeLine(question, { home, workspace: runtime.workspace })
      return answer(request, { review: found, changed, similar, addresses: addressesOf(question), ...line })
    },
  )
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/approvals/{id}/try',
      summary: 'Run the command that waits on a copy, and say what it would change; keeps nothing',
      request: { params, body: body(z.object({})) },
      responses: { 200: json(z.object({ text: z.string() }), 'Its output and the changes') },
    }),
    async request => {
      requireRunning(request.get('caller')?.scopes ?? [])
      const { id } = await requireQuestion(runtime, request.req.valid('param').id)
      return answer(request, { text: await runtime.tryWaiting(id, request.req.raw.signal) })
    },
  )
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/approvals/{id}/instead',
      summary: 'Deny the call that waits and make it with another input, judged again; the agent is told',
      request: { params, body: body(instead) },
      responses: { 200: json(callResult, 'What the tool returned') },
    }),
    async request => {
      requireRunning(request.get('caller')?.scopes ?? [])
      const { id } = await requireQuestion(runtime, request.req.valid('param').id)
      const { confirm, values, leave_out, digest } = request.req.valid('json')
      if ((values === undefined) === (leave_out === undefined))
        throw new HttpProblem(400, 'invalid_input', 'Send either values or leave_out.')
      const changed = {
        ...{ digest, user: callerName(request), by: doorUser(request) },
        ...(values === undefined ? {} : { values }),
        ...(leave_out === undefined ? {} : { leaveOut: leave_out }),
        ...(confirm === undefined ? {} : { confirm }),
      }
      // What a person has approved goes on when the page is closed.
      const done = await runtime.callInstead(id, changed, {})
      return sendResult(request, done) as never
    },
  )
}

const instead = z.object({
  /** Values of the input that differ. */
  values: z.record(z.string().max(200), z.unknown()).optional(),
  /** Or parts of the preview that are not wanted, counted from 0. */
  leave_out: z.array(z.int().min(0)).min(1).max(10_000).optional(),
  /** Of the question as it was looked at. */
  digest: z.string().max(100),
  confirm: z.string().max(200).optional(),
})

function addressesOf({ access }: ShownQuestion): z.infer<typeof context>['addresses'] {
  return access.flatMap(each => {
    if (each.kind !== 'network') return []
    const facts = analyzeUrl(each.url)
    const isName = facts?.addressClass === 'public' && isIP(facts.host) === 0
    return [{ url: each.url, leads_to: isName ? 'name' : (facts?.addressClass ?? 'unknown') }]
  })
}

/** As the engine reads it. What is masked in the question is masked here. */
async function analyzeLine(
  { access, cwd }: ShownQuestion,
  places: { home: string; workspace: string },
): Promise<Pick<z.infer<typeof context>, 'commands' | 'beside'>> {
  const line = access.find(each => each.kind === 'execute')?.command
  if (line === undefined) return { commands: [], beside: [] }
  // Large, and of use for command lines only.
  const { analyzeCommand } = await import('../../permissions/commands/analyze.ts')
  const { commands, reasons } = analyzeCommand(line, { ...places, cwd })
  return {
    commands: commands.slice(0, MOST_COMMANDS).map(({ argv, level, effects }) => {
      const [program = '', ...rest] = argv.map(({ text, raw }) => text ?? raw)
      const isOption = (word: string): boolean => /^-./.test(word) && word !== '--'
      return {
        ...{ program, level, effects: [...effects] },
        words: rest.filter(word => !isOption(word)),
        options: rest.filter(isOption),
      }
    }),
    beside: reasons
      .filter(({ command, level }) => command === undefined && level !== 'safe')
      .map(({ text }) => text),
  }
}

const MOST_COMMANDS = 50

/** These two make a call, so a token that may only answer cannot. */
function requireRunning(scopes: readonly string[]): void {
  if (!scopes.includes('run'))
    throw new HttpProblem(403, 'forbidden', "This token does not have the scope 'run'.")
}

const HOUR_MS = 3_600_000

async function findReview(
  directory: string,
  { callId, createdAt }: ShownQuestion,
): Promise<z.infer<typeof review> | null> {
  const events = readEvents({
    ...{ directory, type: 'note', text: callId, newestFirst: true },
    since: new Date(createdAt - HOUR_MS),
  })
  for await (const { event } of events) {
    if (event.type !== 'note' || event.action !== 'quorum-review') continue
    const parsed = review.safeParse(event.details)
    if (parsed.success && parsed.data.call === callId) return parsed.data
  }
  return null
}

const MOST_LOOKED_AT = 500
const DAYS_30 = 30 * 24 * HOUR_MS

async function findSimilar(directory: string, { tool, input, createdAt }: ShownQuestion) {
  const what = kindOf(tool.name, input)
  const looked = await listRecentCalls({
    directory,
    since: new Date(createdAt - DAYS_30),
    limit: MOST_LOOKED_AT,
    // One that asked and was made again has not ended as a call of its own.
    matches: ({ finished }) => finished.tool === tool.name && finished.decision.outcome !== 'ask',
  })
  const like = looked.filter(({ finished, started }) => kindOf(finished.tool, inputOf(started)) === what)
  const count = (matches: (call: ListedCall) => boolean): number => like.filter(matches).length
  return {
    what,
    calls: like.length,
    looked_at: looked.length,
    allowed: count(({ finished: { decision } }) => decision.outcome === 'allow'),
    denied: count(({ finished: { decision } }) => decision.outcome === 'deny' && decision.by === 'user'),
    failed: count(({ finished: { ok, decision } }) => !ok && decision.outcome === 'allow'),
    same: count(({ started }) => isDeepStrictEqual(inputOf(started), input)),
    last: like[0]?.at ?? null,
  }
}

function inputOf(started: ListedCall['started']): Readonly<Record<string, unknown>> {
  const { input } = started ?? {}
  return typeof input === 'object' && input !== null ? { ...input } : {}
}

/** `git push`, not its options; for other tools, the tool and where it acts. */
function kindOf(tool: string, input: Readonly<Record<string, unknown>>): string {
  const { command, path, url } = input
  if (typeof command === 'string') {
    const words = command.trim().split(/\s+/, 3)
    const options = words.findIndex(word => word.startsWith('-'))
    return words.slice(0, options === -1 ? 2 : Math.min(options, 2)).join(' ')
  }
  if (typeof path === 'string') return `${tool} ${path}`
  if (typeof url === 'string' && URL.canParse(url)) return `${tool} ${new URL(url).host}`
  return tool
}
