import { relative, resolve } from 'node:path'
import type { CallFinished, CallStarted } from '../../core/audit.ts'
import { isInside } from '../../core/real-path.ts'
import type { Runtime } from '../../runtime.ts'
import { readEvents } from '../../store/audit/read.ts'
import { type Api, answer, json, route, z } from '../api.ts'

const DAYS_30 = 30 * 86_400_000

const rule = z.object({
  /** Calls that it decided. */
  hits: z.int(),
  /** When it last did; null when it never did. */
  last: z.string().nullable(),
  /** Calls that it matched and that something stricter decided, and what did so most often. */
  overruled: z.int(),
  overruled_by: z.string().nullable(),
})

const candidate = z.object({
  tool: z.string(),
  /** The very command line or path; null for other tools. */
  command: z.string().nullable(),
  path: z.string().nullable(),
  times: z.int(),
})

const summary = z
  .object({
    calls: z.int(),
    outcomes: z.record(z.string(), z.int()),
    /** Tool → outcome → how often. */
    tools: z.record(z.string(), z.record(z.string(), z.int())),
    /** What people decided, and what nobody answered in time. */
    answered: z.int(),
    expired: z.int(),
    /** Rules and grants by id. */
    rules: z.record(z.string(), rule),
    /** Calls that people were asked about and always approved: candidates for a rule. */
    always_approved: z.array(candidate),
  })
  .openapi('AuditSummary')

/** What the recorded calls add up to. */
export function auditSummaryRoute(api: Api, { places, workspace }: Runtime, now: () => number): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/audit/summary',
      summary: 'Decisions counted by outcome and rule; of the last 30 days by default',
      request: { query: z.object({ since: z.iso.datetime({ offset: true }).optional() }) },
      responses: { 200: json(summary, 'The counts') },
    }),
    async context => {
      const { since } = context.req.valid('query')
      const from = since === undefined ? new Date(now() - DAYS_30) : new Date(since)
      return answer(context, await sumUp(places.audit, from, workspace))
    },
  )
}

interface Sums {
  calls: number
  answered: number
  expired: number
  readonly outcomes: Record<string, number>
  /** No plain object: a model can ask for a tool by any name, `__proto__` too. */
  readonly tools: Map<string, Record<string, number>>
  readonly rules: Map<string, RuleSums>
  readonly asked: Map<string, { approved: number; refused: number }>
}

interface RuleSums {
  hits: number
  last: string | null
  overruled: number
  readonly by: Map<string, number>
}

async function sumUp(directory: string, since: Date, workspace: string): Promise<z.infer<typeof summary>> {
  const sums: Sums = {
    ...{ calls: 0, answered: 0, expired: 0, outcomes: {} },
    ...{ tools: new Map(), rules: new Map(), asked: new Map() },
  }
  const started = new Map<string, CallStarted>()
  for await (const { at, event } of readEvents({ directory, since })) {
    if (event.type === 'call-started') started.set(event.call, event)
    if (event.type !== 'call-finished') continue
    addCall(sums, event, at)
    if (event.decision.by === 'user') addAnswer(sums, event, started.get(event.call), workspace)
    // A call that waits is finished as such before it goes on.
    if (event.decision.outcome !== 'ask') started.delete(event.call)
  }
  const { asked, rules, tools, ...counts } = sums
  const always = [...asked]
    .filter(([, { approved, refused }]) => refused === 0 && approved >= 3)
    // `as`: this file wrote it.
    .map(([what, { approved }]) => ({ ...(JSON.parse(what) as Candidate), times: approved }))
  return {
    ...counts,
    tools: Object.fromEntries(tools),
    rules: Object.fromEntries([...rules].map(([id, each]) => [id, toRule(each)])),
    always_approved: always.sort((a, b) => b.times - a.times),
  }
}

function addCall(sums: Sums, { tool, decision }: CallFinished, at: string): void {
  const { outcome, by, ref, also = [] } = decision
  sums.calls += 1
  sums.outcomes[outcome] = (sums.outcomes[outcome] ?? 0) + 1
  const own = sums.tools.get(tool) ?? {}
  sums.tools.set(tool, own)
  own[outcome] = (own[outcome] ?? 0) + 1
  if (by === 'user') sums.answered += 1
  if (by === 'timeout') sums.expired += 1
  if (ref !== null) Object.assign(ruleOf(sums, ref.id), { hits: ruleOf(sums, ref.id).hits + 1, last: at })
  for (const { id } of also.filter(({ why }) => why === 'less strict')) {
    const rule = ruleOf(sums, id)
    const winner = ref?.id ?? by
    rule.overruled += 1
    rule.by.set(winner, (rule.by.get(winner) ?? 0) + 1)
  }
}

function ruleOf({ rules }: Sums, id: string): RuleSums {
  const known = rules.get(id) ?? { hits: 0, last: null, overruled: 0, by: new Map() }
  rules.set(id, known)
  return known
}

function toRule({ by, ...rule }: RuleSums): z.infer<typeof summary>['rules'][string] {
  const [most = null] = [...by].sort(([, a], [, b]) => b - a)[0] ?? []
  return { ...rule, overruled_by: most }
}

type Candidate = Omit<z.infer<typeof candidate>, 'times'>

/** By the very command or path: a rule that is made of it covers what was approved and nothing else. */
function addAnswer(
  sums: Sums,
  { tool, decision, access = [] }: CallFinished,
  started: CallStarted | undefined,
  workspace: string,
): void {
  const { input, cwd = workspace } = started ?? {}
  const { command, path } =
    typeof input === 'object' && input !== null ? ({ ...input } as Record<string, unknown>) : {}
  // The same line does something else in another folder.
  const isHere = access.every(each => each.kind !== 'execute' || each.cwd === workspace)
  const what: Candidate = {
    tool,
    command: typeof command === 'string' && isHere ? command : null,
    path: typeof path === 'string' ? fromWorkspace(resolve(cwd, path), workspace) : null,
  }
  const key = JSON.stringify(what)
  const { approved, refused } = sums.asked.get(key) ?? { approved: 0, refused: 0 }
  const yes = decision.outcome === 'allow' ? 1 : 0
  sums.asked.set(key, { approved: approved + yes, refused: refused + 1 - yes })
}

/** As a rule says it. */
function fromWorkspace(path: string, workspace: string): string {
  return isInside(path, workspace) ? relative(workspace, path) : path
}
