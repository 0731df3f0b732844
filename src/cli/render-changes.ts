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
  return withDiff(
    line,
    shownPath(path, runtime),
    () => [contentOf(now, runtime), contentOf(then, runtime)],
    output,
  )
}

/** One change that a call made. */
export function renderChange(record: SavedRecord, change: Change, runtime: Runtime, output: Output): string {
  const line = `  ${change.change.padEnd(7)} ${shownPath(change.path, runtime)}`
  if (change.entry !== 'file') return line
  const before = () => (change.before === undefined ? EMPTY : runtime.readKept(record, change))
  return withDiff(line, shownPath(change.path, runtime), () => [before(), currentContent(change)], output)
}

const EMPTY = new Uint8Array()

/** The content after the change, if the file still has it; a later state would be somebody else's. */
function currentContent({ path, after }: Change): Uint8Array | undefined {
  if (after === undefined) return EMPTY
  if (after.size > LARGEST_SHOWN) return undefined
  try {
    const bytes = readFileSync(path)
    return hash('sha256', bytes) === after.sha256 ? bytes : undefined
  } catch {
    // Gone or not readable: no difference can be shown.
    return undefined
  }
}

function contentOf(state: PathState | undefined, runtime: Runtime): Uint8Array | undefined {
  if (state === undefined) return EMPTY
  if (state.entry !== 'file' || state.state.size > LARGEST_SHOWN || state.content === undefined)
    return undefined
  const { content } = state
  return content.from === 'disk'
    ? readFileSync(content.path)
    : runtime.readKept(content.record, content.change)
}

function withDiff(
  line: string,
  path: string,
  contents: () => readonly [Uint8Array | undefined, Uint8Array | undefined],
  output: Output,
): string {
  const [before, after] = tryContents(contents)
  if (before === undefined || after === undefined || isBinary(before) || isBinary(after)) return line
  const { diff } = summarizeDiff(toText(before), toText(after), path)
  return diff === '' || diff === null
    ? line
    : `${line}\n${indent(colorDiff(toVisible(diff.trimEnd()), output))}`
}

function tryContents(contents: () => readonly [Uint8Array | undefined, Uint8Array | undefined]) {
  try {
    return contents()
  } catch {
    // Not kept any more: the path alone is shown.
    return [undefined, undefined] as const
  }
}

function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8192).includes(0)
}

function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
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
