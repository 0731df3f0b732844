import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Access } from '../core/access.ts'
import type { JudgeRequest } from '../core/decision.ts'
import { absolutePath, type ResolvePath, realPathOf, resolvePath } from '../core/real-path.ts'
import type { Run } from '../core/run.ts'
import { trackedFiles } from '../git/git-index.ts'
import { repositoryOfObject } from '../git/git-objects.ts'
import { dangersOf } from '../git/git-settings.ts'
import { repositoryAbove } from '../git/repository.ts'
import { resolvePlan } from './command-permit.ts'
import type { CommandAnalysis, FoundCommand, GlobAccess, RepositoryAccess } from './commands/types.ts'
import { type Closed, gitHistoryProblem, holdsStore, namelessObject } from './git/history.ts'
import { analyzeUrl, type UrlFacts } from './network/network.ts'
import { analyzeChange } from './paths/guarded-files.ts'
import { analyzePath, type PathContext, type PathFacts } from './paths/paths.ts'
import { expandGlob, isFolder } from './rules/globs.ts'

/**
 * One thing that is judged. A call is a list of them: the tool itself, and everything it touches. `derived` items were
 * found inside a command line; they can make it stricter, but what allows the line allows them.
 */
export type Item =
  | { kind: 'tool'; derived: false }
  | FileItem
  | { kind: 'network'; url: string; method: string; facts: UrlFacts | undefined; derived: boolean }
  | ExecuteItem
  | { kind: 'custom'; name: string; details: string; paths?: readonly string[]; derived: false }

export interface ExecuteItem {
  kind: 'execute'
  command: string
  /** Real path. */
  cwd: string
  programs?: (Access & { kind: 'execute' })['programs']
  analysis: CommandAnalysis
  /** What the line reads, writes and deletes, as far as its words say. */
  files: readonly FileItem[]
  derived: false
}

export interface FileItem {
  kind: 'file_read' | 'file_write' | 'file_delete'
  /** As the tool or the command named it, absolute. */
  path: string
  /** What it leads to now, every link resolved. */
  real: string
  facts: PathFacts
  derived: boolean
}

export type AnalyzeCommand = (line: string, cwd: string) => CommandAnalysis

/** Everything a call touches, with `execute` expanded into what the line reads, writes and contacts. */
export function expandItems(
  request: JudgeRequest,
  context: PathContext,
  analyze: AnalyzeCommand,
  noSandbox: () => NoSandbox | null,
  closed: Closed,
): Item[] {
  const items: Item[] = [{ kind: 'tool', derived: false }]
  for (const access of request.access) {
    if (access.kind !== 'execute') {
      items.push(toItem(access, request.cwd, context, false, request.resolvePath))
      continue
    }
    // The kernel goes up from where a link leads, words go up from where it lies.
    const cwd = realPathOf(absolutePath(access.cwd ?? '.', request.cwd))
    const analysis = analyze(access.command, cwd)
    const readsOnly = analysis.plan !== null && resolvePlan(analysis.plan, cwd) !== null
    const touched = [
      ...analysis.access.map(found => toItem(found, cwd, context, true)),
      ...analysis.globs.flatMap(glob => globItems(glob, context)),
    ]
    const files = touched.filter(isFile)
    items.push({ ...access, cwd, analysis, files, derived: false }, ...touched)
    if (analysis.unread) items.push(UNREAD)
    if (analysis.plan !== null && !readsOnly) items.push(UNSURE)
    if (!readsOnly && request.run.variables.size > 0) items.push(variablesItem(request.run))
    items.push(...unwalledItems(analysis, readsOnly, noSandbox()), ...pushItems(analysis))
    if (analysis.plan !== null) items.push(...unaskedItems(analysis, files, closed))
    // Not only where it reads: what allows `git add` says nothing of the repositories it works in.
    items.push(...repositoryItems(analysis))
  }
  return items
}

/** Its commits are on another machine then, where nothing can be taken back. */
function pushItems({ commands }: CommandAnalysis): Item[] {
  const isPush = ({ program, effects }: FoundCommand): boolean =>
    program !== null && isGit(program) && (effects.includes('publishes') || /git-(push|send-)/.test(program))
  if (!commands.some(isPush)) return []
  return [customItem('git sends commits to another machine.', GIT_PUSH)]
}

