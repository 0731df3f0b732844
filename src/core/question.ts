import { hash, randomBytes } from 'node:crypto'
import type { CallSummary, Question, QuestionSubject } from './approval.ts'
import type { Call, CallRuntime, Prepared } from './call.ts'
import { canonicalJson } from './canonical-json.ts'
import { partsOf } from './diff-parts.ts'
import { fileState } from './file-state.ts'
import { lookAt, realPathOf } from './real-path.ts'
import { lineage } from './run.ts'
import { FILE_PIECE, type Judged, withoutValues } from './stored-question.ts'
import { toLine } from './visible.ts'

export interface MadeQuestion {
  readonly question: Question
  readonly judged: Judged
}

/** The question about a call, with a digest over everything that its judgement rests on. */
export async function makeQuestion(
  runtime: CallRuntime,
  call: Call,
  prepared: Prepared,
): Promise<MadeQuestion> {
  const summary = await summarizeCall(runtime, call, prepared)
  const judged = await judgedPieces(summary, prepared, call)
  const createdAt = runtime.clock.now()
  const question: Question = {
    ...summary,
    id: `q-${randomBytes(4).toString('hex')}`,
    subject: subjectOf(prepared),
    offers: (prepared.judgement.preview?.grants ?? []).map(({ id, label }) => ({ id, label })),
    digest: digest(judged),
    createdAt,
    expiresAt: createdAt + runtime.questionMs,
  }
  return { question, judged }
}

export function subjectOf({ changes }: Pick<Prepared, 'changes'>): QuestionSubject {
  if (changes === undefined) return { kind: 'call' }
  const { layer, digest, summary, root } = changes
  return { kind: 'changes', layer, digest, summary, root }
}

/** The calls that this one is a part of, the outermost first. */
export function outerCalls({ within }: Call): NonNullable<Call['within']>[] {
  return within === undefined ? [] : [...outerCalls(within.call), within]
}

const MOST_OF_TASK = 4_000

export async function summarizeCall(
  runtime: CallRuntime,
  call: Call,
  prepared: Prepared,
): Promise<CallSummary> {
  const { entry, request, judgement, changes } = prepared
  const task = lineage(call.run).findLast(run => run.task !== undefined)?.task
  const { effects = [], dangerous = false, details } = judgement.preview ?? {}
  const within = outerCalls(call).map(outer => ({ callId: outer.call.id, tool: outer.tool }))
  return {
    callId: call.id,
    runId: call.run.id,
    runPath: lineage(call.run)
      .map(run => run.id)
      .toReversed(),
    agent: call.run.authority.agent,
    within: within.length === 0 ? undefined : within,
    task: task?.slice(0, MOST_OF_TASK),
    tool: { name: entry.tool.name, title: entry.tool.title, fingerprint: entry.fingerprint },
    input: changes?.callInput ?? request.input,
    cwd: judgement.cwd,
    risk: judgement.risk,
    access: judgement.access,
    effects,
    decision: judgement.decision,
    reasons: judgement.reasons,
    isDangerous: dangerous,
    details,
    ...(await previewOf(runtime, call, prepared)),
  }
}

/** Why an answer to the one question is none to the other, as the rest of a sentence. */
export function describeChanges(before: Judged, now: Judged): string {
  const names = new Set([...Object.keys(before), ...Object.keys(now)])
  const changed = [...names].filter(name => before[name] !== now[name]).sort()
  const named = changed.slice(0, 5).join(', ')
  return changed.length > 5 ? `${named} and ${changed.length - 5} more` : named
}

