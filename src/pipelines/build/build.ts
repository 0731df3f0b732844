import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { selfBootstrap } from '../../agents/pipelines/templates/bootstrap.ts'
import { type Approver, laterApprover, noApprover } from '../../core/approval.ts'
import { ToolError } from '../../core/errors.ts'
import { hasNoLinks } from '../../core/made-here.ts'
import { lastingId } from '../../models.ts'
import { createRuntime } from '../../runtime.ts'
import { removeFilledFolder } from '../../sandbox/layer/remove-tree.ts'
import { pipelineRunsOf, type SavedBuild, type SavedPipelineRun } from '../../store/pipeline-runs.ts'
import { placesForCopy } from '../../store/places.ts'
import {
  createPipelineRun,
  newRunId,
  type PipelineOptions,
  type PipelineParts,
  requirePipelineRun,
  workOnPipeline,
} from '../pipelines.ts'
import { writeTemplateFiles } from '../templates.ts'
import { trustPipeline } from '../trust.ts'
import { configOfCopy } from './copy-policy.ts'
import { type Begin, bringDependencies, copyRepository } from './copy-repository.ts'
import { type PersonGit, personGit } from './person-git.ts'
import { makeReport } from './report.ts'

// Builds: the pipeline `self-bootstrap` on a copy of the person's repository. The copy has its own files, layers and undo
// records; questions, the audit log and the state of the run belong to the person's workspace, so every door shows them.

export interface BuildWish {
  readonly goal: string
  readonly rounds: number
  /** Whether a person sees the whole difference before it is committed. */
  readonly gate: boolean
  readonly model: string | undefined
}

const NAME = 'kogu-build'

/** Makes the copy and writes the run down; `workOnRun` does the rest. When it fails, nothing is left. */
export async function createBuild(
  parts: PipelineParts,
  begin: Begin,
  { goal, rounds, gate, model }: BuildWish,
): Promise<SavedPipelineRun> {
  const { runtime, environment, loaded } = parts
  const id = newRunId()
  const lock = pipelineRunsOf(runtime.places).lock(id)
  const build: SavedBuild = {
    repository: begin.repository,
    root: join(folderOf(parts, id), 'work'),
    base: begin.base,
    branch: `kogu/build-${id.slice(3)}`,
  }
  const git = personGit(environment, runtime.workspace)
  try {
    sweepAbandoned(parts)
    await copyRepository(git, begin, build)
    await bringDependencies(git, begin.repository, build.root)
    if (!hasNoLinks(join(build.root, '.kogu'), ['panels', 'pipelines', 'rehearsals']))
      throw new ToolError('forbidden', "The repository's '.kogu' has links in it, so no build runs on it.")
    writeTemplateFiles(build.root, NAME, selfBootstrap({ rounds, gate }))
    return await inCopy(parts, build, undefined, async there => {
      await trustPipeline({ ...there, services: async () => there }, NAME)
      const lasting = model === undefined ? {} : { model: lastingId(model, loaded.workspace.cwd) }
      return createPipelineRun(there, NAME, { goal }, { id, build, ...lasting })
    })
  } catch (error) {
    removeCopy(parts, id)
    throw error
  } finally {
    lock?.release()
  }
}

/** Works on any run of a pipeline: a build in its copy, another one on the workspace. */
export async function workOnRun(
  parts: PipelineParts,
  id: string,
  options: PipelineOptions = {},
): Promise<SavedPipelineRun> {
  const { runtime, environment } = parts
  const saved = requirePipelineRun(pipelineRunsOf(runtime.places), id)
  const { build } = saved
  if (build === undefined) return workOnPipeline(parts, id, options)
  // Killed right after its last step: there is only its report to make.
  if (saved.status === 'completed' || saved.status === 'failed') {
    if (build.report === undefined && build.settled === undefined) return makeReport(parts, saved)
    throw new ToolError(
      'conflict',
      `This build ${build.settled === undefined ? 'has ended' : `was ${build.settled}`}.`,
      {
        hint: `See: kogu pipeline show ${id}`,
      },
    )
  }
  if (!existsSync(build.root))
    throw new ToolError('not_found', `The copy of this build is gone: ${build.root}`, {
      hint: `kogu pipeline discard ${id}`,
    })
  const git = personGit(environment, runtime.workspace, options.signal)
  // In this mode nobody is asked, whoever is there.
  const isAuto = parts.loaded.config.mode === 'auto'
  const approver = isAuto ? noApprover('the mode is auto') : options.approver
  const ended = await inCopy(parts, build, approver, async there => {
    const settled = await settleSteps(git, requirePipelineRun(pipelineRunsOf(runtime.places), id))
    return workOnPipeline(there, id, {
      ...options,
      ...(approver === undefined ? {} : { approver }),
      retry: [...(options.retry ?? []), ...settled.retry],
      skip: [...(options.skip ?? []), ...settled.skip],
    })
  })
  return ended.status === 'completed' || ended.status === 'failed' ? makeReport(parts, ended) : ended
}

/** Where a build keeps its copy and the state of it. */
function folderOf({ runtime }: Pick<PipelineParts, 'runtime'>, id: string): string {
  return join(runtime.places.builds, id)
}

export function removeCopy(parts: Pick<PipelineParts, 'runtime'>, id: string): void {
  const folder = folderOf(parts, id)
  if (existsSync(folder)) removeFilledFolder(folder)
}

/** Copies that a killed process was making: no run knows them. */
function sweepAbandoned(parts: PipelineParts): void {
  const { places } = parts.runtime
  const runs = pipelineRunsOf(places)
  for (const id of existsSync(places.builds) ? readdirSync(places.builds) : [])
    if (runs.find(id) === undefined && !runs.isLocked(id)) removeCopy(parts, id)
}

/** Everything that working in the copy takes, opened and closed again. */
async function inCopy<T>(
  { loaded, environment, runtime: outer, runs: outerRuns, database }: PipelineParts,
  { root }: SavedBuild,
  approver: Approver | undefined,
  work: (parts: PipelineParts) => Promise<T>,
): Promise<T> {
  const state = join(root, '../state')
  const inside = configOfCopy(loaded, root, environment.home)
  const runtime = await createRuntime({
    ...{ loaded: inside, environment, places: placesForCopy(outer.places, state) },
    approver: approver ?? laterApprover,
  })
  try {
    const runs = await outerRuns.elsewhere({ loaded: inside, runtime })
    try {
      return await work({ loaded: inside, environment, runtime, database, runs })
    } finally {
      await runs.close()
    }
  } finally {
    await runtime.close()
  }
}

/**
 * Steps that were under way when a process was killed. In the copy all of them can be done again, but for the commit: and
 * whether that was made, the branch says.
 */
async function settleSteps(
  git: PersonGit,
  { build, progress }: SavedPipelineRun,
): Promise<{ retry: string[]; skip: string[] }> {
  const begun = Object.entries(progress.steps).flatMap(([id, { status }]) =>
    status === 'running' ? [id] : [],
  )
  if (build === undefined || begun.length === 0) return { retry: [], skip: [] }
  const head = await git.ask(build.root, 'rev-parse', '--verify', '--quiet', `refs/heads/${build.branch}`)
  const isCommitted = head !== null && head !== build.base
  const [skip, retry] = isCommitted && begun.includes('commit') ? [['commit'], begun] : [[], begun]
  return { skip, retry: retry.filter(id => !skip.includes(id)) }
}
