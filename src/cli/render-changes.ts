import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { summarizeDiff } from '../core/unified-diff.ts'
import { toVisible } from '../core/visible.ts'
import type { Runtime } from '../runtime.ts'
import type { PathState, UndoStep } from '../workspace/undo/undo-plan.ts'
import type { SavedRecord } from '../workspace/undo/undo-read.ts'
import type { Change } from '../workspace/undo/undo-record.ts'
import { findMoves, type Move } from './find-moves.ts'
import type { Output } from './output.ts'
import { colorDiff } from './render-result.ts'
import type { Entry } from './room.ts'
import { shownPath } from './shown-path.ts'

const LARGEST_SHOWN = 256 * 1024

/** What is needed to show an undo to a person. */
export interface View {
  readonly runtime: Runtime
  readonly output: Output
  /** The folder the person stands in. */
  readonly cwd: string
}

/** What is needed to show changes of the past. */
export interface ChangeView extends View {
  /** Finds what a file held before it was changed again. */
  readonly contentWith: (sha256: string) => Uint8Array | undefined
}

/** What an undo would do: each path as it is now, what it will be, and the difference. */
export function stepEntries(steps: readonly UndoStep[], view: View): Entry[] {
  const wentTo = new Map<string, string>()
  for (const { path, now, then } of steps) {
    if (now === undefined && then?.content?.from === 'disk') wentTo.set(then.content.path, path)
  }
  const { moves, explained } = findMoves(
    steps.map(({ path, now, then }) => {
      const movedTo = then === undefined && now?.entry === 'file' ? wentTo.get(path) : undefined
      const kind = then === undefined ? 'goes' : now === undefined ? 'comes' : 'stays'
      return {
        path,
        entry: (now ?? then)?.entry ?? 'file',
        kind,
        ...(movedTo === undefined ? {} : { movedTo }),
      }
    }),
  )
  return [
    ...moves.map(move => moveEntry('move', 'back to', move, view)),
    ...steps.filter(({ path }) => !explained.has(path)).map(step => stepEntry(step, view)),
  ]
}

/** What a call changed. */
export function changeEntries(records: readonly SavedRecord[], view: ChangeView): Entry[] {
  const all = records.flatMap(record => record.changes.map(change => ({ record, change })))
  const { moves, explained } = findMoves(
    all.map(({ change: { path, entry, before, after, content } }) => ({
      path,
      entry,
      kind: after === undefined ? 'goes' : before === undefined ? 'comes' : 'stays',
      ...(typeof content === 'object' && 'movedTo' in content ? { movedTo: content.movedTo } : {}),
    })),
  )
  return [
    ...moves.map(move => moveEntry('moved', 'to', move, view)),
    ...all
      .filter(({ change }) => !explained.has(change.path))
      .map(({ record, change }) => changeEntry(record, change, view)),
  ]
}

function moveEntry(verb: string, word: string, { from, to, files }: Move, { cwd }: View): Entry {
  const count = files === 1 ? '' : `  (${files} files)`
  return { line: `  ${verb.padEnd(7)} ${shownPath(from, cwd)} ${word} ${shownPath(to, cwd)}${count}` }
}

function stepEntry({ path, now, then }: UndoStep, view: View): Entry {
  const verb = then === undefined ? 'delete' : now === undefined ? 'create' : 'restore'
  const shown = shownPath(path, view.cwd)
  const line = `  ${verb.padEnd(7)} ${shown}${describeState(then)}`
  if ((now ?? then)?.entry !== 'file' || (then ?? now)?.entry !== 'file') return { line }
  const full = (): string => withDiff(line, shown, view, [contentOf(now, view), contentOf(then, view)])
  return { line, full }
}

function changeEntry(record: SavedRecord, change: Change, view: ChangeView): Entry {
  const { cwd, output } = view
  const { entry, before, after, content } = change
  const path = shownPath(change.path, cwd)
  const line = `  ${change.change.padEnd(7)} ${path}`
  if (entry !== 'file') return { line }
  if (typeof content === 'object' && 'movedTo' in content)
    return { line: withNote(line, `moved to ${shownPath(content.movedTo, cwd)}`, output) }
  if (before?.sha256 !== undefined && before.sha256 === after?.sha256)
    return { line: withNote(line, `mode ${octal(before.mode)} → ${octal(after.mode)}`, output) }
  const full = (): string =>
    withDiff(line, path, view, [oldContent(record, change, view), newContent(change, view)])
  return { line, full }
}

