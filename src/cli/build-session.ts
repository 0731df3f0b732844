import { setTimeout as sleep } from 'node:timers/promises'
import { toToolError } from '../core/errors.ts'
import type { ShownQuestion } from '../core/stored-question.ts'
import { toLine } from '../core/visible.ts'
import { workOnRun } from '../pipelines/build/build.ts'
import { describeReport } from '../pipelines/build/report.ts'
import type { PipelineOptions, PipelineParts } from '../pipelines/pipelines.ts'
import { pipelineRunsOf, type SavedPipelineRun } from '../store/pipeline-runs.ts'
import { createBuildView } from './build-view.ts'
import type { CommandContext } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { names } from './pipeline-runs.ts'
import { readDuration } from './read-time.ts'
import { readOnAsk } from './run-session.ts'

type Parts = PipelineParts & Pick<PipelineOptions, 'approver'>

/** Works on a build and shows what happens: which agent, which round, which check, what it costs, what is asked. */
export async function workOnBuild(
  context: CommandContext,
  parts: Parts,
  run: SavedPipelineRun,
): Promise<number> {
  const { output, values } = context
  const view = createBuildView(output, run)
  const work = (): Promise<SavedPipelineRun> =>
    workOnRun(parts, run.id, {
      signal: context.signal,
      ...(parts.approver === undefined ? {} : { approver: parts.approver }),
      ...{ approve: names(context, 'approve'), retry: names(context, 'retry'), skip: names(context, 'skip') },
      onEvent: view.show,
    })
  let stand = await work()
  if (readOnAsk(values) === 'wait') stand = await goOnAfterAnswers(context, parts, stand, work)
  const waiting = stand.status === 'waiting' ? await questionsOf(parts, stand) : []
  if (output.json) output.object(toJson(stand, waiting))
  else tell(context, stand, waiting)
  return exitOf(stand)
}

function tell({ output }: CommandContext, run: SavedPipelineRun, waiting: readonly ShownQuestion[]): void {
  const { id, status, build } = run
  for (const line of describeReport(run)) output.data(line)
  for (const { id: question, tool } of waiting)
    output.note(`${output.signs.waits} ${toLine(tool.name)} waits for you: kogu approvals show ${question}`)
  if (status === 'waiting')
    output.note(`waits for a person. A kogu serve goes on by itself; otherwise: kogu pipeline resume ${id}`)
  if (status === 'stopped') output.note(`stopped. To go on: kogu pipeline resume ${id}`)
  if (build?.report === undefined) output.note(`To throw it away: kogu pipeline discard ${id}`)
}

function exitOf({ status }: SavedPipelineRun): number {
  if (status === 'completed') return EXIT.ok
  if (status === 'failed') return EXIT.failed
  return status === 'stopped' ? EXIT.interrupted : EXIT.needsPerson
}

/** The contract of `--json`. */
function toJson(run: SavedPipelineRun, waiting: readonly ShownQuestion[]): Record<string, unknown> {
  const { id, status, build, input, progress } = run
  const { commit = null, files = [], checks = '', rounds = 0, refused = [] } = build?.report ?? {}
  const { calls = 0, tokens = 0, costUsd = null } = build?.report ?? {}
  return {
    schema: 'kogu.build/1',
    id,
    status,
    goal: input.goal,
    base: build?.base,
    branch: build?.branch,
    commit,
    folder: build?.root,
    ...{ files, checks, rounds, refused },
    usage: { calls, tokens },
    cost_usd: costUsd === null ? null : costUsd.toFixed(6),
    waiting: waiting.map(question => question.id),
    steps: progress.steps,
  }
}

/** Of the pipeline itself, and of its agents. */
async function questionsOf({ runtime }: Parts, { id, runs }: SavedPipelineRun): Promise<ShownQuestion[]> {
  const questions = await runtime.listQuestions()
  return questions.filter(
    ({ runPath, answer }) => answer === null && [id, ...runs].some(each => runPath.includes(each)),
  )
}

const LOOK_MS = 300
const PATIENCE_MS = 30 * 60_000

/** `--on-ask wait`: past every question that is answered in time, by whomever. A server may be faster; then this waits. */
async function goOnAfterAnswers(
  { signal, values }: CommandContext,
  parts: Parts,
  run: SavedPipelineRun,
  work: () => Promise<SavedPipelineRun>,
): Promise<SavedPipelineRun> {
  const runs = pipelineRunsOf(parts.runtime.places)
  const patience = readDuration(values, 'ask-timeout') ?? PATIENCE_MS
  let [stand, deadline] = [run, performance.now() + patience]
  while (!signal.aborted && performance.now() < deadline) {
    const isOver = stand.status === 'completed' || stand.status === 'failed'
    if (isOver && stand.build?.report !== undefined) return stand
    const isFree = !runs.isLocked(run.id)
    if (isFree && (isOver || (await questionsOf(parts, stand)).length === 0)) {
      const next = await work().catch(error => {
        if (toToolError(error).code !== 'conflict') throw error
      })
      if (next !== undefined) deadline = performance.now() + patience
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
    stand = runs.find(run.id) ?? stand
  }
  return stand
}