/** Also by its parts, which are programs of their own: `git-push`, `/usr/lib/git-core/git-receive-pack`. */
export function isGit(program: string): boolean {
  return /(^|\/)git(-[\w-]+)?$/.test(program)
}

/** What a line that only reads does beyond what its words name. */
function unaskedItems(analysis: CommandAnalysis, files: readonly FileItem[], closed: Closed): Item[] {
  const wholeMachine = analysis.trees.some(
    tree => tree.history === undefined && realPathOf(tree.path) === '/',
  )
  const details = 'The command searches the whole machine, which is too much to check.'
  return [...(wholeMachine ? [customItem(details)] : []), ...historyItems(analysis, files, closed)]
}

/** Not all that it reads could be checked, so it is asked about; behind walls that show nothing of it, it may run. */
export const UNCHECKED_FILES = 'unchecked-files'

function customItem(details: string, name = UNCHECKED_FILES): Item {
  return { kind: 'custom', name, details, derived: false }
}

export function isFile(item: Item): item is FileItem {
  return item.kind === 'file_read' || item.kind === 'file_write' || item.kind === 'file_delete'
}

const UNSURE = customItem(
  'The folder that the command changes to cannot be resolved, so its files cannot be checked.',
)

/** Not all commands of a line are known, so that no rule can speak of them. */
export const UNREAD_LINE = 'unread-line'

const UNREAD = customItem('it is too long, too deeply nested or no valid shell code', UNREAD_LINE)

/** This machine has no sandbox. */
export interface NoSandbox {
  /** A sentence. */
  readonly reason: string
  /** The setting `sandbox.required`: without one, no command runs. */
  readonly required: boolean
}

/** Names of what is found when a command would run without walls. */
export const NO_SANDBOX = 'no-sandbox'
export const SANDBOX_REQUIRED = 'sandbox-required'
/** Commits are sent to another machine. */
export const GIT_PUSH = 'git-push'
/** A pattern of the line names files that cannot all be judged. */
export const UNCHECKED_PATTERN = 'unchecked-pattern'
/** Git would start what the settings of a repository name. */
export const REPOSITORY_PROGRAMS = 'repository-programs'

/** Variables that earlier lines set change what this one does. A grant binds their values, which may be secrets. */
function variablesItem({ variables }: Run): Item {
  const values = hash('sha256', JSON.stringify([...variables].sort())).slice(0, 16)
  const details = `Variables of earlier lines: ${[...variables.keys()].sort().join(', ')} (sha256 ${values}).`
  return customItem(details, 'environment')
}

function unwalledItems(analysis: CommandAnalysis, readsOnly: boolean, noSandbox: NoSandbox | null): Item[] {
  if (noSandbox === null) return []
  const { reason, required } = noSandbox
  if (required || !readsOnly) return [customItem(reason, required ? SANDBOX_REQUIRED : NO_SANDBOX)]
  const readsTree = analysis.trees.some(
    tree => tree.content && tree.history === undefined && isFolder(tree.path),
  )
  return readsTree ? [UNWALLED] : []
}

const UNWALLED = customItem(
  'The command reads a whole folder, and without a sandbox nothing in it can be hidden.',
)

/** Git prints contents from its objects, by whatever names they have there, or by their numbers. */
function historyItems(analysis: CommandAnalysis, files: readonly FileItem[], closed: Closed): Item[] {
  const problems = [
    namelessObject(analysis, analysis.globs.length === 0 ? [] : files.map(({ path }) => path)),
    ...analysis.trees.flatMap(({ path, history }) =>
      history === undefined ? [] : [gitHistoryProblem(path, closed, history)],
    ),
    // Git needs the objects, and another program of the line would read them too: `git log; grep -ra . .`
    ...analysis.repositories.flatMap(({ path }) =>
      analysis.trees.some(tree => tree.content && tree.history === undefined && holdsStore(tree.path, path))
        ? [gitHistoryProblem(path, closed)]
        : [],
    ),
    ...files.flatMap(({ real }) => {
      const repository = repositoryOfObject(real, existsSync)
      return repository === undefined ? [] : [gitHistoryProblem(dirname(repository), closed)]
    }),
  ]
  const details = problems.find(problem => problem !== undefined)
  return details === undefined ? [] : [customItem(details)]
}

