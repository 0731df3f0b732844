import { hash } from 'node:crypto'
import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { Effect } from '../../core/effects.ts'
import type { Permit } from '../../core/permit.ts'
import type { ProposedChanges } from '../../core/proposed-changes.ts'
import { summarizeDiff } from '../../core/unified-diff.ts'
import { toLine } from '../../core/visible.ts'
import { isAtOrBelow } from '../../sandbox/layer/overlay-apply.ts'
import type { OverlayChange, OverlayChanges } from '../../sandbox/layer/overlay-changes.ts'
import { few } from '../../sandbox/layer/overlay-commit.ts'
import { viewLayer } from './layer-view.ts'
import { leavingLinks } from './leaving-links.ts'
import { describeChanges, refusalOf } from './record-changes.ts'

/** More than a person could look at, and than is worth hashing, of a line that nobody approved. */
export const MOST_CHANGES = 20_000
export const MOST_OF_NAMES = 1_000_000

/** What a contained command did, as it is judged and shown. */
export async function proposeChanges(
  changes: OverlayChanges,
  permit: Permit,
  note?: string,
): Promise<ProposedChanges> {
  const { workspace, upper } = changes
  const notes = [...(note === undefined ? [] : [note]), ...describeLinks(changes)]
  const effects = await describeChanges(changes)
  const show = (unreadable: ReadonlySet<string>): ShownChanges =>
    showChanges(effects, { workspace, upper, unreadable, notes })
  const all = show(new Set())
  return {
    layer: basename(dirname(upper)),
    root: workspace,
    digest: hash('sha256', canonicalJson(effects) ?? '').slice(0, 32),
    effects,
    leavingLinks: leavingLinks(changes, permit),
    summary: all.summary,
    preview: unreadable => (unreadable.size === 0 ? all : show(unreadable)).text,
  }
}

/**
 * A file of the layer takes the place of one name. To write into the old file instead would change what lies under its
 * other names, which may be outside the workspace.
 */
export function describeLinks({ changes }: OverlayChanges): string[] {
  const written = Map.groupBy(
    changes.filter(({ change, before }) => change === 'changed' && (before?.names ?? 1) > 1),
    ({ before }) => before?.ino,
  )
  const parted = [...written.values()].filter(all => all.length < (all[0]?.before?.names ?? 1)).flat()
  if (parted.length === 0) return []
  const names = few(parted.map(({ path }) => toLine(path)))
  return [`No longer a hard link; the old content stays under the other names: ${names}`]
}

/** The first change that no answer could let through, as the rest of a sentence. */
export function hardRefusal(changes: OverlayChanges, permit: Permit): string | undefined {
  const view = viewLayer(changes)
  for (const change of changes.changes) {
    // What tools run by themselves is asked about, as for a file tool.
    const reason = refusalOf(change, withoutGuard(permit), { ...changes, view })
    if (reason !== null) return `${change.path} may not be changed: ${reason}.`
  }
  return undefined
}

export function withoutGuard({ isGuarded: _, ...permit }: Permit): Permit {
  return permit
}

/** Only what was chosen, with the folders that it needs; a folder goes only when all that is in it goes. */
export function selectChanges(changes: OverlayChanges, paths: readonly string[]): OverlayChanges {
  const chosen = paths.map(path => relative(changes.workspace, path))
  const isChosen = (path: string): boolean => chosen.some(each => each === '' || isAtOrBelow(path, each))
  const left = changes.changes.filter(({ path }) => !isChosen(path))
  const leads = (folder: OverlayChange): boolean =>
    folder.entry === 'directory' &&
    folder.change === 'created' &&
    changes.changes.some(({ path }) => isChosen(path) && isAtOrBelow(path, folder.path))
  const stays = (folder: OverlayChange): boolean =>
    folder.change === 'deleted' && left.some(({ path }) => isAtOrBelow(path, folder.path))
  return {
    ...changes,
    changes: changes.changes.filter(each => (isChosen(each.path) ? !stays(each) : leads(each))),
    touched: changes.touched.filter(({ path }) => isChosen(path)),
  }
}

/** Characters of diffs in one question. */
const MOST_SHOWN = 1_000_000
const LARGEST_TEXT = 512 * 1024
/** Of two such texts. No diff is cut: it is shown whole or not at all. */
const LONGEST_DIFF = 8 * LARGEST_TEXT

interface Sides {
  /** What the rows do not show, a line each. */
  readonly notes: readonly string[]
  readonly workspace: string
  readonly upper: string
  readonly unreadable: ReadonlySet<string>
}

interface ShownChanges {
  readonly summary: string
  readonly text: string
}

