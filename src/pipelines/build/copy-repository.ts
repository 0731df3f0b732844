import { constants, cpSync, existsSync, lstatSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import { makeFolders } from '../../core/make-folders.ts'
import type { PersonGit } from './person-git.ts'

/** What a build begins with: the person's repository at its last commit. */
export interface Begin {
  readonly repository: string
  readonly base: string
  /** Files that differ from it; they are no part of the build. */
  readonly changed: number
}

export async function findBegin(git: PersonGit, workspace: string): Promise<Begin> {
  const top = await git.ask(workspace, 'rev-parse', '--show-toplevel')
  if (top === null)
    throw new ToolError('invalid_input', `${workspace} is not in a git repository, which a build needs.`, {
      hint: 'Make one: git init && git add . && git commit -m "First"',
    })
  const repository = realpathSync(top)
  // Rules are meant from the workspace on, and the copy is of the whole repository.
  if (repository !== workspace)
    throw new ToolError('invalid_input', `${workspace} is only a part of the repository ${repository}.`, {
      hint: `Build from the whole of it: --cwd ${repository}`,
    })
  const base = await git.ask(repository, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}')
  if (base === null)
    throw new ToolError('invalid_input', 'The repository has no commit, so there is nothing to build on.', {
      hint: 'Make one: git add . && git commit -m "First"',
    })
  const status = (await git.ask(repository, 'status', '--porcelain', '-z', '--ignore-submodules=dirty')) ?? ''
  return { repository, base, changed: status.split('\0').filter(entry => /^.. ./.test(entry)).length }
}

/**
 * A repository of its own with the same history, on a branch of its own: no hooks, no remote, no settings but a name for
 * the commits. Nothing in it is shared with the person's repository, not even an object.
 */
export async function copyRepository(
  git: PersonGit,
  { repository, base }: Begin,
  { root, branch }: { readonly root: string; readonly branch: string },
): Promise<void> {
  makeFolders(dirname(root))
  await git.run(
    dirname(root),
    ...['clone', '--quiet', '--no-hardlinks', '--no-checkout', '--template=', '--no-recurse-submodules'],
    // Of a repository that borrows objects from another one, the copy would borrow them too.
    ...['--dissociate', '--', repository, root],
  )
  for (const remote of (await git.run(root, 'remote')).split('\n').filter(name => name !== ''))
    await git.run(root, 'remote', 'remove', remote)
  for (const [key, fallback] of IDENTITY) {
    const value = (await git.ask(repository, 'config', '--get', key)) ?? fallback
    await git.run(root, 'config', key, value)
  }
  await git.run(root, 'config', 'commit.gpgSign', 'false')
  makeFolders(join(root, '.git/info'))
  writeFileSync(join(root, '.git/info/exclude'), LEFT_OUT.map(name => `${name}\n`).join(''))
  await git.run(root, 'checkout', '--quiet', '-b', branch, base)
}

/** Who commits: the person, as the repository knows them. */
const IDENTITY = [
  ['user.name', 'Kogu'],
  ['user.email', 'kogu@localhost'],
] as const

/** What is installed, not written: git ignores it, and the checks need it. */
const DEPENDENCIES = new Set(['node_modules', '.venv', 'venv', 'vendor', '.bundle', 'Pods', 'elm-stuff'])

/** Never committed by a build, whatever the repository's own ignore files say. `.kogu` holds its pipeline. */
const LEFT_OUT = [
  '/.kogu',
  ...DEPENDENCIES,
  ...['__pycache__', '*.pyc', '.pytest_cache', '.mypy_cache', '.ruff_cache', '.coverage', '.cache'],
]

/**
 * Gives the copy what the person has installed, as copies too: a contained check sees nothing outside of the copy, and may
 * write its caches into it. Where the file system can, they share their content until one of them changes.
 */
export async function bringDependencies(git: PersonGit, repository: string, root: string): Promise<void> {
  const list = async (...more: string[]): Promise<string[]> =>
    ((await git.ask(repository, 'ls-files', '--others', '--directory', '-z', ...more)) ?? '').split('\0')
  const found = new Set([...(await list()), ...(await list('--ignored', '--exclude-standard'))])
  const names = [...found]
    .map(name => name.replace(/\/$/, ''))
    .filter(name => DEPENDENCIES.has(basename(name)))
  for (const name of names.toSorted()) {
    const target = join(root, name)
    const source = folderAt(join(repository, name))
    // The commit may have a link where the person has a folder: nothing is written through it.
    const isOwn = folderAt(dirname(target)) === dirname(join(realpathSync(root), name))
    if (source !== undefined && isOwn && !existsSync(target)) copyFolder(source, target)
  }
}

function folderAt(path: string): string | undefined {
  try {
    const real = realpathSync(path)
    return lstatSync(real).isDirectory() ? real : undefined
  } catch {
    // A link that leads nowhere.
    return undefined
  }
}

const copyFolder = (source: string, target: string): void =>
  cpSync(source, target, {
    ...{
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      mode: constants.COPYFILE_FICLONE,
    },
    // A socket or a pipe is nothing that was installed.
    filter: path => isCopied(path),
  })

function isCopied(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat !== undefined && (stat.isFile() || stat.isDirectory() || stat.isSymbolicLink())
}