/** A preview that fails is no reason not to ask: the person sees the input itself. */
async function previewOf(
  runtime: CallRuntime,
  call: Call,
  prepared: Prepared,
): Promise<{ preview?: string; parts?: number }> {
  const { tool, input } = prepared.request
  const unreadable = await unreadableOf(runtime, prepared)
  if (prepared.changes !== undefined) return { preview: prepared.changes.preview(unreadable) }
  try {
    const context = { cwd: call.cwd, workspace: runtime.workspace, receipts: call.run.receipts }
    const preview = tool.preview?.(input, context)
    if (preview === undefined) return {}
    if (unreadable.size > 0)
      return {
        preview: await describeUnreadable([...unreadable], withoutValues(input, tool.unrecorded ?? [])),
      }
    const parts = partsOf(preview).length
    const isDivisible = parts > 1 && tool.leaveOut?.(input, new Set([0]), context) !== undefined
    return { preview, ...(isDivisible ? { parts } : {}) }
  } catch {
    // For example a file that cannot be read; the call itself will say so.
    return {}
  }
}

/** A preview shows what a file holds, so it is a read by the same run: what that could not simply read is not shown. */
async function unreadableOf(
  { permissions, registry }: CallRuntime,
  { request, changes }: Prepared,
): Promise<ReadonlySet<string>> {
  const reader = registry.candidates('read_file').at(-1)
  const as = reader === undefined ? {} : { tool: reader.tool, toolNames: reader.names, risk: reader.risk }
  const { permit } = await permissions.judge({ ...request, ...as, access: [] })
  const written = changes?.effects ?? request.access.filter(each => /^file_(?:write|delete)$/.test(each.kind))
  const paths = written.flatMap(each =>
    'path' in each && lookAt(each.path) !== undefined ? [each.path] : [],
  )
  return new Set(paths.filter(path => !permit.mayRead(realPathOf(path))))
}

/** The input is all that tells what the change is. */
async function describeUnreadable(paths: readonly string[], input: object): Promise<string> {
  const lines = paths.map(async path => {
    const facts = `${lookAt(path)?.size} bytes, digest ${await fileState(path)}`
    return `${toLine(path)} (${facts}): reading it is not allowed, so its content is not shown`
  })
  return `${(await Promise.all(lines)).join('\n')}\n\n${JSON.stringify(input, null, 2)}`
}

/** More files than this are not named one by one in what has changed. */
const MOST_NAMED = 1000

async function judgedPieces(
  summary: CallSummary,
  { judgement, changes }: Prepared,
  { run }: Call,
): Promise<Judged> {
  const { by, ref, notes } = summary.decision
  const touched = summary.access.flatMap(access => ('path' in access ? [access.path] : []))
  const files = [...touched, ...(judgement.preview?.starts ?? [])]
  const isCommand = summary.access.some(({ kind }) => kind === 'execute')
  const states = await statesOf([...new Set(files)])
  const further = states.slice(MOST_NAMED)
  return {
    'the tool': digest([summary.tool.name, summary.tool.fingerprint]),
    'the input': digest([summary.input, summary.cwd]),
    ...(isCommand ? { 'the variables of the run': digest([...run.variables].sort()) } : {}),
    'what the run may do': digest(lineage(run).map(each => each.authority)),
    'what it would touch': digest([summary.access, summary.effects, judgement.permit.writeScope]),
    'the rule that asks': digest([by, ref?.id ?? null, ref?.text ?? null, notes ?? []]),
    'what it would change': digest(changes?.digest ?? summary.preview ?? null),
    ...Object.fromEntries(states.slice(0, MOST_NAMED)),
    ...(further.length === 0 ? {} : { 'further files': digest(further) }),
  }
}

/** In batches: a patch may name more files than can be open at once. */
async function statesOf(paths: readonly string[]): Promise<[name: string, state: string][]> {
  const states: [string, string][] = []
  for (let start = 0; start < paths.length; start += 100) {
    const batch = paths.slice(start, start + 100)
    states.push(...(await Promise.all(batch.map(stateOf))))
  }
  return states
}

async function stateOf(path: string): Promise<[name: string, state: string]> {
  return [`${FILE_PIECE}${path}`, await fileState(path)]
}

function digest(value: unknown): string {
  return hash('sha256', canonicalJson(value) ?? '').slice(0, 32)
}
