import { hash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunEvent } from '../agents/events.ts'
import { type FolderPanel, fillPanel, type TextPanel } from '../agents/panel.ts'
import type { Edge } from '../agents/pipelines/pipeline.ts'
import type { StepOutcome } from '../agents/pipelines/progress.ts'
import type { PanelOrder } from '../agents/pipelines/run-pipeline.ts'
import { type Summarizer, summarizeText } from '../agents/pipelines/summaries.ts'
import type { RunRecord, RunSpec } from '../agents/run-record.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { Approver } from '../core/approval.ts'
import { ToolError, toToolError } from '../core/errors.ts'
import { fenceUntrusted } from '../core/fence.ts'
import { makeFolders } from '../core/make-folders.ts'
import { addLabel, type Run } from '../core/run.ts'
import { writeWhole } from '../core/write-whole.ts'
import { lastingId } from '../models.ts'
import { type RunWish, toRunSpec } from '../run-spec.ts'
import type { Runs } from '../runs.ts'
import type { Runtime } from '../runtime.ts'
import type { Database } from '../store/database/database.ts'
import { readPanel, requirePanelAgent, requireTrusted } from '../store/runs/find-agent.ts'
import { findRun } from '../store/tables/workflow-runs.ts'
import { workflowOf } from '../store/tables/workflows.ts'

// What models do in a pipeline: panels and summaries. Each is a run like any other, so it survives its process, counts
// for the budget and is in the list of runs.

export interface PanelParts {
  readonly loaded: LoadedConfig
  readonly runtime: Runtime
  readonly database: Database
  readonly runs: Runs
  /** The pipeline's own run: what entered it has entered its panels, and the other way round. */
  readonly core: Run
  readonly approver: Approver | undefined
  readonly signal: AbortSignal
  /** Instead of the models that panels name. */
  readonly model?: string | undefined
  /** Plays `.kogu/rehearsals/PANEL.toml` instead of asking a model. */
  readonly rehearse: boolean
  /** Told what the models do. */
  onEvent?(event: RunEvent): void
}

/** Undefined when it waits for somebody's answer, or was stopped; its run goes on later. */
export async function runPanel(parts: PanelParts, order: PanelOrder): Promise<StepOutcome | undefined> {
  const { runs, signal, approver, onEvent } = parts
  const id = order.run ?? randomUUID()
  // Written down before it exists: a crash in between leaves an id without a run, never a run that nobody knows.
  if (order.run === undefined) await order.begun(id)
  const found = await findRun(parts.database, id)
  if (found?.status === 'completed') return toOutcome(found, await takeLabels(parts.runtime, id, parts.core))
  const run = found === undefined ? await begin(parts, order, id) : await takeFree(runs, id)
  if (run === undefined) return undefined
  const ended = await runs.work(run, {
    signal,
    ...(approver === undefined ? {} : { approver }),
    ...(onEvent === undefined ? {} : { onEvent }),
  })
  if (ended.status === 'running' || ended.status === 'pending') return undefined
  return toOutcome(ended, await takeLabels(parts.runtime, id, parts.core))
}

/** Undefined when somebody else works on it, a server for example; the pipeline goes on when it has ended. */
async function takeFree(runs: Runs, id: string): Promise<RunRecord | undefined> {
  try {
    return await runs.take(id)
  } catch (error) {
    if (toToolError(error).code === 'conflict') return undefined
    throw error
  }
}

async function begin(parts: PanelParts, { step, prompt, vars }: PanelOrder, id: string): Promise<RunRecord> {
  const spec = await panelSpec(parts, step.panel ?? '', { prompt, vars })
  return parts.runs.create({ ...spec, labels: parts.core.labels.filter(({ trusted }) => !trusted) }, id)
}

/** What a run inside of a pipeline has read has entered the pipeline too. */
export async function takeLabels(runtime: Runtime, id: string, core: Run): Promise<Run['labels']> {
  const { labels } = await runtime.openRun({ id })
  await runtime.closeRun(id)
  for (const label of labels) addLabel(core, label)
  return labels
}

function toOutcome(record: RunRecord, labels: Run['labels']) {
  const { id, status, output, error, errorKind, stopReason, costUsd } = record
  if (status !== 'completed') {
    const message = error ?? stopReason ?? 'The panel failed.'
    return {
      ok: false as const,
      error: message,
      retryable: status === 'failed' && stopReason !== 'denied',
      rateLimited: errorKind === 'rate_limited',
      run: id,
    }
  }
  const foreign = labels.find(({ trusted }) => !trusted)
  const untrusted = foreign === undefined ? {} : { untrusted: foreign.source ?? foreign.origin }
  return {
    ok: true as const,
    text: output ?? '',
    data: { run: id, cost_usd: costUsd },
    run: id,
    ...untrusted,
  }
}

