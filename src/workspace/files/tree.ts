import { closeSync, linkSync, lstatSync, renameSync, rmdirSync, type Stats, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { EntryState } from '../../core/effects.ts'
import { ToolError } from '../../core/errors.ts'
import { type ChangeRecord, type ContentSource, INLINE_BYTES, type Owner } from '../undo/undo-record.ts'
import { changedMeanwhile, OURSELVES, observeLink, openRegular, PERMISSION_BITS } from './entry.ts'
import { hashFile, readAll, sha256 } from './file-content.ts'
import { type PinnedDirectory, pinChild } from './pinned-directory.ts'

/** One entry of a tree as it was found. */
export interface TreeEntry {
  /** Names from the root of the tree; empty for the root. */
  readonly names: readonly string[]
  readonly path: string
  readonly entry: 'file' | 'directory' | 'link'
  readonly state: EntryState
  readonly target?: string
  readonly content?: ContentSource
  readonly owner?: Owner
  /** To recognise the same entry, unchanged, later. */
  readonly identity: string
}

export interface SurveyOptions {
  /** Called for every path before anything is done with it; throws to refuse the whole tree. */
  readonly check: (path: string, names: readonly string[]) => void
  /** Keeps the contents here, for a tree that is about to be removed. */
  readonly keep?: ChangeRecord
}

/** Looks at an entry and everything below it, a folder before what is in it. Links are not followed. */
export async function surveyTree(
  folder: PinnedDirectory,
  name: string,
  options: SurveyOptions,
): Promise<TreeEntry[]> {
  const found: TreeEntry[] = []
  const visit = async (parent: PinnedDirectory, child: string, names: readonly string[]): Promise<void> => {
    const path = join(parent.real, child)
    options.check(path, names)
    const stat = lstatSync(parent.at(child), { throwIfNoEntry: false })
    if (stat === undefined) throw child.includes('\uFFFD') ? unreadableName(path) : changedMeanwhile(path)
    const place = { names, path, ...ownerOf(stat) }
    if (!stat.isDirectory()) {
      found.push({ ...place, ...(await surveyLeaf(parent, child, stat, options.keep)) })
      return
    }
    const state = { mode: stat.mode & PERMISSION_BITS, size: 0 }
    found.push({ ...place, entry: 'directory', state, identity: `${stat.ino}` })
    const below = pinChild(parent, child)
    try {
      for (const each of below.names()) await visit(below, each, [...names, each])
    } finally {
      below.close()
    }
  }
  await visit(folder, name, [])
  return found
}

type Leaf = Pick<TreeEntry, 'entry' | 'state' | 'target' | 'content' | 'identity'>

async function surveyLeaf(
  folder: PinnedDirectory,
  name: string,
  stat: Stats,
  record: ChangeRecord | undefined,
): Promise<Leaf> {
  if (stat.isSymbolicLink()) {
    const { target, state } = observeLink(folder.at(name))
    return { entry: 'link', state, target, identity: identityOf(stat) }
  }
  if (!stat.isFile()) {
    throw new ToolError(
      'invalid_input',
      `Only files, folders and links can be moved or removed: ${join(folder.real, name)}`,
      {
        hint: 'A pipe, socket or device cannot be put back by undo.',
      },
    )
  }
  const file = openRegular(folder, name, stat)
  if (file === undefined) throw changedMeanwhile(join(folder.real, name))
  try {
    const mode = file.stat.mode & PERMISSION_BITS
    const { nlink } = file.stat
    const identity = identityOf(file.stat)
    if (file.stat.size <= INLINE_BYTES) {
      const bytes = await readAll(file.descriptor, file.stat.size)
      const hash = sha256(bytes)
      const state = { mode, size: bytes.length, sha256: hash }
      const content = await record?.keepDeleted(folder.at(name), { ...state, nlink, read: () => bytes })
      return { entry: 'file', state, identity, ...(content === undefined ? {} : { content }) }
    }
    const hashed = await hashFile(file.descriptor, file.stat.size)
    const content = await record?.keepDeleted(folder.at(name), { ...hashed, nlink })
    return {
      entry: 'file',
      state: { mode, ...hashed },
      identity,
      ...(content === undefined ? {} : { content }),
    }
  } finally {
    closeSync(file.descriptor)
  }
}

/** Whether a tree is still exactly what was surveyed, judged without reading the contents again. */
export function isUnchanged(folder: PinnedDirectory, name: string, survey: readonly TreeEntry[]): boolean {
  const known = new Map(survey.map(each => [each.names.join('/'), each.identity]))
  let seen = 0
  const visit = (parent: PinnedDirectory, child: string, names: readonly string[]): boolean => {
    const stat = lstatSync(parent.at(child), { throwIfNoEntry: false })
    if (stat === undefined) return false
    const identity = stat.isDirectory() ? `${stat.ino}` : identityOf(stat)
    if (known.get(names.join('/')) !== identity) return false
    seen += 1
    if (!stat.isDirectory()) return true
    const below = pinChild(parent, child)
    try {
      return below.names().every(each => visit(below, each, [...names, each]))
    } finally {
      below.close()
    }
  }
  return visit(folder, name, []) && seen === survey.length
}

/**
 * Removes a tree. With a survey, what was surveyed and nothing else: a folder that holds something new stays, with it.
 * False: one did.
 */
export function removeTree(folder: PinnedDirectory, name: string, survey?: readonly TreeEntry[]): boolean {
  const known = survey === undefined ? undefined : new Set(survey.map(each => each.names.join('/')))
  const visit = (parent: PinnedDirectory, child: string, names: readonly string[]): boolean => {
    if (known?.has(names.join('/')) === false) return false
    const stat = lstatSync(parent.at(child), { throwIfNoEntry: false })
    if (stat === undefined) return true
    if (!stat.isDirectory()) {
      unlinkSync(parent.at(child))
      return true
    }
    const below = pinChild(parent, child)
    let empty = true
    try {
      for (const each of below.names()) empty = visit(below, each, [...names, each]) && empty
    } finally {
      below.close()
    }
    if (empty) rmdirSync(parent.at(child))
    return empty
  }
  return visit(folder, name, [])
}

/** Nothing that came to the old name meanwhile is replaced: then the tree keeps its temporary name, which is said. */
export function putBack(folder: PinnedDirectory, temporary: string, name: string): void {
  const stat = lstatSync(folder.at(temporary))
  if (!stat.isDirectory()) {
    linkSync(folder.at(temporary), folder.at(name))
    unlinkSync(folder.at(temporary))
    return
  }
  if (lstatSync(folder.at(name), { throwIfNoEntry: false }) !== undefined) {
    throw new ToolError(
      'conflict',
      `A new entry took the place of the folder; the old one is at ${folder.real}/${temporary}`,
    )
  }
  renameSync(folder.at(temporary), folder.at(name))
}

function unreadableName(path: string): ToolError {
  return new ToolError('failed', `The folder contains a file whose name is not valid UTF-8: ${path}`)
}

/** Only what is not ours by itself needs to be remembered. */
export function ownerOf({ uid, gid }: Stats): { owner?: Owner } {
  return uid === OURSELVES.uid && gid === OURSELVES.gid ? {} : { owner: { uid, gid } }
}

function identityOf(stat: Stats): string {
  return `${stat.ino} ${stat.size} ${stat.mtimeMs}`
}
