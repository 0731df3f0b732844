import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Effect } from '../../core/effects.ts'
import { ToolError, toToolError } from '../../core/errors.ts'
import { Pending } from '../../core/obtain-approval.ts'
import type { SandboxProfile } from '../../core/sandbox.ts'
import type { ProcessContext } from '../../core/tool.ts'
import { toLine } from '../../core/visible.ts'
import {
  bytesOf,
  type HeldLayer,
  heldBytes,
  holdLayer,
  isHeld,
  leaveLayer,
  takeLayer,
} from '../../sandbox/layer/held-layer.ts'
import { GONE, removeOverlay, removeOverlaySoon, runOnOverlay } from '../../sandbox/layer/overlay.ts'
import type { Displaced } from '../../sandbox/layer/overlay-apply.ts'
import type { OverlayChanges } from '../../sandbox/layer/overlay-changes.ts'
import { commitOverlay, few, isDecided, type OverlayTarget } from '../../sandbox/layer/overlay-commit.ts'
import type { SandboxCommand, SandboxResult } from '../../sandbox/walls/sandbox.ts'
import { describeOutput, type SplitChanges, splitOutput } from './build-output.ts'
import type { CommandParts } from './parts.ts'
import {
  describeLinks,
  hardRefusal,
  MOST_CHANGES,
  MOST_OF_NAMES,
  proposeChanges,
  selectChanges,
  withoutGuard,
} from './propose-changes.ts'
import { describeChanges, recordChanges } from './record-changes.ts'

/** A command that ran, and what became of its changes. */
export interface Ran {
  readonly result: SandboxResult
  /** What it did on its layer, when none of it was kept: it was a preview, or that was refused. */
  readonly notKept: NotKept | null
  readonly notes: readonly string[]
}

export interface NotKept {
  /** A sentence. */
  readonly reason: string
  readonly effects: readonly Effect[]
}

export interface LayeredRequest {
  /** For the undo record. */
  readonly tool: string
  readonly preview: boolean
  /** Whether its changes count, of a program that is stopped when it has done its work. Defaults to how it ended. */
  isDone?(): boolean
  /** What whoever goes on with it later needs beside its changes. */
  notes(): unknown
}

/** Runs a command on a layer over the workspace; what it changed is brought over, judged first, or thrown away. */
export async function runLayered(
  parts: CommandParts,
  request: LayeredRequest,
  context: ProcessContext,
  profile: SandboxProfile,
  command: SandboxCommand,
): Promise<Ran> {
  if (parts.sandbox === null) throw new Error('runs behind walls only')
  mkdirSync(parts.places.overlays, { recursive: true, mode: 0o700 })
  const name = randomUUID()
  const { result, changes, discard } = await runOnOverlay(parts.sandbox, parts.processes, {
    workspace: parts.workspace,
    folder: join(parts.places.overlays, name),
    profile,
    command,
    // A contained command shares no folder with others that either could write.
    ...(context.permit.command?.contained === true
      ? { limits: LARGEST_LAYER }
      : { isAlone: () => isAlone(parts, name) }),
  })
  const dropped = changes.dropped.map(({ path, why }) => `Not kept: ${path} (${why})`)
  const isDone = request.isDone?.()
  const isCut = isDone === false || wasCut(isDone === true ? { ...result, stopped: false } : result)
  if (request.preview || isCut) {
    const effects = await describeChanges(changes)
    discard()
    const reason = request.preview ? 'This was a preview' : 'The command was cut off'
    return { result, notKept: { reason, effects }, notes: [...dropped, `${reason}: ${wouldHave(effects)}`] }
  }
  // A server that is stopped after its work does not say how the call ended.
  const layer = { changes, discard, ...(isDone === undefined ? { ended: endOf(result) } : {}) }
  const isContained = context.permit.command?.contained === true
  const settled = isContained
    ? await settleContained(parts, request, context, { ...layer, more: { result, ran: request.notes() } })
    : await commit(parts, request.tool, context, layer).catch(error => {
        throw hinting(toToolError(error), `The command itself ${endOf(result)}.`)
      })
  return { result, notKept: settled.notKept ?? null, notes: [...dropped, ...notesOf(settled, parts)] }
}

/** Of a line that nobody approved. */
const LARGEST_LAYER = { bytes: 1024 ** 3, entries: 200_000 }
/** Of all layers whose questions wait. */
const MOST_HELD_BYTES = 4 * 1024 ** 3

/** Goes on with a command that ran earlier, perhaps in another process, and whose changes waited for an answer. */
export async function resumeLayered(
  parts: CommandParts,
  request: Pick<LayeredRequest, 'tool'>,
  context: ProcessContext,
  name: string,
): Promise<Ran & { ran: unknown }> {
  const held = takeLayer(parts.places.overlays, name)
  if (held === undefined) {
    throw new ToolError('stale', 'What the command changed is gone, so nothing was kept.', {
      hint: 'Run the command again.',
    })
  }
  // Written below.
  const { result, ran } = held.more as { result: SandboxResult; ran: unknown }
  const discard = (): void => removeOverlay(join(parts.places.overlays, name))
  const settled = await settleContained(parts, request, context, { ...held, discard, ended: endOf(result) })
  return { result, ran, notKept: settled.notKept ?? null, notes: notesOf(settled, parts) }
}

