import { toLine } from '../../core/visible.ts'
import { pipelineRunsOf, type SavedBuild, type SavedPipelineRun } from '../../store/pipeline-runs.ts'
import { listCallsOfRun } from '../../store/tables/tool-executions.ts'
import { findRun } from '../../store/tables/workflow-runs.ts'
import type { PipelineParts } from '../pipelines.ts'
import { type PersonGit, personGit } from './person-git.ts'

export type BuildReport = NonNullable<SavedBuild['report']>

/**
 * The end of a build: its branch is fetched into the person's repository, where it changes neither files nor index nor
 * HEAD, and what became of it is written down. Done again after a crash, it finds that the branch is there.
 */
export async function makeReport(parts: PipelineParts, ended: SavedPipelineRun): Promise<SavedPipelineRun> {
  const { build } = ended
  if (build === undefined) return ended
  // Checks that were refused lead to no further step: without a commit nothing is completed.
  const run = isDone(ended, 'commit') ? ended : { ...ended, status: 'failed' as const }
  const git = personGit(parts.environment, parts.runtime.workspace)
  const commit = run.status === 'completed' ? await bringBranch(git, build) : null
  const report: BuildReport = {
    commit,
    files: commit === null ? [] : await filesOf(git, build),
    checks: checksOf(run),
    rounds: (run.progress.loops['recheck>fix'] ?? 0) + (isDone(run, 'fix') ? 1 : 0),
    ...(await spentBy(parts, run)),
  }
  const told = { ...run, build: { ...build, report } }
  pipelineRunsOf(parts.runtime.places).save(told)
  const { branch, base } = build
  parts.runtime.note('build-ended', { run: run.id, status: run.status, branch, base, commit })
  return told
}

/** Only what is new is taken, each object checked; a branch of that name that says something else is not replaced. */
async function bringBranch(git: PersonGit, { repository, root, branch }: SavedBuild): Promise<string> {
  const ref = `refs/heads/${branch}`
  await git.run(
    repository,
    ...['-c', 'fetch.fsckObjects=true', '-c', 'protocol.file.allow=always', 'fetch', '--quiet'],
    ...['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', root, `${ref}:${ref}`],
  )
  return (await git.run(repository, 'rev-parse', '--verify', ref)).trim()
}

async function filesOf(
  git: PersonGit,
  { repository, base, branch }: SavedBuild,
): Promise<BuildReport['files']> {
  const range = `${base}..refs/heads/${branch}`
  const text = await git.run(
    repository,
    'diff',
    '--numstat',
    '--no-renames',
    '--no-ext-diff',
    '-z',
    range,
    '--',
  )
  return text.split('\0').flatMap(line => {
    const [, added, deleted, path] = /^(\d+|-)\t(\d+|-)\t(.+)$/s.exec(line) ?? []
    return path === undefined ? [] : [{ path, added: Number(added) || 0, deleted: Number(deleted) || 0 }]
  })
}

function isDone({ progress }: SavedPipelineRun, step: string): boolean {
  return progress.steps[step]?.status === 'done'
}

/** Of the last check that ran: with what failed, or its first lines. */
function checksOf({ progress }: SavedPipelineRun): string {
  const said = [progress.steps.recheck, progress.steps.check].find(step => step?.status === 'done')
  return said?.status === 'done' ? said.text.slice(0, MOST_CHECKS) : ''
}

const MOST_CHECKS = 20_000
const MOST_REASON = 1_000
const REFUSED = new Set(['denied', 'forbidden', 'expired', 'not_enabled', 'needs_approval'])

async function spentBy(
  { database }: PipelineParts,
  { runs }: SavedPipelineRun,
): Promise<Pick<BuildReport, 'refused' | 'calls' | 'tokens' | 'costUsd'>> {
  const found = (await Promise.all(runs.map(id => findRun(database, id)))).filter(run => run !== undefined)
  const calls = (await Promise.all(runs.map(id => listCallsOfRun(database, id)))).flat()
  const add = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
  const costs = found.map(({ costUsd }) => costUsd)
  return {
    refused: calls.flatMap(({ tool, errorCode, output }) =>
      REFUSED.has(errorCode ?? '') ? [{ tool, reason: (output ?? '').slice(0, MOST_REASON) }] : [],
    ),
    calls: add(found.map(run => run.calls)),
    tokens: add(found.map(run => run.tokens)),
    costUsd: costs.includes(null) ? null : add(costs.map(cost => cost ?? 0)),
  }
}

/** What was asked, changed, checked, refused and spent, as lines. */
export function describeReport({ id, status, input, build }: SavedPipelineRun): string[] {
  const report = build?.report
  if (build === undefined || report === undefined) return []
  const { commit, files, checks, rounds, refused, calls, tokens, costUsd } = report
  const cost = costUsd === null ? 'cost unknown' : `$${costUsd.toFixed(4)}`
  const next =
    build.settled !== undefined
      ? [`${build.settled}`]
      : commit === null
        ? [
            `nothing was committed; the files are in ${toLine(build.root)}`,
            `to remove them: kogu pipeline discard ${id}`,
          ]
        : [`to take it: kogu pipeline accept ${id}`, `to throw it away: kogu pipeline discard ${id}`]
  return [
    `asked    ${toLine(String(input.goal ?? ''), 200)}`,
    `result   ${status}${commit === null ? '' : `, branch ${build.branch} at ${commit.slice(0, 10)}`}`,
    ...files.map(({ path, added, deleted }) => `changed  ${toLine(path)}  +${added} -${deleted}`),
    ...headsOf(checks).map(line => `checked  ${toLine(line, 200)}`),
    `rounds   ${rounds}`,
    ...refused.map(({ tool, reason }) => `refused  ${toLine(tool)}: ${toLine(reason, 200)}`),
    `spent    ${calls} calls  ${tokens} tokens  ${cost}`,
    ...next.map(line => `next     ${line}`),
  ]
}

/**
 * The lines that say how each check ended; where there was none, those that say so. That nothing was tested is always said:
 * an agent may have taken the tests away.
 */
export function headsOf(checks: string): string[] {
  const heads = checks.split('\n').filter(line => HEAD.test(line))
  const isSkipped = (line: string): boolean => line.includes(': skipped')
  if (heads.every(isSkipped)) return heads
  return heads.filter(line => !isSkipped(line) || line.startsWith('test:'))
}

const HEAD = /^(build|lint|type_check|test): (passed|failed|skipped|could not run)/
