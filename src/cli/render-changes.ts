import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { summarizeDiff } from '../core/unified-diff.ts'
import { toVisible } from '../core/visible.ts'
import type { Runtime } from '../runtime.ts'
import type { PathState, UndoStep } from '../workspace/undo-plan.ts'
import type { SavedRecord } from '../workspace/undo-read.ts'
import type { Change } from '../workspace/undo-record.ts'
import type { Output } from './output.ts'
import { colorDiff } from './render-result.ts'

const LARGEST_SHOWN = 256 * 1024

/** One path of an undo: what it is now, what it will be, and the difference. */
export function renderStep(step: UndoStep, runtime: Runtime, output: Output): string {
  const { path, now, then } = step
  const verb = then === undefined ? 'delete' : now === undefined ? 'create' : 'restore'
  const line = `  ${verb.padEnd(7)} ${shownPath(path, runtime)}${describeState(then)}`
  if ((now ?? then)?.entry !== 'file' || (then ?? now)?.entry !== 'file') return line
  return withDiff(line, shownPath(path, runtime), output, [contentOf(now, runtime), contentOf(then, runtime)])
}

/** One change that a call made. */
export function renderChange(record: SavedRecord, change: Change, runtime: Runtime, output: Output): string {
  const { entry, before, after, content } = change
  const path = shownPath(change.path, runtime)
  const line = `  ${change.change.padEnd(7)} ${path}`
  if (entry !== 'file') return line
  if (typeof content === 'object' && 'movedTo' in content)
    return withNote(line, `moved to ${shownPath(content.movedTo, runtime)}`, output)
  if (before?.sha256 !== undefined && before.sha256 === after?.sha256)
    return withNote(line, `mode ${octal(before.mode)} → ${octal(after.mode)}`, output)
  return withDiff(line, path, output, [oldContent(record, change, runtime), currentContent(change)])
}

/** What a file holds, or why that cannot be shown. */
type Content = Uint8Array | { readonly missing: string }

const EMPTY = new Uint8Array()
const TOO_LARGE: Content = { missing: 'too large' }

function oldContent(record: SavedRecord, change: Change, runtime: Runtime): Content {
  if (change.before === undefined) return EMPTY
  if (change.undoable === false) return { missing: 'the old content was too large to be kept' }
  if (change.before.size > LARGEST_SHOWN) return TOO_LARGE
  return kept(() => runtime.readKept(record, change))
}

/** The content after the change, if the file still has it; a later state would be somebody else's. */
function currentContent({ path, after }: Change): Content {
  if (after === undefined) return EMPTY
  if (after.size > LARGEST_SHOWN) return TOO_LARGE
  try {
    const bytes = readFileSync(path)
    return hash('sha256', bytes) === after.sha256 ? bytes : { missing: 'the file was changed later' }
  } catch {
    return { missing: 'the file is gone or cannot be read now' }
  }
}

function contentOf(state: PathState | undefined, runtime: Runtime): Content {
  if (state === undefined) return EMPTY
  if (state.state.size > LARGEST_SHOWN) return TOO_LARGE
  const { content } = state
  if (content === undefined) return { missing: 'the old content is not kept any more' }
  return kept(() =>
    content.from === 'disk' ? readFileSync(content.path) : runtime.readKept(content.record, content.change),
  )
}

function kept(read: () => Uint8Array): Content {
  try {
    return read()
  } catch {
    return { missing: 'the old content is not kept any more' }
  }
}

function withDiff(line: string, path: string, output: Output, contents: readonly [Content, Content]): string {
  const [before, after] = contents
  if (!(before instanceof Uint8Array)) return withNote(line, `no diff: ${before.missing}`, output)
  if (!(after instanceof Uint8Array)) return withNote(line, `no diff: ${after.missing}`, output)
  const problem = notText(before) ?? notText(after)
  if (problem !== undefined) return withNote(line, `no diff: ${problem}`, output)
  const { diff } = summarizeDiff(toText(before), toText(after), path)
  if (diff === null) return withNote(line, 'no diff: too much was changed', output)
  return diff === '' ? line : `${line}\n${indent(colorDiff(toVisible(diff.trimEnd()), output))}`
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

function shownPath(path: string, runtime: Runtime): string {
  const near = relative(runtime.cwd, path)
  return toVisible(near.startsWith('..') ? path : near)
}
