import { isAbsolute, relative, resolve } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import type { GitReader } from './run-git.ts'

/**
 * A revision as its hash. Only words that can name a commit get as far as git, which is told that no options follow;
 * `branch:file` would print the file.
 */
export async function resolveRevision(git: GitReader, revision: string): Promise<string> {
  checkRevision(revision)
  const hash = await git.tryRead([
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${revision}^{commit}`,
  ])
  if (hash === null) throw new ToolError('not_found', `'${revision}' is not a commit, branch or tag.`)
  return hash.trim()
}

export function checkRevision(revision: string): void {
  const isName = /^(?!-)[\w./@{}~^+-]{1,250}$/u.test(revision) && !revision.includes('..')
  if (!isName) throw new ToolError('invalid_input', `'${revision}' is not a valid revision.`)
}

/** By the rules of `git check-ref-format`, and nothing that git would take for something else than a branch. */
export function checkBranchName(name: string): void {
  const isName =
    /^[^\s~^:?*[\\\p{Cc}\p{Cf}]{1,200}$/u.test(name) &&
    !/^-|^@$|^HEAD$|^refs\/|\.\.|@\{|\/\/|^\/|\/$|(^|\/)\.|\.lock(\/|$)|\.$/.test(name)
  if (!isName) throw new ToolError('invalid_input', `'${name}' is not a valid branch name.`)
}

/** A path as git knows it: relative to the root of the repository. */
export function toRepositoryPath(path: string, cwd: string, root: string): string {
  if (path === '' || path.includes('\0'))
    throw new ToolError('invalid_input', 'A path cannot be empty or contain a NUL character.')
  const inside = relative(root, resolve(cwd, path))
  if (inside.startsWith('..') || isAbsolute(inside)) {
    throw new ToolError('invalid_input', `'${path}' is outside the repository.`)
  }
  return inside === '' ? '.' : inside
}
