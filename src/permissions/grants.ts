import { hash } from 'node:crypto'
import { constants, lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { canonicalJson } from '../core/canonical-json.ts'
import type { JudgeRequest } from '../core/decision.ts'
import { isInside } from '../core/real-path.ts'
import {
  type CommandSpec,
  commandGrant,
  coversCommand,
  describeCommandGrant,
  moveCommand,
} from './command-grants.ts'
import { startedFiles } from './commands/started-files.ts'
import { type FileItem, type Item, isFile } from './items.ts'
import { SENSITIVE_TO_WRITE } from './paths/paths.ts'

/** A remembered answer. Kept in the state folder, bound to one workspace, revocable; never in a tracked file. */
export interface Grant {
  readonly id: string
  readonly decision: 'allow' | 'deny'
  readonly scope: 'session' | 'permanent'
  /** Real path of the workspace it was given in. */
  readonly workspace: string
  /** It also applies in other workspaces, but never overrides a rule that asks. */
  readonly everywhere?: true
  /** The run it holds for, when it is a session grant. */
  readonly run?: string
  /** The agent it was given to. Without one, it holds for every run in the workspace. */
  readonly agent?: string
  readonly spec: GrantSpec
  /** The tool, with the fingerprint it had then. A changed tool is not covered. */
  readonly tool?: { readonly name: string; readonly fingerprint: string }
  /** Digest of the files that the line starts, when there are some. A yes does not cover changed ones. */
  readonly starts?: string | undefined
  readonly createdAt: string
  readonly expiresAt?: string
  readonly user: string
  /** The call whose question was answered. */
  readonly call?: string
}

export type GrantSpec =
  /** Exactly this call: tool, input and working folder. */
  | { kind: 'exact'; tool: string; digest: string; text: string }
  | CommandSpec
  | { kind: 'path'; access: FileItem['kind']; root: string }
  | { kind: 'host'; host: string; port: number; method: string }
  | { kind: 'custom'; name: string; details: string }

/** A call with what was found out about it. */
export interface IdentifiedCall {
  readonly request: JudgeRequest
  readonly items: readonly Item[]
  /** Equal for the same call in the same place. Made when it is asked for: most calls meet no exact grant and offer none. */
  digest(): string
}

export function identifyCall(request: JudgeRequest, items: readonly Item[]): IdentifiedCall {
  let digest: string | undefined
  return {
    request,
    items,
    digest() {
      digest ??= callDigest(request, items)
      return digest
    },
  }
}

export interface GrantStore {
  list(): readonly Grant[]
  add(grant: Grant): Promise<void>
  /** False when there is no such grant. */
  remove(id: string): Promise<boolean>
}

/**
 * The grant as it counts in a workspace. A command of one that holds everywhere is bound to the same place in each; a path
 * stays the same place on the disk.
 */
export function inWorkspace(grant: Grant, workspace: string): Grant {
  if (grant.workspace === workspace || grant.spec.kind !== 'command') return grant
  return { ...grant, spec: moveCommand(grant.spec, grant.workspace, workspace) }
}

/**
 * What can hold in other workspaces. The very call, and the files that it starts, are those of this folder; and what a tool of others names, such as a server,
 * can be something else under the same name in another project.
 */
export function canHoldEverywhere(specs: readonly GrantSpec[], call: IdentifiedCall): boolean {
  return specs.every(
    spec => spec.kind !== 'exact' && spec.kind !== 'custom' && startsOf(spec, call) === undefined,
  )
}

/** Whether a grant answers for this item of the call. */
export function covers(spec: GrantSpec, item: Item, call: IdentifiedCall): boolean {
  switch (spec.kind) {
    case 'exact':
      return spec.tool === call.request.tool.name && spec.digest === call.digest()
    case 'command':
      return item.kind === 'execute' && coversCommand(spec, item)
    case 'path':
      return isFileOf(item, spec.access) && !item.derived && coversPath(spec.root, item)
    case 'host':
      return (
        item.kind === 'network' &&
        item.facts?.host === spec.host &&
        item.facts.port === spec.port &&
        item.method === spec.method
      )
    case 'custom':
      return item.kind === 'custom' && item.name === spec.name && item.details === spec.details
  }
}

/** What a yes is bound to beyond the words of a line: the files that it starts, as they are now. */
export function startsOf({ kind }: GrantSpec, { items }: IdentifiedCall): string | undefined {
  const command = items.find(item => item.kind === 'execute')
  if (command === undefined || (kind !== 'exact' && kind !== 'command')) return undefined
  const { orders, named } = startedFiles(command.analysis)
  // The words of a wider grant can be others than those of the line; what takes orders by name cannot.
  const paths = kind === 'exact' ? [...orders, ...named] : orders
  return paths.length === 0 ? undefined : hash('sha256', canonicalJson(paths.map(contentOf)) ?? '')
}

const LARGEST_READ = 16 * 1024 * 1024
/** Neither a link is followed that took the file's place, nor a pipe waited for. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

function contentOf(path: string): string {
  try {
    const { size, ctimeMs, ino } = lstatSync(path)
    const isLarge = size > LARGEST_READ
    return `${path} ${isLarge ? `${size} ${ctimeMs} ${ino}` : hash('sha256', readFileSync(path, { flag: READ_ONLY }))}`
  } catch {
    // Not there, or no file.
    return path
  }
}

function isFileOf(item: Item, kind: FileItem['kind']): item is FileItem {
  return item.kind === kind
}

/** A folder's grant does not reach the sensitive files in it: those are granted by name. */
function coversPath(root: string, item: FileItem): boolean {
  return item.real === root || (isInside(item.real, root) && item.facts.sensitivity < SENSITIVE_TO_WRITE)
}

/** Exactly this call. */
export function exactGrant({ request, items, digest }: IdentifiedCall): GrantSpec {
  return { kind: 'exact', tool: request.tool.name, digest: digest(), text: summarize(request, items) }
}

/** `workspace`: where it is said plainly that all of it is meant. */
export function describeGrant(spec: GrantSpec, workspace?: string): string {
  switch (spec.kind) {
    case 'exact':
      return `exactly this: ${spec.text}`
    case 'command':
      return describeCommandGrant(spec, workspace)
    case 'path': {
      const verb = { file_read: 'read', file_write: 'write', file_delete: 'delete' }[spec.access]
      if (workspace !== undefined && isInside(workspace, spec.root))
        return `${verb} every file of this workspace but sensitive ones (${spec.root} and what is below it)`
      return `${verb} ${spec.root} and what is below it`
    }
    case 'host':
      return `${spec.method} to ${spec.host}:${spec.port}`
    case 'custom':
      return spec.details
  }
}

/**
 * What can be remembered, narrowest first. Each offer is a list of grants that together cover every item that was asked
 * about. Dangerous lines can only be granted exactly.
 */
export function offerGrants(asked: readonly Item[], call: IdentifiedCall, workspace: string): GrantSpec[][] {
  const exact = exactGrant(call)
  const wider: GrantSpec[] = []
  for (const item of asked) {
    // Many files of one folder are one grant, said once.
    if (wider.some(spec => covers(spec, item, call))) continue
    const spec = widerGrant(item, workspace)
    if (spec === undefined) return [[exact]]
    wider.push(spec)
  }
  return wider.length > 0 ? [[exact], wider] : [[exact]]
}

/**
 * Identifies a call for an exact grant. Where it acts counts: `rm -r build` in another folder is another call, as is one
 * whose words lead elsewhere by a link, or that runs with other variables of earlier lines.
 */
function callDigest(request: JudgeRequest, items: readonly Item[]): string {
  const { tool, input, run } = request
  const linked = items.filter(isFile).filter(({ path, real }) => path !== real)
  const variables = items.some(item => item.kind === 'execute') ? [...run.variables].sort() : []
  return hash(
    'sha256',
    canonicalJson([
      tool.name,
      placeOf(request, items),
      input,
      ...(linked.length === 0 ? [] : [linked.map(({ kind, path, real }) => [kind, path, real])]),
      ...(variables.length === 0 ? [] : [variables]),
    ]),
  )
}

/** The folder that the call acts in: shown in the question, bound by the answer, used by the run. */
export function placeOf({ cwd }: JudgeRequest, items: readonly Item[]): string {
  return items.find(item => item.kind === 'execute')?.cwd ?? cwd
}

function widerGrant(item: Item, workspace: string): GrantSpec | undefined {
  switch (item.kind) {
    case 'execute':
      return commandGrant(item, workspace)
    case 'file_read':
    case 'file_delete':
      return { kind: 'path', access: item.kind, root: item.real }
    case 'file_write':
      return {
        kind: 'path',
        access: item.kind,
        root: item.derived || item.facts.sensitivity >= SENSITIVE_TO_WRITE ? item.real : dirname(item.real),
      }
    case 'network':
      if (item.facts === undefined) return undefined
      return { kind: 'host', host: item.facts.host, port: item.facts.port, method: item.method }
    case 'custom':
      return { kind: 'custom', name: item.name, details: item.details }
    case 'tool':
      return undefined
  }
}

function summarize(request: JudgeRequest, items: readonly Item[]): string {
  const { command, path, url, changes } = request.input
  const subject = [command, path, url].find(value => typeof value === 'string')
  if (typeof subject !== 'string') return request.tool.name
  const said = `${request.tool.name} ${subject}`
  if (items.some(item => item.kind === 'execute')) return `${said} in ${placeOf(request, items)}`
  // A line that has run (`core/keep-changes.ts`): the answer is for what it did, and not for the line.
  return typeof command === 'string' && changes !== undefined ? `the same changes by ${said}` : said
}
