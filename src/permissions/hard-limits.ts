import { isInside, isKernelPath, lookAt } from '../core/real-path.ts'
import { isGitContent } from './git/history.ts'
import { type FileItem, type Item, NO_SANDBOX, SANDBOX_REQUIRED } from './items.ts'
import { opens } from './network/named-hosts.ts'
import { foldPath, isOwnState, type PathContext } from './paths/paths.ts'
import { type Exists, protectedReason } from './paths/protected-paths.ts'

/** A limit that no rule, grant or person can override. */
export interface HardStop {
  readonly id: string
  readonly reason: string
}

export interface ScopeContext extends PathContext {
  /** Real folders below which files may be changed. */
  readonly writeScope: readonly string[]
  /** The run belongs to an agent with its own write folders. */
  readonly ofAgent?: boolean
}

/** The first hard limit that an item of the call runs into. */
export function findHardStop(
  items: readonly Item[],
  context: ScopeContext,
  named: NamedHosts,
): HardStop | undefined {
  const lines = items.filter(item => item.kind === 'execute').length
  if (lines > 1) {
    const reason = `The call would run ${lines} command lines, but a call may run only one.`
    return { id: 'several-commands', reason }
  }
  // A command behind walls has a loopback of its own, where at most its neighbours' opened ports are.
  const isOpen = items.some(item => item.kind === 'custom' && item.name === NO_SANDBOX)
  const exists = existsAfter(items)
  for (const item of items) {
    if (!isOpen && isOwnLoopback(item)) continue
    const stop = hardStopOf(item, context, named, exists)
    if (stop !== undefined) return stop
  }
  return undefined
}

/** What the call writes counts as there: a patch must not make a repository file by file. */
function existsAfter(items: readonly Item[]): Exists {
  let written: Set<string> | undefined
  return path => {
    if (lookAt(path) !== undefined) return true
    written ??= new Set(items.flatMap(item => (item.kind === 'file_write' ? withFolders(item.real) : [])))
    return written.has(foldPath(path))
  }
}

function withFolders(path: string): string[] {
  const parts = foldPath(path).split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

function isOwnLoopback(item: Item): boolean {
  return item.kind === 'network' && item.derived && item.facts?.addressClass === 'loopback'
}

/** The patterns that match a host, of those that allow one. */
export type NamedHosts = (item: NetworkItem) => readonly string[]

type NetworkItem = Item & { kind: 'network' }

function hardStopOf(
  item: Item,
  context: ScopeContext,
  named: NamedHosts,
  exists: Exists,
): HardStop | undefined {
  switch (item.kind) {
    case 'execute':
      return commandStop(item)
    case 'file_write':
    case 'file_delete':
      return fileStop(item, context, exists)
    case 'network':
      return networkStop(item, named)
    case 'custom':
      if (item.name !== SANDBOX_REQUIRED) return undefined
      return {
        id: SANDBOX_REQUIRED,
        reason: `No sandbox, so no command runs ([sandbox] required = true): ${item.details}`,
      }
    case 'file_read':
      return readStop(item, context)
    case 'tool':
      return undefined
  }
}

function readStop(item: FileItem, context: ScopeContext): HardStop | undefined {
  // A command sees devices and processes of its own.
  if (!item.derived && (isKernelPath(item.real) || isKernelPath(item.path))) {
    const reason = `Not allowed to read '${item.path}': tools cannot access /proc, /sys or /dev.`
    return { id: 'kernel-interface', reason }
  }
  if (isOwnState(item.real, context) || isOwnState(item.path, context)) {
    const reason = `Not allowed to read '${item.path}': it is Kogu's own state. Use command_output to read the output of commands.`
    return { id: 'own-state', reason }
  }
  // Whatever files were ever in the repository, without their names. What git prints of them is judged by name.
  if (item.derived || !isGitContent(item.real)) return undefined
  const reason = `Not allowed to read '${item.path}': it holds contents of files in the format of git. Use git_ops, or git in a command line.`
  return { id: 'git-objects', reason }
}

const WEB_PORTS: ReadonlySet<number> = new Set([80, 443, 8080, 8443])

function networkStop(item: NetworkItem, named: NamedHosts): HardStop | undefined {
  const stop = (id: string, why: string): HardStop => ({ id, reason: `Not contacting ${item.url}: ${why}.` })
  const { facts } = item
  // A line that contacts others is asked about as a whole; a tool has to say whom.
  if (facts === undefined) return item.derived ? undefined : stop('bad-address', 'it is not a valid address')
  if (facts.refusal !== undefined) {
    const isOpened = facts.canBeNamed && opens(named(item), facts.addressClass)
    if (!isOpened) return stop('private-address', facts.refusal)
  }
  if (item.derived) return undefined
  if (facts.scheme !== 'http' && facts.scheme !== 'https') {
    return stop('scheme', 'only http and https are supported')
  }
  if (WEB_PORTS.has(facts.port) || named(item).some(pattern => /:\d+$/.test(pattern))) return undefined
  return stop('port', `port ${facts.port} is not a web port, and no rule allows ${facts.host}:${facts.port}`)
}

function commandStop(item: Item & { kind: 'execute' }): HardStop | undefined {
  const { analysis } = item
  if (analysis.level === 'forbidden') {
    const reason = analysis.reasons[0]?.text ?? 'it is on the list of forbidden commands'
    return { id: 'forbidden-command', reason: `Command blocked: ${reason}` }
  }
  if (analysis.interactiveProgram !== null) {
    const { program, instead } = analysis.interactiveProgram
    return {
      id: 'interactive-program',
      reason: `Interactive commands are not supported: ${program}. Instead: ${instead}`,
    }
  }
  return undefined
}

// A command gets a /tmp of its own, and these devices keep nothing. By where a path leads: a workspace may lie in /tmp.
const HARMLESS_TARGET =
  /^(\/tmp|\/var\/tmp|\/dev\/(null|zero|full|stdin|stdout|stderr|tty|fd\/[0-9]+)$)(\/|$)/

function fileStop(item: FileItem, context: ScopeContext, exists: Exists): HardStop | undefined {
  const inScope = context.writeScope.some(folder => isInside(item.real, folder))
  if (item.derived && !inScope && HARMLESS_TARGET.test(item.real)) return undefined
  const verb = item.kind === 'file_write' ? 'write to' : 'delete'
  const target = item.real === item.path ? `'${item.path}'` : `'${item.path}' (it leads to '${item.real}')`
  const why = protectedReason(item.real, context, exists) ?? protectedReason(item.path, context, exists)
  if (why !== undefined && (inScope || why === 'it belongs to the system')) {
    return { id: 'protected-path', reason: `Not allowed to ${verb} ${target}: ${why}.` }
  }
  if (!inScope && context.ofAgent === true) return agentStop(item, context.writeScope)
  if (!inScope) {
    const scope = context.writeScope.map(folder => `'${folder}'`).join(', ') || 'nothing'
    return { id: 'write-scope', reason: `Not allowed to ${verb} ${target}: only ${scope} may be changed.` }
  }
  if ((item.kind === 'file_write' && item.derived) || !context.writeScope.includes(item.real))
    return undefined
  const reason = `Not allowed to ${verb} ${target}: it is the folder that may be changed.`
  return { id: 'write-scope', reason }
}

function agentStop({ path }: FileItem, folders: readonly string[]): HardStop {
  const reason =
    folders.length === 0
      ? 'File writing is disabled. No allowed write directories configured.'
      : `Path '${path}' is not within any allowed write directory. Allowed: ${folders.join(', ')}`
  return { id: 'write-scope', reason }
}
