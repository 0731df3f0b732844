import { existsSync } from 'node:fs'
import { PROTECTED_FILES } from '../core/access.ts'
import type { CommandPermit, JudgeHost } from '../core/command.ts'
import type { JudgeRequest } from '../core/decision.ts'
import type { Permit } from '../core/permit.ts'
import { absolutePath, isInside, realPathOf } from '../core/real-path.ts'
import { repositoryAbove } from '../git/repository.ts'
import { gitSubcommands, literalExports, resolvePlan } from './command-permit.ts'
import type { FoundCommand } from './commands/types.ts'
import type { DecideContext } from './decide.ts'
import { isGitContent } from './git/history.ts'
import type { ScopeContext } from './hard-limits.ts'
import { type ExecuteItem, fileItem, type Item, isFile, toAccess, UNCHECKED_FILES } from './items.ts'
import { judgeUrls } from './network/web-network.ts'
import { isGuarded, isOnlyGit } from './paths/guarded-files.ts'
import { hiddenFiles } from './paths/hidden-files.ts'
import { isOwnState } from './paths/paths.ts'
import { protectedFromGit, protectedReason } from './paths/protected-paths.ts'
import { defaultVerdict } from './rules/defaults.ts'
import type { Rule } from './rules/rules.ts'

interface CommandWays {
  /** The way out of its command, which may run contained instead. */
  readonly network: JudgeHost | undefined
  readonly contained?: boolean
  readonly unasked?: boolean
}

/** What a call may do, from what was judged. */
export function createPermit(
  items: readonly Item[],
  context: DecideContext,
  { network, contained = false, unasked = false }: CommandWays,
): Permit {
  const { request } = context
  const command = items.find(item => item.kind === 'execute')
  const judged = new Map<string, string>()
  for (const item of items) {
    if (isFile(item)) judged.set(item.path, item.real)
  }
  return {
    access: toAccess(items),
    writeScope: [...context.scope.writeScope, ...gitFolders(command, request, context.scope)],
    judged: path => judged.get(path),
    mayRead: path => !isGitContent(path) && mayRead(path, context),
    isProtected: (path, exists) => protectedReason(path, context.scope, exists) !== undefined,
    ...(items.some(item => item.kind === 'network' && !item.derived)
      ? { judgeUrl: judgeUrls(items, context) }
      : {}),
    ...(command === undefined ? {} : { command: permitFor(command), ...guards(command) }),
  }

  /** What a command may not leave behind. Files that the question named may be git's doing, and nobody else's. */
  function guards({ command: line, analysis }: ExecuteItem): Pick<Permit, 'isProtected' | 'isGuarded'> {
    const named = items.flatMap(item =>
      item.kind === 'custom' && item.name === PROTECTED_FILES ? (item.paths ?? []) : [],
    )
    // Variables and input of the call, or of earlier ones, could make git run anything.
    const isAlone =
      request.run.variables.size === 0 &&
      request.access.every(
        ({ kind, ...more }) => kind === 'execute' || Object.values(more).includes(PROTECTED_FILES),
      )
    const byGit = isAlone && named.length > 0 && isOnlyGit(analysis, line) ? named : []
    // The file, and the folders that it lies in.
    const isNamed = (path: string): boolean => byGit.some(each => isInside(each, path))
    return {
      isProtected: (path, exists = existsSync) =>
        (isNamed(path) ? protectedFromGit : protectedReason)(path, context.scope, exists) !== undefined,
      isGuarded: path => !isNamed(path) && isGuarded(path, context.scope),
    }
  }

  function permitFor({ analysis, cwd }: Item & { kind: 'execute' }): CommandPermit {
    const plan = analysis.plan === null ? null : resolvePlan(analysis.plan, cwd)
    const { deniesChange, ...denied } = fileRules(context)
    const hidden = hiddenFiles(analysis, {
      ...denied,
      scope: context.scope,
      plan,
      contained,
      named: [...judged.values()],
      reviewed: items.some(item => item.kind === 'custom' && item.name === UNCHECKED_FILES),
      mayRead: path => mayRead(path, context),
      mayHide: context.mayHide,
    })
    const { timeoutMs } = request.run.authority.commands
    return {
      cwd,
      plan,
      hidden,
      git: { subcommands: gitSubcommands(analysis) },
      exports: literalExports(analysis),
      ...(contained ? { contained } : {}),
      ...(unasked ? { unasked } : {}),
      ...(deniesChange === undefined ? {} : { deniesChange }),
      ...(network === undefined ? {} : { network }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }
  }
}

/** The level of git lets git itself keep its records, also where the run may not write: without them there is no commit. */
function gitFolders(
  command: ExecuteItem | undefined,
  { run: { authority } }: JudgeRequest,
  { workspace, writeScope }: ScopeContext,
): string[] {
  if (authority.git !== 'read-write' || command === undefined) return []
  const isPlain = ({ program, embeds }: FoundCommand): boolean => program === 'git' && embeds !== true
  if (!command.analysis.commands.every(isPlain)) return []
  const found = repositoryAbove(command.cwd)
  if (found === undefined || found.foreign !== undefined) return []
  return [found.repository, found.shared ?? found.repository].filter(
    folder => isInside(folder, workspace) && !writeScope.some(own => isInside(folder, own)),
  )
}

/** For files that only turn up while a command runs. */
function fileRules(context: DecideContext) {
  const { request } = context
  const ofFiles = context.rules.filter(rule => rule.decision === 'deny' && rule.definition.path !== undefined)
  const deniesReading = (path: string): boolean => {
    const item = fileItem('file_read', path, context.scope, true, path)
    return ofFiles.some(rule => rule.matches(item, request))
  }
  const deniesChange = (kind: 'file_write' | 'file_delete', path: string): string | null => {
    const item = fileItem(kind, path, context.scope, true, path)
    const rule = ofFiles.find(each => each.matches(item, request))
    if (rule === undefined) return null
    return `the rule '${rule.id}' forbids it${rule.reason === undefined ? '' : `: ${rule.reason}`}`
  }
  return {
    deniesReading: ofFiles.length === 0 ? undefined : deniesReading,
    deniesChange: ofFiles.length === 0 ? undefined : deniesChange,
    deniedRoots: fixedRoots(ofFiles, context.scope).filter(deniesReading),
  }
}

/**
 * What rules name by a path or as all of a folder, where it exists. Commands are not searched for what lies outside the
 * workspace, so it is hidden as a whole; exceptions of such a rule hold for file tools and lines that only read.
 */
function fixedRoots(rules: readonly Rule[], { home, workspace }: ScopeContext): string[] {
  return rules
    .flatMap(rule => rule.definition.path ?? [])
    .map(pattern => pattern.replace(/\/\*\*(\/\*)?$/, ''))
    .filter(base => base.includes('/') && !/[*?[\]{}()!]/.test(base))
    .map(base =>
      realPathOf(base.startsWith('~/') ? `${home}${base.slice(1)}` : absolutePath(base, workspace)),
    )
    .filter(path => existsSync(path) && !isInside(path, workspace))
}

/** As for a `file_read` of that path, without looking at the disk: the path is real already. */
export function mayRead(path: string, context: DecideContext): boolean {
  const { request, rules } = context
  if (isOwnState(path, context.scope)) return false
  const item = fileItem('file_read', path, context.scope, false, path)
  const matching = rules.filter(rule => rule.matches(item, request))
  if (matching.some(rule => rule.decision !== 'allow')) return false
  if (matching.length > 0) return true
  if (defaultVerdict(item, request, context.fallback).outcome === 'allow') return true
  return context.grantFor(item, false) !== undefined
}
