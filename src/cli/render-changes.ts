import { readFileSync } from 'node:fs'
import { toVisible } from '../core/visible.ts'
import type { Runtime } from '../runtime.ts'
import {
  type Content,
  contentAfter,
  contentBefore,
  diffContents,
  EMPTY,
  isTooLarge,
  NOT_KEPT,
  TOO_LARGE,
  tryRead,
} from '../workspace/undo/change-content.ts'
import type { PathState, UndoStep } from '../workspace/undo/undo-plan.ts'
import type { SavedRecord } from '../workspace/undo/undo-read.ts'
import type { Change } from '../workspace/undo/undo-record.ts'
import { findMoves, type Move } from './find-moves.ts'
import type { Output } from './output.ts'
import { colorDiff } from './render-result.ts'
import type { Entry } from './room.ts'
import { shownPath } from './shown-path.ts'

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
  const sources = { readKept: view.runtime.readKept, contentWith: view.contentWith }
  const path = shownPath(change.path, cwd)
  const line = `  ${change.change.padEnd(7)} ${path}`
  if (entry !== 'file') return { line }
  if (typeof content === 'object' && 'movedTo' in content)
    return { line: withNote(line, `moved to ${shownPath(content.movedTo, cwd)}`, output) }
  if (before?.sha256 !== undefined && before.sha256 === after?.sha256)
    return { line: withNote(line, `mode ${octal(before.mode)} → ${octal(after.mode)}`, output) }
  const full = (): string =>
    withDiff(line, path, view, [contentBefore(record, change, sources), contentAfter(change, sources)])
  return { line, full }
}

function contentOf(state: PathState | undefined, { runtime }: View): Content {
  if (state === undefined) return EMPTY
  if (isTooLarge(state.state.size)) return TOO_LARGE
  const { content } = state
  if (content === undefined) return NOT_KEPT
  const read = (): Uint8Array =>
    content.from === 'disk' ? readFileSync(content.path) : runtime.readKept(content.record, content.change)
  return tryRead(read) ?? NOT_KEPT
}

function withDiff(line: string, path: string, view: View, contents: readonly [Content, Content]): string {
  const { output, runtime } = view
  const found = diffContents(path, ...contents)
  if ('missing' in found) return withNote(line, `no diff: ${found.missing}`, output)
  const { diff } = found
  // Screens are recorded and shared: what comes back is told, the secret in it is not.
  const shown = toVisible(runtime.redact(diff.trimEnd()))
  return diff === '' ? line : `${line}\n${indent(colorDiff(shown, output))}`
}

function withNote(line: string, note: string, output: Output): string {
  return `${line}  ${output.style('dim', `(${note})`)}`
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
