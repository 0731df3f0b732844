import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../config/environment.ts'
import { ToolError, toToolError } from '../../core/errors.ts'
import { toLine } from '../../core/visible.ts'
import type { Runtime } from '../../runtime.ts'
import { pipelineRunsOf, type SavedBuild, type SavedPipelineRun } from '../../store/pipeline-runs.ts'
import { requirePipelineRun } from '../pipelines.ts'
import { removeCopy } from './build.ts'
import { type PersonGit, personGit } from './person-git.ts'

// What a person does with a build that has ended: takes its branch, or throws it away. Both are commands of the person on the
// person's own repository; no agent can give them.

interface Parts {
  readonly environment: Environment
  readonly runtime: Runtime
}

export interface Accepted {
  readonly run: SavedPipelineRun
  readonly how: 'fast-forward' | 'merge'
  readonly commit: string
}

/** Merges the branch into what is checked out. Where that cannot be done cleanly, nothing is changed. */
export async function acceptBuild(
  parts: Parts,
  id: string,
  { despiteSensitive }: { readonly despiteSensitive: boolean },
): Promise<Accepted> {
  return locked(parts, id, async (run, build, git) => {
    const { repository, branch, report } = build
    if (report === undefined)
      throw new ToolError('conflict', 'This build has not ended.', { hint: `kogu pipeline resume ${id}` })
    if (report.commit === null)
      throw new ToolError(
        'conflict',
        'This build failed and committed nothing, so there is nothing to accept.',
        {
          hint: `See: kogu pipeline show ${id}`,
        },
      )
    await requireOwnBranch(git, build, report.commit)
    await requireClean(git, repository)
    await requireFree(git, build)
    await requirePlain(parts.runtime, build, despiteSensitive)
    const how = await merge(git, build, `Merge the build ${id}: ${toLine(String(run.input.goal ?? ''), 60)}`)
    const commit = (await git.run(repository, 'rev-parse', 'HEAD')).trim()
    await git.run(repository, 'branch', '-D', '--quiet', branch)
    return { run: settle(parts, run, build, 'accepted'), how, commit }
  })
}

/** Removes the copy and the branch, also of a build that has not ended. */
export async function discardBuild(parts: Parts, id: string): Promise<SavedPipelineRun> {
  return locked(parts, id, async (run, build, git) => {
    const { repository, branch } = build
    const there = await git.ask(repository, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)
    if (there !== null) {
      await requireOwnBranch(git, build, build.report?.commit ?? there)
      await git.run(repository, 'branch', '-D', '--quiet', branch)
    }
    for (const each of [id, ...run.runs]) await parts.runtime.withdrawQuestions(each)
    return settle(parts, run, build, 'discarded')
  })
}

async function locked<T>(
  { environment, runtime }: Parts,
  id: string,
  work: (run: SavedPipelineRun, build: SavedBuild, git: PersonGit) => Promise<T>,
): Promise<T> {
  const runs = pipelineRunsOf(runtime.places)
  requirePipelineRun(runs, id)
  const lock = runs.lock(id)
  if (lock === undefined) throw new ToolError('conflict', 'Another Kogu is working on this run.')
  try {
    const run = requirePipelineRun(runs, id)
    const { build } = run
    if (build === undefined)
      throw new ToolError('invalid_input', `${id} is not a build: it worked on the workspace itself.`, {
        hint: `To take back what it changed: kogu undo --run ${id}`,
      })
    if (build.settled !== undefined) throw new ToolError('conflict', `This build was ${build.settled}.`)
    return await work(run, build, personGit(environment, runtime.workspace))
  } finally {
    lock.release()
  }
}

function settle(
  parts: Parts,
  run: SavedPipelineRun,
  build: SavedBuild,
  settled: NonNullable<SavedBuild['settled']>,
): SavedPipelineRun {
  const status = run.status === 'completed' ? run.status : 'failed'
  const kept: SavedPipelineRun = { ...run, status, build: { ...build, settled } }
  pipelineRunsOf(parts.runtime.places).save(kept)
  parts.runtime.note(`build-${settled}`, { run: run.id, branch: build.branch })
  removeCopy(parts, run.id)
  return kept
}

/** Somebody may have gone on with the branch; that work is not the build's to merge or to delete. */
async function requireOwnBranch(
  git: PersonGit,
  { repository, branch }: SavedBuild,
  commit: string,
): Promise<void> {
  const ref = `refs/heads/${branch}`
  const where = await git.ask(repository, 'for-each-ref', '--format=%(worktreepath)', ref)
  if (where !== null && where !== '')
    throw new ToolError('conflict', `The branch ${branch} is checked out in ${toLine(where)}.`, {
      hint: 'Switch to your own branch there, then try again.',
    })
  const now = await git.ask(repository, 'rev-parse', '--verify', '--quiet', ref)
  if (now === commit) return
  throw new ToolError(
    'conflict',
    now === null ? `The branch ${branch} is gone.` : `The branch ${branch} has changed since the build.`,
    { hint: `Merge it or delete it with git; then: kogu pipeline discard ID` },
  )
}

