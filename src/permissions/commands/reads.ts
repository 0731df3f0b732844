/** What a reading command reads, as access items that the engine judges. */
import { posix } from 'node:path'
import { isInside } from '../../core/real-path.ts'
import { type Arg, literalArg, seen } from './args.ts'
import { type Call, raise } from './call.ts'
import { goesUpAgain, specialFile } from './destructive-paths.ts'
import type { GitCall } from './programs/git.ts'
import { revisionReads } from './programs/git-content.ts'
import type { ReadItem, Reading } from './programs/special.ts'
import { absolutePaths, addAccess, addGlob, globsIn, type Report, type Scope } from './state.ts'
import type { RepositoryAccess, TreeAccess } from './types.ts'

export function recordReads(call: Call, verdict: Reading, directories: Arg[]): void {
  const scope = inDirectories(call.scope, directories)
  if (verdict.reads.length > 0 || verdict.cwd !== 'no') raise(call, 'safe', '', ['reads-files'])
  for (const item of verdict.reads) recordItem(call, item, scope)
  if (verdict.history !== undefined && verdict.history !== false)
    recordHistory(call, scope, verdict.history === true ? 'all' : verdict.history)
  if (call.program === 'git' && verdict.cwd !== 'no')
    recordRepositories(call, scope, verdict.programs ?? 'nothing')
  if (verdict.cwd === 'no') return
  if (scope.cwds === null) {
    unknownFolder(call)
    return
  }
  for (const path of scope.cwds) {
    addAccess(call.report, { kind: 'file_read', path })
    if (verdict.cwd !== 'folder') recordTree(call, path, verdict.cwd === 'tree-content')
  }
}

function recordRepositories({ report }: Call, scope: Scope, starts: RepositoryAccess['starts']): void {
  for (const path of scope.cwds ?? []) {
    const before = report.repositories.get(path)?.starts ?? 'nothing'
    const most = STARTS.indexOf(starts) > STARTS.indexOf(before) ? starts : before
    report.repositories.set(path, { path, starts: most })
  }
}

const STARTS: readonly RepositoryAccess['starts'][] = ['nothing', 'filters', 'converters', 'anything']

/**
 * What git prints, or takes into the repository, from where anything may print it: files that its words or the values of
 * its options name, and `REV:PATH`. Of a line that does more than read.
 */
export function recordGitReads(call: Call, { subcommand, rest, directories }: GitCall): void {
  const scope = inDirectories(call.scope, directories)
  if (scope.cwds === null) unknownFolder(call)
  recordRepositories(call, scope, 'anything')
  // Their words are addresses and refs on both sides of a colon.
  if (/^(?:push|pull|fetch|clone|remote|submodule|ls-remote)$/.test(subcommand ?? '')) return
  const record = (arg: Arg): void => recordItem(call, { arg, tree: false, content: true }, scope)
  for (const [index, arg] of rest.entries()) {
    const word = seen(arg)
    const before = index === 0 ? '' : seen(rest[index - 1] ?? arg)
    if (/^-\w*m$|^--m/.test(before)) continue
    const joined = /^--[\w-]+=(.+)$/s.exec(word)?.[1] ?? /^-\w*?[FtXSfO](.+)$/s.exec(word)?.[1]
    if (joined !== undefined) record(literalArg(joined))
    if (word.startsWith('-')) continue
    for (const item of revisionReads(arg)) if (item.fromRoot !== undefined) recordItem(call, item, scope)
    const isText = /\s/.test(word) || NAMES_REVISIONS.test(subcommand ?? '')
    if (!isText || /^-\w*[FtXSfO]$|^--[a-z-]+$/.test(before)) record(arg)
  }
}

/** Words of these are branches and commits; a branch may be called as a file that holds secrets. */
const NAMES_REVISIONS =
  /^(?:checkout|switch|branch|tag|merge|rebase|cherry-pick|revert|reset|worktree|bisect|describe|config)$/

function unknownFolder(call: Call): void {
  call.report.unresolved = true
  raise(call, 'unknown', 'The folder in which this runs is not known.')
}