async function panelSpec(
  parts: PanelParts,
  name: string,
  { prompt, vars, ...only }: Pick<PanelOrder, 'prompt' | 'vars'> & Pick<RunWish, 'tools' | 'orchestration'>,
): Promise<RunSpec> {
  const { loaded, runtime, database, runs } = parts
  const workflow = await workflowOf(database, runs.place.user, runtime.workspace)
  const found = readPanel(runtime.workspace, name)
  const { agent, tools, panel } = await requirePanelAgent(database, workflow, found)
  const variables = Object.fromEntries(
    Object.entries(vars).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
  const filled = fillPanel(panel, prompt, variables)
  const hasInput = /\{\{\s*input\s*\}\}/.test(panel.prompt)
  return toRunSpec(
    { loaded, runtime, runs },
    {
      startedBy: 'pipeline',
      task: hasInput || prompt === '' ? filled : `${filled}\n\n${prompt}`,
      panel,
      agent: { record: agent, tools },
      model: modelFor(parts, name, panel.model),
      ...only,
    },
  )
}

function modelFor(
  { rehearse, model, runs, runtime, loaded }: PanelParts,
  panel: string,
  own: string | undefined,
): string {
  const file = join(runtime.workspace, '.kogu/rehearsals', `${panel}.toml`)
  const wanted = rehearse ? `rehearsal:${file}` : (model ?? own)
  return lastingId(runs.models.find(wanted).id, loaded.workspace.cwd)
}

/** What a panel hands over in which no model works. Its text reaches models, so somebody has to have looked at it too. */
export async function panelContent(
  { runtime, database, runs }: PanelParts,
  name: string,
): Promise<TextPanel | FolderPanel | undefined> {
  const panel = readPanel(runtime.workspace, name)
  if (panel.kind === 'ai') return undefined
  const workflow = await workflowOf(database, runs.place.user, runtime.workspace)
  await requireTrusted(database, workflow, panel)
  return panel
}

/** Long outputs, shortened by a model that has no tools: what it reads can make it say something, not do anything. */
export function summarize(parts: PanelParts, { summarizer }: Edge, text: string): Promise<string> {
  const { runs, runtime, signal } = parts
  const name = summarizer ?? 'summary'
  const spec = async (task: string): Promise<RunSpec> => {
    const only = { tools: [], orchestration: 'none' } as const
    if (summarizer !== undefined) return panelSpec(parts, summarizer, { prompt: task, vars: {}, ...only })
    return toRunSpec(parts, { ...{ task, startedBy: 'pipeline', model, limits: { maxTurns: 1 } }, ...only })
  }
  const panel = summarizer === undefined ? undefined : readPanel(runtime.workspace, summarizer)
  const model = modelFor(parts, name, panel?.kind === 'ai' ? panel.model : undefined)
  const ask: Summarizer['ask'] = async (instruction, chunk) => {
    const made = await runs.create(await spec(`${instruction}\n\n${fenceUntrusted(chunk, 'part')}`))
    const ended = await runs.work(made, { signal })
    if (ended.status === 'completed') return ended.output ?? ''
    throw new ToolError('failed', `It could not be summarised: ${ended.error ?? ended.stopReason ?? ''}`)
  }
  return summarizeText(text, {
    id: `${model} ${panel?.hash ?? ''}`,
    ask,
    cache: openCache(join(runtime.places.pipelines, 'summaries')),
    pause: () => (model.startsWith('rehearsal:') ? Promise.resolve() : pause(signal)),
  })
}

const BETWEEN_BATCHES_MS = 5_000

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, BETWEEN_BATCHES_MS)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new ToolError('cancelled', 'It was stopped.'))
    })
  })
}

/** One file per summary, named by what it is a summary of. */
function openCache(folder: string): Summarizer['cache'] {
  const path = (key: string): string => join(folder, hash('sha256', key).slice(0, 40))
  return {
    get: key => (existsSync(path(key)) ? readFileSync(path(key), 'utf8') : undefined),
    set(key, summary) {
      makeFolders(folder)
      writeWhole(path(key), summary)
    },
  }
}
