import { hash } from 'node:crypto'
import { relative } from 'node:path'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { Runtime } from '../../runtime.ts'
import { pipelineRunsOf, wholePipelineRun } from '../../store/pipeline-runs.ts'
import { contentAfter, contentBefore, diffContents } from '../../workspace/undo/change-content.ts'
import {
  type CallChanges,
  isOfRun,
  type PathState,
  type UndoPlan,
  type UndoSelection,
} from '../../workspace/undo/undo-plan.ts'
import { type Api, body, json, route, z } from '../api.ts'
import { type DoorContext, ownRun } from '../door.ts'
import { HttpProblem } from '../problem.ts'

const change = z
  .object({
    call: z.string(),
    run: z.string(),
    tool: z.string(),
    at: z.string(),
    undone: z.boolean(),
    undoes: z.array(z.string()),
    paths: z.array(z.object({ path: z.string(), change: z.string() })),
  })
  .openapi('Change')

const fileDiff = z
  .object({
    path: z.string(),
    change: z.string(),
    /** Null when there is none to show. */
    diff: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .openapi('FileDiff')

const selection = z.union([
  z.strictObject({ calls: z.array(z.string()).min(1).max(1_000) }),
  /** Of an agent's run with its sub-agents, or of a pipeline's run with everything that it has begun. */
  z.strictObject({ run: z.string() }),
  z.strictObject({ last: z.int().min(1).max(1_000) }),
])

const plan = z
  .object({
    calls: z.array(z.string()),
    steps: z.array(z.object({ path: z.string(), action: z.enum(['create', 'restore', 'delete']) })),
    conflicts: z.array(z.object({ path: z.string(), call: z.string(), reason: z.string() })),
    staying: z.array(z.string()),
    /** Of all that it would do, byte for byte. */
    digest: z.string(),
  })
  .openapi('UndoPlan')

export function changeRoutes(api: Api, runtime: Runtime): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/changes',
      summary: 'Calls that changed files, newest first',
      request: {
        query: z.object({
          run: z.string().max(200).optional(),
          limit: z.coerce.number().int().min(1).max(500).default(50),
        }),
      },
      responses: { 200: json(z.array(change), 'The calls with the paths they changed') },
    }),
    async context => {
      const { run, limit } = context.req.valid('query')
      const calls = await runtime.listChanges()
      const runs =
        run === undefined
          ? []
          : [...wholePipelineRun(pipelineRunsOf(runtime.places), run), ownRun(context, run)]
      const wanted = run === undefined ? calls : calls.filter(call => runs.some(id => isOfRun(call, id)))
      return context.json(wanted.slice(0, limit).map(toChange), 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/changes/{call}/diff',
      summary: 'The difference that a call made, file by file; secrets are masked',
      request: { params: z.object({ call: z.string().max(200) }) },
      responses: { 200: json(z.array(fileDiff), 'The files') },
    }),
    async context => {
      const { call } = context.req.valid('param')
      const [found] = await runtime.listChanges({ calls: [call] })
      if (found === undefined) throw new HttpProblem(404, 'not_found', 'No change by this call is recorded.')
      return context.json(await diffsOf(runtime, found), 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'post',
      path: '/api/changes/undo/plan',
      summary: 'What an undo would bring back; changes nothing',
      request: { body: body(selection) },
      responses: { 200: json(plan, 'The plan') },
    }),
    async context =>
      context.json(
        toPlan(
          await runtime.planUndo(
            await toSelection(runtime, context, context.req.valid('json')),
            AROUND_CONFLICTS,
          ),
        ),
        200,
      ),
  )
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/changes/undo',
      summary: 'Take changes back',
      request: {
        body: body(
          z.object({
            selection,
            skip_conflicts: z.boolean().default(false),
            /** Of the plan as it was looked at: another one is not carried out. */
            digest: z.string().max(100).optional(),
          }),
        ),
      },
      responses: { 200: json(plan.extend({ undo: z.string() }), 'What was taken back') },
    }),
    async context => {
      const { selection: wanted, skip_conflicts: skips, digest } = context.req.valid('json')
      const planned = await runtime.planUndo(await toSelection(runtime, context, wanted), AROUND_CONFLICTS)
      // A run that still works may have changed more meanwhile.
      if (digest !== undefined && digest !== digestOf(planned))
        throw new HttpProblem(409, 'stale', 'The undo would do something else by now.', {
          hint: 'Look at its plan again.',
        })
      if (planned.conflicts.length > 0 && !skips) {
        throw new HttpProblem(409, 'conflict', 'Some of these files have changed since.', {
          hint: 'Send skip_conflicts: true to leave them out.',
          errors: planned.conflicts.map(({ path, reason }) => ({ pointer: path, message: reason })),
        })
      }
      if (planned.steps.length === 0) throw new HttpProblem(404, 'not_found', 'There is nothing to undo.')
      const { call } = await runtime.applyUndo(planned, { despiteConflicts: skips })
      return context.json({ ...toPlan(planned), undo: call }, 200)
    },
  )
}

