import { hash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import type { CommandPlan, HiddenFiles } from '../../core/command.ts'
import { isInside, lookAt, realPathOf } from '../../core/real-path.ts'
import { hasGitShape } from '../../git/git-folder.ts'
import { isTracked } from '../../git/git-index.ts'
import { repositoryAbove, repositoryAt } from '../../git/repository.ts'
import type { CommandAnalysis, FoundCommand } from '../commands/types.ts'
import { gitHistoryProblem } from '../git/history.ts'
import { compilePaths } from '../rules/patterns.ts'
import type { Rule } from '../rules/rules.ts'
import { analyzePath, hiddenSecrets, isOwnState, type PathContext, SENSITIVE_TO_READ } from './paths.ts'

export interface HidingContext {
  readonly scope: PathContext
  /** Null when a shell runs the line. */
  readonly plan: CommandPlan | null
  /** A shell runs it, and nobody approved it. */
  readonly contained: boolean
  /** Real paths that the line names and that were judged. */
  readonly named: readonly string[]
  /** The line was asked about because not all that it reads could be checked. */
  readonly reviewed: boolean
  mayRead(realPath: string): boolean
  /** Undefined when no rule forbids reading anything. */
  readonly deniesReading: ((realPath: string) => boolean) | undefined
  /** What rules forbid to read outside the workspace. */
  readonly deniedRoots: readonly string[]
  readonly mayHide: HiddenFiles['mayHide']
}

/**
 * What must not be there while a command runs. From all of them: fixed places of secrets, unless they were approved by
 * name, and what rules deny. From lines that run unasked also everything that would have been asked about, and outside the
 * workspace all that they do not name: programs read more than their words say, and no list of such programs would ever
 * be complete.
 */
export function hiddenFiles(analysis: CommandAnalysis, context: HidingContext): HiddenFiles {
  const { named, deniedRoots, mayHide, scope } = context
  const isDenied = context.deniesReading ?? (() => false)
  const unasked = context.contained || (context.plan !== null && !context.reviewed)
  const isOpen = !unasked || (!context.contained && opensNothing(analysis, scope))
  const shown = isOpen ? null : context.contained ? namedFiles(context) : shownTo(analysis, context)
  const searched = shown === null ? [] : outermost([scope.workspace, ...shown, ...SYSTEM_SETTINGS])
  return {
    // Only their own name opens them: `ls /` names a folder above them, and not what is in it.
    places: () => [
      ...deniedRoots,
      ...hiddenSecrets(scope).filter(secret => !named.some(path => isInside(path, secret))),
    ],
    searched: unasked ? searched : deniedIn(context),
    hides: unasked ? path => isDenied(path) || isClosed(path, analysis, { ...context, searched }) : isDenied,
    mayHide,
    shown,
  }
}

/** Of what every line sees of the system, keys lie in these. */
const SYSTEM_SETTINGS = ['/etc', '/usr/local/etc']
/** Asked about when a tool reads it, but hardly a program works without. */
const NEEDED_BY_ALL = '/etc/passwd'

function deniedIn({ scope: { workspace }, deniesReading }: HidingContext): string[] {
  return deniesReading === undefined ? [] : [workspace]
}

/**
 * Single files that the line names outside the workspace: what else a folder or a repository holds was not judged. And the
 * repository that the workspace is a working tree of, whose files were (`gitHistoryProblem`).
 */
function namedFiles({ named, scope }: HidingContext): string[] {
  const own = repositoryAt(scope.workspace)
  const ofGit =
    own === undefined || own.foreign !== undefined ? [] : [own.repository, own.shared ?? own.repository]
  const files = named.filter(path => lookAt(path)?.isFile() === true)
  return outermost([...files, ...ofGit]).filter(path => !isInside(path, scope.workspace))
}

/** Objects are no files that could be hidden one by one: those of a repository with secrets in it go as a whole. */
function isClosedHistory(path: string, { mayHide, mayRead, scope: { workspace } }: HidingContext): boolean {
  const repository = dirname(path)
  if (!isStore(path)) return false
  const own = repositoryAt(workspace)
  // Submodules are judged with the repository that has them.
  const isOwn = [own?.repository, own?.shared].some(each => each !== undefined && isInside(repository, each))
  // Without a working tree, nobody can tell what is in it.
  if (!isOwn && basename(repository) !== '.git') return true
  const closed = { mayBe: mayHide, is: (each: string) => !mayRead(each) }
  return gitHistoryProblem(isOwn ? workspace : dirname(repository), closed) !== undefined
}

function isStore(path: string): boolean {
  return basename(path) === 'objects' && hasGitShape(name => lookAt(join(dirname(path), name)) !== undefined)
}

/** What the line names outside the workspace, and the repositories in which its git commands work. */
function shownTo({ trees, repositories }: CommandAnalysis, { named, scope }: HidingContext): string[] {
  const found = repositories.flatMap(({ path }) => repositoryAbove(path) ?? [])
  const ofGit = found
    .filter(({ foreign }) => foreign === undefined)
    .flatMap(({ root, repository, shared }) => [root, repository, shared ?? root])
  const folders = trees.map(({ path }) => realPathOf(path))
  return outermost([...named, ...folders, ...ofGit]).filter(
    path => path !== '/' && !isInside(path, scope.workspace),
  )
}

function outermost(paths: readonly string[]): string[] {
  const all = [...new Set(paths)]
  return all.filter(path => !all.some(other => other !== path && isInside(path, other)))
}

/**
 * No program of the line opens a file: to look through a large workspace before every `ls` would make people wait for
 * nothing. Not when it lists whole trees outside, where Kogu's state of other workspaces may lie.
 */
function opensNothing({ commands, trees }: CommandAnalysis, { workspace }: PathContext): boolean {
  return (
    commands.every(each => opensNoFile(each) || readsItsInput(each)) &&
    trees.every(({ path, content }) => !content && isInside(realPathOf(path), workspace))
  )
}

const OPENS_NOTHING = /^(pwd|echo|printf|true|false|test|\[|seq|whoami|id|uname|basename|dirname|ls)$/

function opensNoFile({ program }: FoundCommand): boolean {
  return OPENS_NOTHING.test(program ?? '')
}

// Programs at the end of a pipe, with options and one pattern at most.
const FILTERS = /^(head|tail|wc|sort|uniq|cut|tr|nl|cat|[ef]?grep)$/

function readsItsInput({ program, argv }: FoundCommand): boolean {
  if (!FILTERS.test(program ?? '')) return false
  const words = argv.slice(1).map(({ text }) => text ?? '/')
  const operands = words.filter(word => !/^-\w+$/.test(word))
  return (
    operands.length <= (/grep$/.test(program ?? '') ? 1 : 0) &&
    !words.some(word => /\/|^-\w*[frR]/.test(word))
  )
}

// They compare the working tree with what git knows, and print nothing of it.
const COMPARES =
  /^(status|ls-files|describe|rev-parse|branch|tag|remote|log|shortlog|rev-list|diff|diff-files|diff-index|stash)$/

function comparesOnly({ program, argv }: FoundCommand): boolean {
  const words = argv.map(({ text }) => text ?? '--no-index')
  return program === 'git' && COMPARES.test(words[1] ?? '') && !words.some(word => word.startsWith('--no-in'))
}

function isClosed(
  path: string,
  { commands, trees }: CommandAnalysis,
  context: HidingContext & Pick<HiddenFiles, 'searched'>,
): boolean {
  const { named, mayRead, contained, searched } = context
  // Beside those folders, a contained line sees packages that the person installed.
  const isInstalled = contained && !searched.some(folder => isInside(path, folder))
  if (contained && !isInstalled && isClosedHistory(path, context)) return true
  // `grep -ra . .` reads every version of every file, without its name; only git makes any use of them.
  const usesGit = commands.some(({ program }) => program === 'git')
  if (!contained && !usesGit && trees.some(({ content }) => content) && isStore(path)) return true
  if (path === NEEDED_BY_ALL || mayRead(path) || (isInstalled && isPublicCode(path))) return false
  // Named and allowed: the file itself, the way to it, and what is in a folder that was asked about.
  if (named.some(name => isInside(name, path) || (isInside(path, name) && !mayRead(name)))) return false
  // Git would take a tracked file that is not there for changed. It prints nothing of it: lines that could are asked about.
  if (contained) return true
  const onlyCompares = commands.every(each => comparesOnly(each) || opensNoFile(each) || readsItsInput(each))
  return !(onlyCompares && usesGit && isTracked(path))
}

// What comes with every Python, with packages of Rust, Go, Ruby and Node, and certificates of public authorities.
const PYTHON_TESTS = /\/lib\/python\d[\d.]*\/test\//
const PACKAGES =
  /\/(lib\/python\d[\d.]*|(site|dist)-packages|node_modules|pkg\/mod|registry\/src|git\/checkouts|gems)\//
const CODE = /\.(py[cdioxw]?|so|[mc]?js|rb|php|pl|pm|lua|exs?|erl|beam)$|\/(cacert|roots)\.pem$/

/** Python's own `secrets.py`, for example: without it, hardly a program starts. */
function isPublicCode(path: string): boolean {
  if (PYTHON_TESTS.test(path)) return true
  return PACKAGES.test(path) && (CODE.test(path) || isNamedFolder(path))
}

/** A package may have a part that is called `credentials`. */
function isNamedFolder(path: string): boolean {
  return /\/(secrets|credentials)[\w-]*$/.test(path) && lookAt(path)?.isDirectory() === true
}

/** Everything that may ever be hidden in this workspace, whoever calls and in whatever mode. */
export function hidingCandidates(rules: readonly Rule[], scope: PathContext): HiddenFiles['mayHide'] {
  const strict = rules.filter(({ decision }) => decision !== 'allow')
  const patterns = strict.flatMap(({ definition }) => definition.path ?? [])
  const matcher = patterns.length === 0 ? undefined : compilePaths(patterns, scope, 'folded')
  const mayHide = (path: string): boolean =>
    analyzePath(path, scope).sensitivity >= SENSITIVE_TO_READ ||
    isOwnState(path, scope) ||
    basename(path) === 'objects' ||
    matcher?.covers(path) === true
  return Object.assign(mayHide, { rules: hash('sha256', JSON.stringify(strict)) })
}