/** Whether no other command of this workspace runs: they share caches, and with those the sockets in them. */
async function isAlone({ places, background }: CommandParts, name: string): Promise<boolean> {
  const runs = (other: string): boolean =>
    other !== name && !other.startsWith(GONE) && !isHeld(places.overlays, other)
  if (readdirSync(places.overlays).some(runs)) return false
  return (await background().list()).every(({ running }) => !running)
}

interface Layer {
  readonly changes: OverlayChanges
  /** How the command ended: kept with its changes, so that both are known after a kill, or neither. */
  readonly ended?: string
  discard(): void
}

interface Settled {
  readonly effects: readonly Effect[]
  readonly displaced: readonly Displaced[]
  readonly notKept?: NotKept
  /** What became of hard links, in sentences. */
  readonly links?: readonly string[]
  /** What became of output that nobody was asked about. */
  readonly note?: string
}

/** Nobody approved the line, so what it changed is judged now: all of it, or without what is not worth a question. */
async function settleContained(
  parts: CommandParts,
  request: Pick<LayeredRequest, 'tool'>,
  context: ProcessContext,
  held: Layer & HeldLayer,
): Promise<Settled> {
  const split = parts.buildOutput === 'ask' ? undefined : splitOutput(held.changes)
  if (split === undefined || (await look(context, held.changes)) === 'allow')
    return settleChanges(parts, request, context, held)
  const found = await look(context, split.output)
  const isKept = found === 'allow' || (found === 'mode' && parts.buildOutput === 'keep')
  const aside = { ...split, isKept, note: describeOutput(split.output, isKept) }
  const settled = await settleChanges(parts, request, context, { ...held, aside })
  return { ...settled, note: aside.note }
}

/** What would be decided about changes; `mode`: nothing but the mode asks. */
async function look(context: ProcessContext, changes: OverlayChanges): Promise<'allow' | 'mode' | 'ask'> {
  if (tooMuch(changes) !== undefined || hardRefusal(changes, context.permit) !== undefined) return 'ask'
  const proposed = await proposeChanges(changes, context.permit)
  const seen = await context.keepChanges({ ...proposed, ask: 'look' })
  return seen.keep ? 'allow' : seen.byMode === true ? 'mode' : 'ask'
}

function tooMuch(changes: OverlayChanges): string | undefined {
  if (changes.changes.length > MOST_CHANGES)
    return `It changed ${changes.changes.length} entries, more than ${MOST_CHANGES}.`
  if (changes.changes.reduce((sum, { path }) => sum + path.length, 0) > MOST_OF_NAMES)
    return 'The paths it changed are too long to be shown.'
  if (bytesOf(changes) > LARGEST_LAYER.bytes)
    return `Its changes are larger than ${LARGEST_LAYER.bytes / 1024 ** 2} MiB.`
  return undefined
}

/** Output of builds, which is not in the question. */
interface Aside extends SplitChanges {
  readonly isKept: boolean
  readonly note: string
}

/** The layer that is judged is the layer that is kept. */
async function settleChanges(
  parts: CommandParts,
  { tool }: Pick<LayeredRequest, 'tool'>,
  context: ProcessContext,
  { changes: all, more, aside, ...layer }: Layer & HeldLayer & { aside?: Aside },
): Promise<Settled> {
  const isOnlyOutput = aside?.isKept === true && aside.rest.changes.length === 0
  const changes = aside === undefined ? all : isOnlyOutput ? aside.output : aside.rest
  const refuse = (reason: string, effects: readonly Effect[]): Settled => {
    layer.discard()
    return { effects: [], displaced: [], notKept: { reason, effects } }
  }
  // Times alone are no change that anybody could judge.
  if (changes.changes.length === 0) {
    removeOverlaySoon(dirname(changes.upper))
    return { effects: [], displaced: [] }
  }
  const problem = tooMuch(changes)
  if (problem !== undefined) return refuse(problem, [])
  if (heldBytes(parts.places.overlays) + bytesOf(changes) > MOST_HELD_BYTES)
    return refuse('Changes that wait for an answer take up too much space already.', [])
  try {
    const proposed = await proposeChanges(changes, context.permit, aside?.note)
    const hard = hardRefusal(changes, context.permit)
    if (hard !== undefined) return refuse(hard, proposed.effects)
    // Before the question is: when it is stored, all that belongs to it is on the disk.
    holdLayer({ changes: all, more })
    const answer = await context.keepChanges(isOnlyOutput ? { ...proposed, ask: 'settled' } : proposed)
    if (!answer.keep) return refuse(answer.reason, proposed.effects)
    const chosen = answer.paths === undefined ? changes : selectChanges(changes, answer.paths)
    const permitted = { ...context, permit: withoutGuard(context.permit) }
    const kept = aside?.isKept === true ? joinChanges(all, chosen, aside.output) : chosen
    const settled = await commit(parts, tool, permitted, { ...layer, changes: kept })
    if (chosen === changes) return settled
    const done = new Set(settled.effects.map(({ path }) => path))
    const left = proposed.effects.filter(({ path }) => !done.has(path))
    return { ...settled, notKept: { reason: 'Only a part of its changes was kept.', effects: left } }
  } catch (error) {
    if (error instanceof Pending) leaveLayer(changes)
    else if (!isDecided(changes)) layer.discard()
    throw error
  }
}