/** What is shown is what is done: all but the files that have changed since. */
const AROUND_CONFLICTS = { leaveOut: 'paths' } as const

const MOST_FILES = 200

async function diffsOf(runtime: Runtime, { records }: CallChanges): Promise<z.infer<typeof fileDiff>[]> {
  const sources = { readKept: runtime.readKept, contentWith: await runtime.openContents() }
  const all = records.flatMap(record => record.changes.map(each => ({ record, each })))
  const shown = all.slice(0, MOST_FILES).map(async ({ record, each }) => {
    const { path, change: kind, entry, before, after } = each
    if (entry !== 'file') return { path, change: kind, diff: null, reason: null }
    // Who looks at a diff reads the file, and must be allowed to.
    const { decision } = await runtime.explain({ tool: 'read_file', input: { path } })
    if (decision !== 'allow') {
      const sizes = [before, after].map(
        state => `${state?.size ?? 0} bytes (sha256 ${state?.sha256 ?? 'none'})`,
      )
      return { path, change: kind, diff: null, reason: `reading it is not allowed; ${sizes.join(' → ')}` }
    }
    const name = relative(runtime.workspace, path)
    const found = diffContents(name, contentBefore(record, each, sources), contentAfter(each, sources))
    return 'missing' in found
      ? { path, change: kind, diff: null, reason: found.missing }
      : { path, change: kind, diff: runtime.redact(found.diff), reason: null }
  })
  return Promise.all(shown)
}

/** The run of a pipeline stands for every run that it has begun. */
async function toSelection(
  runtime: Runtime,
  context: DoorContext,
  wanted: z.infer<typeof selection>,
): Promise<UndoSelection> {
  if (!('run' in wanted)) return wanted
  const runs = wholePipelineRun(pipelineRunsOf(runtime.places), wanted.run)
  const named = { run: ownRun(context, wanted.run) }
  if (runs.length === 1) return (await runtime.listChanges(named)).length > 0 ? named : wanted
  const calls = await runtime.listChanges()
  const own = calls.filter(
    call => runs.some(id => isOfRun(call, id)) && call.undoes.length === 0 && !call.undone,
  )
  return { calls: own.map(({ call }) => call) }
}

function toChange({ call, run, tool, at, undone, undoes, records }: CallChanges): z.infer<typeof change> {
  const paths = records.flatMap(record =>
    record.changes.map(each => ({ path: each.path, change: each.change })),
  )
  return { call, run, tool, at: new Date(at).toISOString(), undone, undoes: [...undoes], paths }
}

function digestOf({ calls, steps, conflicts }: UndoPlan): string {
  const plain = (state: PathState | undefined): unknown =>
    state === undefined ? null : [state.entry, state.state, state.target ?? null]
  const all = [
    calls.map(({ call }) => call),
    steps.map(({ path, now, then }) => [path, plain(now), plain(then)]),
    conflicts.map(({ path, reason }) => [path, reason]),
  ]
  return hash('sha256', canonicalJson(all) ?? '').slice(0, 32)
}

function toPlan(planned: UndoPlan): z.infer<typeof plan> {
  const { calls, steps, conflicts, staying } = planned
  return {
    digest: digestOf(planned),
    calls: calls.map(({ call }) => call),
    steps: steps.map(({ path, now, then }) => ({
      path,
      action: then === undefined ? 'delete' : now === undefined ? 'create' : 'restore',
    })),
    conflicts: conflicts.map(({ path, call, reason }) => ({ path, call, reason })),
    staying: [...staying],
  }
}