/** What a file holds, or why that cannot be shown. */
type Content = Uint8Array | { readonly missing: string }

const EMPTY = new Uint8Array()
const TOO_LARGE: Content = { missing: 'too large' }
const NOT_KEPT: Content = { missing: 'the old content is no longer kept' }

function oldContent(record: SavedRecord, change: Change, { runtime, contentWith }: ChangeView): Content {
  const { before, undoable } = change
  if (before === undefined) return EMPTY
  if (undoable === false) return { missing: 'the old content was more than undo could keep' }
  if (before.size > LARGEST_SHOWN) return TOO_LARGE
  return tryRead(() => runtime.readKept(record, change)) ?? contentWith(before.sha256 ?? '') ?? NOT_KEPT
}

/** The content after the change: the file still has it, or whatever changed the file again has kept it. */
function newContent({ path, after }: Change, { contentWith }: ChangeView): Content {
  if (after === undefined) return EMPTY
  if (after.size > LARGEST_SHOWN) return TOO_LARGE
  // One that has another size now may be too large to be read.
  const now = tryRead(() => (statSync(path).size === after.size ? readFileSync(path) : undefined))
  if (now !== undefined && hash('sha256', now) === after.sha256) return now
  return (
    contentWith(after.sha256 ?? '') ?? { missing: 'the file was changed later, and this content is not kept' }
  )
}

function contentOf(state: PathState | undefined, { runtime }: View): Content {
  if (state === undefined) return EMPTY
  if (state.state.size > LARGEST_SHOWN) return TOO_LARGE
  const { content } = state
  if (content === undefined) return NOT_KEPT
  const read = (): Uint8Array =>
    content.from === 'disk' ? readFileSync(content.path) : runtime.readKept(content.record, content.change)
  return tryRead(read) ?? NOT_KEPT
}

function tryRead(read: () => Uint8Array | undefined): Uint8Array | undefined {
  try {
    return read()
  } catch {
    // A diff that cannot be shown must not keep the list from being shown.
    return undefined
  }
}

function withDiff(line: string, path: string, view: View, contents: readonly [Content, Content]): string {
  const [before, after] = contents
  const { output, runtime } = view
  if (!(before instanceof Uint8Array)) return withNote(line, `no diff: ${before.missing}`, output)
  if (!(after instanceof Uint8Array)) return withNote(line, `no diff: ${after.missing}`, output)
  const problem = notText(before) ?? notText(after)
  if (problem !== undefined) return withNote(line, `no diff: ${problem}`, output)
  const { diff } = summarizeDiff(toText(before), toText(after), path)
  if (diff === null) return withNote(line, 'no diff: too much was changed', output)
  // Screens are recorded and shared: what comes back is told, the secret in it is not.
  const shown = toVisible(runtime.redact(diff.trimEnd()))
  return diff === '' ? line : `${line}\n${indent(colorDiff(shown, output))}`
}

function withNote(line: string, note: string, output: Output): string {
  return `${line}  ${output.style('dim', `(${note})`)}`
}

function notText(bytes: Uint8Array): string | undefined {
  if (isUtf8(bytes) && !bytes.includes(0)) return undefined
  const [first, second] = bytes
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  if (isUtf16) return 'UTF-16, not UTF-8'
  return bytes.includes(0) ? 'binary' : 'not UTF-8'
}

function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function octal(mode: number): string {
  return mode.toString(8).padStart(3, '0')
}

function indent(text: string): string {
  return text
    .split('\n')
    .map(line => `    ${line}`)
    .join('\n')
}

function describeState(state: PathState | undefined): string {
  if (state?.entry !== 'file') return ''
  const { size, sha256 } = state.state
  return `  (${size} bytes, sha256 ${sha256?.slice(0, 12) ?? '?'}…)`
}