/** Git starts programs that its repository names, and may be led to files elsewhere; the words of the line show neither. */
function repositoryItems({ repositories }: CommandAnalysis): Item[] {
  return repositories.flatMap(({ path, starts }): Item[] => {
    const foreign = repositoryAbove(path)?.foreign
    if (foreign !== undefined)
      return [customItem(`git would read files that lie somewhere else: ${foreign}.`)]
    const why = programsOf(path, starts)
    if (why === null) return []
    const details = `git would start programs that the repository configures: ${why}.`
    return [customItem(details, REPOSITORY_PROGRAMS)]
  })
}

/**
 * Why git could start programs that the repository at or above a folder names, or null. Of lines that only read, only
 * settings that neither an option nor the environment switches off: filters of file contents, and converters that turn
 * files into text. What a configuration includes may set them later. Submodules count: git starts another git in each.
 */
function programsOf(folder: string, starts: RepositoryAccess['starts']): string | null {
  const found = repositoryAbove(folder)
  if (found === undefined || starts === 'nothing') return null
  const tracked = trackedFiles(folder)
  if (tracked === null || tracked === undefined)
    return 'the repository is not one whose settings can be checked'
  for (const root of tracked.roots) {
    const inner = root === found.root ? found : repositoryAbove(root)
    const dangers = inner === undefined ? [] : dangersOf(inner)
    if (dangers === null) return `the settings of ${root} cannot be read`
    const hit = dangers.find(({ name }) => COUNTS[starts].test(name))
    if (hit !== undefined) return `${root} has \`${hit.name}\``
  }
  return null
}

const COUNTS = {
  filters: /^(filter|include|includeif)\./,
  converters: /^(filter|include|includeif)\.|textconv/,
  anything: /^/,
} as const

const MOST_MATCHES = 10_000

/** Every file that a pattern of the line matches now. Where they cannot all be named, the line has to be asked about. */
function globItems({ kind, pattern }: GlobAccess, context: PathContext): Item[] {
  const paths = expandGlob(pattern, MOST_MATCHES)
  if (paths === null)
    return [
      customItem(`The pattern '${pattern}' matches files that cannot all be checked.`, UNCHECKED_PATTERN),
    ]
  return paths.map(path => fileItem(kind, path, context, true))
}

function toItem(
  access: Access,
  cwd: string,
  context: PathContext,
  derived: boolean,
  resolve: ResolvePath = resolvePath,
): Item {
  switch (access.kind) {
    case 'file_read':
    case 'file_write':
    case 'file_delete': {
      const path = absolutePath(access.path, cwd)
      return fileItem(access.kind, path, context, derived, realFor(access.kind, path, resolve))
    }
    case 'network':
      return {
        kind: 'network',
        url: access.url,
        method: (access.method ?? 'GET').toUpperCase(),
        facts: analyzeUrl(access.url),
        derived,
      }
    case 'custom':
      return { ...access, derived: false }
    case 'execute':
      // The analysis reports programs as part of the line, never as a line of their own.
      return customItem(access.command, 'execute')
  }
}

/** `real` is given by those who know it already. */
export function fileItem(
  kind: FileItem['kind'],
  path: string,
  context: PathContext,
  derived: boolean,
  real: string = realFor(kind, path, resolvePath),
): FileItem {
  const facts = (kind === 'file_read' ? analyzePath : analyzeChange)(real, context)
  return { kind, path, real, facts, derived }
}

/** Deleting takes away the name itself, link or not; reading and writing act on what the name leads to. */
function realFor(kind: FileItem['kind'], path: string, resolve: ResolvePath): string {
  return kind === 'file_delete' ? join(resolve(dirname(path)).real, basename(path)) : resolve(path).real
}

/** The items as plain data, for explain, the audit log and the approval card. */
export function toAccess(items: readonly Item[]): Access[] {
  return items.map(itemToAccess).filter(access => access !== undefined)
}

function itemToAccess(item: Item): Access | undefined {
  switch (item.kind) {
    case 'tool':
      return undefined
    case 'file_read':
    case 'file_write':
    case 'file_delete':
      return { kind: item.kind, path: item.real }
    case 'network':
      return { kind: 'network', url: item.url, method: item.method }
    case 'execute':
      return { kind: 'execute', command: item.command }
    case 'custom':
      return { kind: 'custom', name: item.name, details: item.details }
  }
}