/** Every entry is named, and text is shown. When all diffs together are too long, the longest are left out and say so. */
function showChanges(effects: readonly Effect[], sides: Sides): ShownChanges {
  const rows = withoutLongest(effects.map(effect => ({ effect, ...diffOf(effect, sides) })))
  const added = rows.reduce((sum, row) => sum + row.added, 0)
  const removed = rows.reduce((sum, row) => sum + row.removed, 0)
  const kept = rows.filter(({ effect }) => effect.change !== 'deleted')
  const gone = rows.filter(({ effect }) => effect.change === 'deleted')
  const count = (rows: readonly unknown[], word: string): string => `${rows.length} ${word}`
  const summary = [
    count(kept, kept.length === 1 ? 'entry written' : 'entries written'),
    ...(gone.length === 0 ? [] : [`${gone.length} deleted`]),
    `+${added} -${removed} lines`,
  ].join(', ')
  const lines = [
    summary,
    ...kept.map(each => row(each, sides)),
    ...(gone.length === 0 ? [] : ['Deleted:']),
    ...gone.map(({ effect }) => `  ${toLine(relative(sides.workspace, effect.path))}`),
    ...sides.notes,
    ...(rows.some(isUnshown) ? [`What is not shown can be read in ${toLine(sides.upper)}`] : []),
  ]
  return { summary, text: `${lines.join('\n')}\n\n${rows.map(({ diff }) => diff).join('')}`.trimEnd() }
}

/** The longest, so that one large file cannot hide a small change in another. */
function withoutLongest(rows: readonly Row[]): Row[] {
  const shortest = rows.toSorted((a, b) => a.diff.length - b.diff.length)
  let room = MOST_SHOWN
  const shown = new Set(
    shortest.filter(({ diff }) => {
      room -= diff.length
      return room >= 0
    }),
  )
  return rows.map(row => (shown.has(row) ? row : { ...row, diff: '' }))
}

interface Row {
  readonly effect: Effect
  readonly diff: string
  readonly added: number
  readonly removed: number
}

function row(each: Row, { workspace, upper, unreadable }: Sides): string {
  const { effect, added, removed } = each
  const { change, path, entry, after, before } = effect
  const inside = relative(workspace, path)
  const name = toLine(inside)
  if (entry === 'link') return `  link ${name} -> ${toLine(readlinkSync(join(upper, inside)))}`
  const mode = newMode(effect)
  if (entry === 'directory')
    return `  ${change === 'created' ? 'new folder' : 'folder'} ${name}${mode === '' ? '' : ` (${mode})`}`
  const size = added + removed === 0 ? `${after?.size ?? 0} bytes` : `+${added} -${removed}`
  const facts = [
    size,
    ...(isUnshown(each) ? ['content not shown'] : []),
    ...(unreadable.has(path) ? [`was ${before?.size} bytes`, `sha256 ${after?.sha256?.slice(0, 16)}…`] : []),
    ...(mode === '' ? [] : [mode]),
  ].join(', ')
  return `  ${change === 'created' ? 'new' : 'changed'} ${name} (${facts})`
}

function isUnshown({ effect: { change, entry, before, after }, diff }: Row): boolean {
  const hasContent = entry === 'file' && change !== 'deleted' && after?.size !== 0
  return hasContent && diff === '' && before?.sha256 !== after?.sha256
}

/** Who may do what with it, where that is new, and where a new file can be run. */
function newMode({ entry, before, after }: Effect): string {
  if (after === undefined || before?.mode === after.mode) return ''
  const shown = (mode: number): string => mode.toString(8).padStart(3, '0')
  if (before !== undefined) return `mode ${shown(before.mode)} -> ${shown(after.mode)}`
  return entry === 'file' && (after.mode & 0o111) !== 0 ? `mode ${shown(after.mode)}` : ''
}

function diffOf(
  { entry, path, before, after, change }: Effect,
  { workspace, upper, unreadable }: Sides,
): Omit<Row, 'effect'> {
  const none = { diff: '', added: 0, removed: 0 }
  if (entry !== 'file' || unreadable.has(path)) return none
  const name = relative(workspace, path)
  const old = before === undefined ? '' : readText(path, before.size)
  const fresh = change === 'deleted' || after === undefined ? '' : readText(join(upper, name), after.size)
  if (old === undefined || fresh === undefined) return none
  const { diff, added, removed } = summarizeDiff(old, fresh, name, LONGEST_DIFF)
  // Deletions are listed; their content is in the way of what is new.
  return { diff: change === 'deleted' ? '' : (diff ?? ''), added, removed }
}

/** Undefined for what is no text, or too much of it. */
function readText(path: string, size: number): string | undefined {
  if (size > LARGEST_TEXT || lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  const bytes = readFileSync(path)
  return bytes.includes(0) ? undefined : bytes.toString('utf8')
}