async function requireClean(git: PersonGit, repository: string): Promise<void> {
  const text = await git.run(
    repository,
    'status',
    '--porcelain',
    '-z',
    '--untracked-files=no',
    '--ignore-submodules=dirty',
  )
  const changed = text.split('\0').filter(entry => /^.. ./.test(entry))
  if (changed.length === 0) return
  const names = changed.slice(0, 5).map(entry => toLine(entry.slice(3)))
  throw new ToolError('conflict', `There are uncommitted changes: ${names.join(', ')}. Nothing was merged.`, {
    hint: 'Commit them or put them aside, then try again.',
  })
}

/** What git does not track is in no commit, and a merge writes over what it ignores: it would be lost. */
async function requireFree(git: PersonGit, { repository, branch }: SavedBuild): Promise<void> {
  const tracked = new Set((await git.run(repository, 'ls-files', '-z')).split('\0'))
  // Against what is checked out now: that may lack what the build began with.
  const range = `HEAD...refs/heads/${branch}`
  const names = await git.run(
    repository,
    'diff',
    '--name-only',
    '--no-renames',
    '--no-ext-diff',
    '-z',
    range,
    '--',
  )
  const written = names.split('\0').filter(path => path !== '')
  const inTheWay = written.flatMap(path =>
    prefixesOf(path).filter(each => {
      const stat = lstatSync(join(repository, each), { throwIfNoEntry: false })
      return stat !== undefined && !tracked.has(each) && (each === path || !stat.isDirectory())
    }),
  )
  if (inTheWay.length === 0) return
  const shown = inTheWay.slice(0, 5).map(name => toLine(name))
  throw new ToolError(
    'conflict',
    `Files that git does not track are in the way: ${shown.join(', ')}. Nothing was merged.`,
    { hint: 'Move them away, then try again.' },
  )
}

/** `a/b/c`: a, a/b and a/b/c. */
function prefixesOf(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/**
 * The copy has no settings of git, so a file there may be an ordinary one that in the person's repository is a hook. What the
 * rules of the workspace refuse to write is not merged either; of what is sensitive the person is told first.
 */
async function requirePlain(runtime: Runtime, build: SavedBuild, despiteSensitive: boolean): Promise<void> {
  const sensitive: string[] = []
  for (const { path } of build.report?.files ?? []) {
    // Appending, because replacing what nobody has read would be asked about first.
    const input = { path: join(build.repository, path), content: '', mode: 'append' }
    const found = await runtime
      .explain({ tool: 'write_file', input })
      .catch(
        error =>
          ({ decision: 'deny', hard: true, reasons: [toToolError(error).message], ref: null }) as const,
      )
    const { hard, ref } = found
    if (found.decision === 'deny' && (hard || ref?.source !== 'built-in'))
      throw new ToolError('denied', `${toLine(path)}: ${found.reasons[0] ?? 'a rule refuses it'}`, {
        hint: `Nothing was merged. To take it all the same, as your own doing: git merge ${build.branch}`,
      })
    // Without questions, or where the default is deny, what would ask for any reason is looked at.
    if (ref?.id === 'sensitive' || found.decision === 'deny') sensitive.push(toLine(path))
  }
  if (sensitive.length === 0 || despiteSensitive) return
  throw new ToolError('needs_approval', `The build changes sensitive files: ${sensitive.join(', ')}.`, {
    hint: `Look at them (git diff ${build.base.slice(0, 10)} ${build.branch}), then add --yes.`,
  })
}

/** Whatever `branch.NAME.mergeOptions` says: without a commit the branch would be deleted unmerged. */
const AS_COMMIT = ['--quiet', '--no-squash', '--commit']

async function merge(
  git: PersonGit,
  { repository, branch }: SavedBuild,
  message: string,
): Promise<Accepted['how']> {
  const ref = `refs/heads/${branch}`
  const refusal = (why: string): ToolError =>
    new ToolError('conflict', `The branch ${branch} cannot be merged: ${why.trim()}\nNothing was changed.`, {
      hint: `Merge it by hand: git merge ${branch}`,
    })
  if ((await git.try(repository, 'merge-base', '--is-ancestor', 'HEAD', ref)).ok) {
    const done = await git.try(repository, 'merge', ...AS_COMMIT, '--ff-only', '--no-overwrite-ignore', ref)
    if (!done.ok) throw refusal(done.stderr)
    return 'fast-forward'
  }
  // In memory first, so that a conflict never reaches the files.
  const tried = await git.try(
    repository,
    'merge-tree',
    '--write-tree',
    '--name-only',
    '--no-messages',
    'HEAD',
    ref,
  )
  if (!tried.ok) {
    const names = tried.stdout
      .trim()
      .split('\n')
      .slice(1)
      .map(name => toLine(name))
    throw refusal(names.length === 0 ? tried.stderr : `both sides changed ${names.join(', ')}.`)
  }
  const done = await git.try(repository, 'merge', ...AS_COMMIT, '--no-ff', '--no-edit', '-m', message, ref)
  if (done.ok) return 'merge'
  await git.try(repository, 'merge', '--abort')
  throw refusal(done.stderr)
}