/** `git -C dir`: paths are relative to that folder. From a folder that may be a link, git goes up to another one. */
function inDirectories(scope: Scope, directories: Arg[]): Scope {
  const path = directories.map(seen).reduce((from, to) => (to.startsWith('/') ? to : `${from}/${to}`), '.')
  const isKnown = path.startsWith('/') || scope.cwds !== null
  const isSure = directories.every(({ text }) => text !== null) && !goesUpAgain(path)
  return { ...scope, cwds: isKnown && isSure ? absolutePaths(path, scope) : null }
}

function recordItem(call: Call, item: ReadItem, scope: Scope): void {
  const { arg } = item
  const text = seen(arg)
  if (text === '-' || text === '' || (arg.text === null && arg.glob === null)) return
  if (scope.cwds === null && !text.startsWith('/')) {
    unknownFolder(call)
    return
  }
  if (goesUpAgain(text)) {
    raise(call, 'unknown', `The path \`${arg.raw}\` has ".." after a folder that may be a symlink.`)
  }
  if (arg.glob !== null) {
    recordGlob(call, arg.glob.pattern, scope)
    return
  }
  for (const path of absolutePaths(text, item.fromRoot === true ? withParents(call, scope) : scope)) {
    addAccess(call.report, { kind: 'file_read', path })
    if (item.content) checkSpecial(call, path)
    if (item.tree) recordTree(call, path, item.content)
    if (item.history === true) addHistory(call.report, path, 'below')
  }
}

/** The top of the repository may be the current folder or one above it; beyond the workspace nobody looks for it. */
function withParents(call: Call, scope: Scope): Scope {
  const { workspace } = call.report.context
  const cwds = new Set(scope.cwds ?? [])
  for (const cwd of scope.cwds ?? []) {
    for (let path = cwd; isInside(path, workspace) && path !== workspace; ) {
      path = posix.dirname(path)
      cwds.add(path)
    }
  }
  return { ...scope, cwds: [...cwds] }
}

/** Git shows the whole repository also from a folder inside it. */
function recordHistory(call: Call, scope: Scope, history: 'all' | 'tracked'): void {
  const { workspace } = call.report.context
  for (const path of scope.cwds ?? []) {
    addHistory(call.report, path, history)
    if (isInside(path, workspace)) addHistory(call.report, workspace, history)
  }
}

function addHistory(report: Report, path: string, history: NonNullable<TreeAccess['history']>): void {
  // Beside the tree of the same path, not in its place: files there still have to be hidden.
  report.trees.set(`${history} history ${path}`, { path, content: true, history })
}

function recordGlob(call: Call, pattern: string, scope: Scope): void {
  for (const glob of globsIn(pattern, scope, 'file_read')) {
    const { directory } = glob
    addAccess(call.report, { kind: 'file_read', path: directory })
    addGlob(call.report, glob)
    const rest = glob.pattern.split('/').slice(directory === '/' ? 1 : directory.split('/').length)
    checkSpecial(call, `${directory === '/' ? '' : directory}/${rest.join('/')}`)
    // `/*/self/environ` would reach places that only look harmless.
    if (directory === '/' && rest.length > 1) raise(call, 'caution', 'The pattern begins at the root folder.')
  }
}

function recordTree(call: Call, path: string, content: boolean): void {
  const { report } = call
  const known = report.trees.get(path)
  report.trees.set(path, { path, content: content || known?.content === true })
  if (content && holdsSecrets(path, report)) {
    raise(call, 'caution', `Reading everything below ${path} also reads files that hold secrets.`)
  }
}

function holdsSecrets(path: string, report: Report): boolean {
  const outside = !isInside(path, report.context.workspace)
  return (
    outside &&
    (isInside(report.context.home, path) ||
      /^\/(?:etc|proc|sys|dev|root|var|run|(?:home|Users)\/[^/]+)?$/.test(path))
  )
}

function checkSpecial(call: Call, path: string): void {
  const reason = specialFile(path)
  if (reason !== null) raise(call, 'caution', reason, path.startsWith('/proc') ? ['reads-environment'] : [])
}
