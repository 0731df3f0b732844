import type { Pipeline } from '../agents/pipelines/pipeline.ts'
import type { Progress, StepProgress } from '../agents/pipelines/progress.ts'
import { attemptOf, rememberedOf } from '../agents/pipelines/run-pipeline.ts'
import { ToolError } from '../core/errors.ts'
import { readEvents } from '../store/audit/read.ts'
import { pipelineRunsOf, type SavedPipelineRun } from '../store/pipeline-runs.ts'
import { readPipeline } from './files.ts'
import type { PipelineParts } from './pipelines.ts'

/** Steps that were under way when the process ended: what is known to have ended has, and of the rest a person knows. */
export async function settle(
  parts: Pick<PipelineParts, 'runtime'>,
  pipeline: Pipeline,
  saved: SavedPipelineRun,
  options: { readonly retry?: readonly string[]; readonly skip?: readonly string[] },
): Promise<Progress> {
  const { retry = [], skip = [] } = options
  let progress: Progress = saved.progress
  for (const [id, step] of Object.entries(progress.steps)) {
    if (step.status !== 'running') continue
    const tries = rememberedOf(step)
    const { waits, items = [] } = tries
    const settled = (next: StepProgress): void => {
      progress = { ...progress, steps: { ...progress.steps, [id]: next } }
    }
    const { tool, pipeline: inside, for_each: list } = pipeline.steps.find(each => each.id === id) ?? {}
    if (inside !== undefined && tries.run !== undefined) await requireSettled(parts, tries.run, options)
    const again = (): void => settled({ status: 'waiting', ...tries })
    const known = tool === undefined ? undefined : parts.runtime.registry.candidates(tool)[0]
    // Reading twice does no harm; a tool that makes calls, such as self_eval, does more than read.
    const makesCalls = known?.tool.category === 'Composite' || known?.tool.isIsolated === true
    const onlyReads = known?.risk === 'low' && !makesCalls
    // The run of a panel knows itself what it has done.
    if (tool === undefined || onlyReads) again()
    else if (retry.includes(id)) settled({ status: 'waiting', ...tries, waits: (waits ?? 0) + 1 })
    else if (skip.includes(id) && list === undefined)
      settled({ status: 'done', ...tries, text: '', data: null })
    else {
      const nextItem = (text: string): void =>
        settled({ status: 'waiting', ...tries, items: [...items, { text, data: null }] })
      const attempt = `${attemptOf(progress, id)}${list === undefined ? '' : `.${items.length}`}`
      const end = await recordedEnd(parts, callIdOf(saved.id, id, attempt))
      // What calls inside of it have done stands in its journal, and is not done again.
      if (end === 'none' || (end === 'unknown' && makesCalls)) again()
      else if (skip.includes(id)) nextItem('')
      else if (end === 'unknown') throw unknownEnd(id)
      else if (end.ok && list !== undefined) nextItem(LOST)
      else if (end.ok) settled({ status: 'done', ...tries, text: LOST, data: null })
      else settled({ status: 'failed', ...tries, error: end.error ?? 'It failed.' })
    }
  }
  return progress
}

/** Of a pipeline inside of this one the person is asked before anything goes on. */
async function requireSettled(
  parts: Pick<PipelineParts, 'runtime'>,
  run: string,
  options: { readonly retry?: readonly string[]; readonly skip?: readonly string[] },
): Promise<void> {
  const { workspace, places } = parts.runtime
  const inner = pipelineRunsOf(places).find(run)
  if (inner !== undefined)
    await settle(parts, readPipeline(workspace, inner.pipeline).pipeline, inner, options)
}

const LOST = 'Kogu was interrupted right after this step succeeded, so its output is lost.'

function unknownEnd(id: string): ToolError {
  return new ToolError(
    'conflict',
    `It is not known whether the step '${id}' took effect: Kogu ended while it ran.`,
    { hint: `Look at the workspace, then add --retry ${id} or --skip ${id}.` },
  )
}

/** The same in every process that comes to this step, so that the record says after a crash how it ended. */
export function callIdOf(run: string, step: string, attempt: string): string {
  return `call_${run}.${step}.${attempt}`
}

type RecordedEnd = 'none' | 'unknown' | { readonly ok: boolean; readonly error: string | null }

/**
 * What the audit log knows of the call of a step that was under way when its process ended. All of the log is looked at, and
 * the order of events is not relied on: the clock may have been set back since.
 */
async function recordedEnd({ runtime }: Pick<PipelineParts, 'runtime'>, id: string): Promise<RecordedEnd> {
  const seen = new Set<string>()
  for await (const { event } of readEvents({ directory: runtime.places.audit, call: id })) {
    seen.add(event.type)
    // With `needs_approval` a question was put and the call waited: nothing has happened yet.
    if (event.type === 'call-finished' && event.error?.code !== 'needs_approval')
      return { ok: event.ok, error: event.error?.message ?? null }
  }
  if (seen.has('approval-answered')) return 'unknown'
  // Until somebody answers, nothing happens.
  return seen.has('call-started') && !seen.has('approval-requested') ? 'unknown' : 'none'
}