/** Of all changes those of either part, in the order of all. */
function joinChanges(all: OverlayChanges, one: OverlayChanges, other: OverlayChanges): OverlayChanges {
  const paths = new Set([...one.changes, ...other.changes].map(({ path }) => path))
  const times = new Set([...one.touched, ...other.touched].map(({ path }) => path))
  return {
    ...all,
    changes: all.changes.filter(({ path }) => paths.has(path)),
    touched: all.touched.filter(({ path }) => times.has(path)),
  }
}

function notesOf(
  { notKept, displaced, effects, note, links = [] }: Settled,
  { workspace }: CommandParts,
): string[] {
  const refused =
    notKept === undefined || notKept.effects.length === 0
      ? notKept === undefined
        ? []
        : [`Its changes were not kept: ${notKept.reason}`]
      : [`Its changes were not kept: ${notKept.reason} It had ${listed(notKept.effects, workspace)}.`]
  const aside = note === undefined ? [] : [note]
  const theirs = displaced.map(describeDisplaced)
  return [...refused, ...aside, ...links, ...theirs, ...describeLost(effects, workspace)]
}

/** Nothing that it did is to stay. */
export function wasCut(result: SandboxResult): boolean {
  return result.timedOut || result.idledOut || result.stopped || result.limit !== null
}

function endOf({ exitCode, signal }: SandboxResult): string {
  return exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `exited with code ${exitCode}`
}

export function hinting({ code, message, hint, cause }: ToolError, sentence: string): ToolError {
  return new ToolError(code, message, { hint: [hint, sentence].filter(Boolean).join(' '), cause })
}

/** Nobody was asked about it: which files a line deletes is not known before it ran. */
function describeLost(effects: readonly Effect[], workspace: string): string[] {
  const lost = effects.filter(({ undoable }) => undoable === false)
  if (lost.length === 0) return []
  const names = few(lost.map(({ path }) => relative(workspace, path)))
  return [`Cannot be undone, because undo could not keep the content: ${names}`]
}

/** As a sentence. */
function describeDisplaced({ path, keptAs }: Displaced): string {
  if (path === keptAs) return `Not deleted: ${path}, which someone else wrote at the same moment.`
  return `Someone else wrote ${path} at the same moment; their version is in ${keptAs}.`
}

/** Locked as by the file tools, so that what another call or process is about to write is seen or waits. */
function filesOf({ workspace, changes }: OverlayChanges): string[] {
  return changes.filter(({ entry }) => entry !== 'directory').map(({ path }) => join(workspace, path))
}

async function commit(
  parts: CommandParts,
  tool: string,
  context: ProcessContext,
  { changes, discard, ...how }: Layer,
): Promise<Settled> {
  if (changes.changes.length === 0) {
    // Times alone are no effect that is recorded, but `make` goes by them.
    if (changes.touched.length > 0) await commitOverlay(changes, NOTHING_TO_RECORD)
    else discard()
    return { effects: [], displaced: [] }
  }
  const record = parts.undo().begin({ id: context.callId, run: context.run.id, tool, ...how })
  const effects: Effect[] = []
  try {
    const target = recordChanges(record, context.permit, changes, effects)
    const displaced = await parts.locks().hold(filesOf(changes), () => commitOverlay(changes, target))
    context.reportEffects(effects)
    return { effects, displaced, links: describeLinks(changes) }
  } catch (error) {
    // Refused or in conflict: nothing was changed. Otherwise the next start needs both to finish what was begun.
    if (!isDecided(changes)) {
      record.abort()
      discard()
    } else {
      context.reportEffects(effects)
    }
    throw error
  }
}

const NOTHING_TO_RECORD: OverlayTarget = {
  refusal: () => null,
  keep: async () => {},
  committed: async () => {},
}

function wouldHave(effects: readonly Effect[]): string {
  if (effects.length === 0) return 'it had changed nothing in the workspace.'
  return `nothing was changed. It would have ${listed(effects)}.`
}

function listed(effects: readonly Effect[], workspace?: string): string {
  const nameOf = (path: string): string => toLine(workspace === undefined ? path : relative(workspace, path))
  const names = effects.slice(0, 20).map(({ change, path }) => `${change} ${nameOf(path)}`)
  const more = effects.length > names.length ? ` and ${effects.length - names.length} more` : ''
  return `${names.join(', ')}${more}`
}
