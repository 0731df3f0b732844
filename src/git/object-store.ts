import { closeSync, constants, lstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { namesIn } from '../core/names-in.ts'
import { LARGEST_OBJECT, type ObjectType, openPack, type Pack } from './pack.ts'

/**
 * Every path that a tree of the store names, relative to the top of the repository: of all branches, tags, stashes and
 * reflogs, and of what nothing refers to any more. The same array as long as the store holds the same objects. Null: there
 * are too many, or some cannot be read.
 */
export function storedPaths(objects: string): readonly string[] | null {
  return storeOf(objects)?.paths ?? null
}

/**
 * The files of the store that hold contents without a name: no tree has them, and no index for which `isNamed` answers. Git
 * needs none of them. Null: they lie among other objects, or cannot be known.
 */
export function namelessFiles(objects: string, isNamed: (hash: string) => boolean): string[] | null {
  const store = storeOf(objects)
  if (store?.paths == null) return null
  const hasNone = (hash: string): boolean => !store.blobs.has(hash) && !isNamed(hash)
  const packs = new Set([...store.packed].flatMap(([hash, pack]) => (hasNone(hash) ? [pack] : [])))
  const files = [...packs].flatMap(name => packOfLeftovers(join(objects, 'pack', name)) ?? [null])
  const loose = [...store.contents].filter(hasNone).map(hash => pathOf(objects, hash))
  return files.includes(null) ? null : [...loose, ...files.filter(file => file !== null)]
}

/** A pack into which git has put what nothing refers to, and no other object: it says when each was last needed. */
function packOfLeftovers(index: string): string[] | undefined {
  const isOne = lstatSync(index.replace(/idx$/, 'mtimes'), { throwIfNoEntry: false }) !== undefined
  return isOne ? [index, index.replace(/idx$/, 'pack')] : undefined
}

function storeOf(objects: string): Store | null {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const { stamp, isSettled } = stampOf(objects)
    const before = known.get(objects)
    if (before?.stamp === stamp && before.isSettled) return before
    const store = { ...learnt(objects, stamp, before), isSettled }
    // Git may be about to pack the objects: what was not found at its place may lie at another by now.
    if (stampOf(objects).stamp !== stamp) continue
    known.set(objects, store)
    return store
  }
  return null
}

function learnt(objects: string, stamp: string, before: Store | undefined): Store {
  const loose = looseIn(objects)
  const isGrown =
    before?.paths != null &&
    before.isWhole &&
    before.packs.every(name => stamp.includes(`${name} `)) &&
    [...before.loose].every(hash => loose.has(hash))
  const store: Store = isGrown ? { ...before, stamp } : { ...EMPTY(), stamp }
  try {
    learn(objects, loose, store)
    const isSame = isGrown && before.paths?.length === store.names.size
    store.paths = isSame ? before.paths : [...store.names]
  } catch {
    // Damaged, of another format, or more than can be looked at: nobody knows what is in it.
    store.paths = null
  }
  return store
}

/** What kind of object a number, or its beginning, stands for; undefined: none, or several. */
export function typeOfObject(objects: string, prefix: string): ObjectType | undefined {
  if (!/^[0-9a-f]{4,40}$/.test(prefix)) return undefined
  const found = namesIn(join(objects, prefix.slice(0, 2))).filter(name => name.startsWith(prefix.slice(2)))
  const packs = openPacks(objects)
  try {
    for (const pack of packs) {
      const type = pack.typeOf(prefix)
      if (type !== undefined) return type
    }
  } finally {
    for (const pack of packs) pack.close()
  }
  const [name] = found
  return name === undefined ? undefined : looseType(join(objects, prefix.slice(0, 2), name))
}

/** The text of a tag, by its number or the beginning of it. */
export function readTag(objects: string, prefix: string): string | undefined {
  const packs = openPacks(objects)
  try {
    const bodies = packs.map(pack => pack.read(prefix))
    const [name] = namesIn(join(objects, prefix.slice(0, 2))).filter(each => each.startsWith(prefix.slice(2)))
    const hash = name === undefined ? prefix : `${prefix.slice(0, 2)}${name}`
    return (bodies.find(body => body !== undefined) ?? readLoose(objects, hash))?.toString('latin1')
  } finally {
    for (const pack of packs) pack.close()
  }
}

interface Store {
  stamp: string
  isSettled: boolean
  packs: string[]
  loose: ReadonlySet<string>
  trees: Set<string>
  /** Trees that were looked at, each with where it lies. */
  seen: Set<string>
  names: Set<string>
  /** Contents that a tree names. */
  blobs: Set<string>
  /** Contents that lie in a file of their own. */
  contents: Set<string>
  /** Contents in packs that no tree names, each with its pack. */
  packed: Map<string, string>
  /** No tree was missing: one that comes later would be read at the wrong place. */
  isWhole: boolean
  paths: readonly string[] | null
}

const EMPTY = (): Store => ({
  stamp: '',
  isSettled: false,
  packs: [],
  loose: new Set(),
  trees: new Set(),
  seen: new Set(),
  names: new Set(),
  blobs: new Set(),
  contents: new Set(),
  packed: new Map(),
  isWhole: true,
  paths: null,
})

// To look through a history takes seconds; what changes between two calls is a few objects.
const known = new Map<string, Store>()
const MOST_OBJECTS = 3_000_000
const MOST_TREES = 300_000
const MOST_NAMES = 500_000

/** New objects come as new files; what is in a file never changes. */
function stampOf(objects: string): { stamp: string; isSettled: boolean } {
  const folders = namesIn(objects).filter(name => FOLDER.test(name))
  const times = [...folders, 'pack'].map(
    name => lstatSync(join(objects, name), { throwIfNoEntry: false, bigint: true })?.mtimeNs ?? 0n,
  )
  const newest = Math.max(...times.map(time => Number(time / 1_000_000n)))
  return {
    stamp: [...packsIn(objects).map(name => `${name} `), ...folders, ...times].join('\n'),
    // Times are as coarse as two seconds on some disks: within them another object need not show.
    isSettled: Date.now() - newest > SETTLED_MS,
  }
}

const SETTLED_MS = 3000
const FOLDER = /^[0-9a-f]{2}$/

function packsIn(objects: string): string[] {
  return namesIn(join(objects, 'pack')).filter(name => name.endsWith('.idx'))
}

function openPacks(objects: string): Pack[] {
  const packs: Pack[] = []
  try {
    for (const name of packsIn(objects)) packs.push(openPack(join(objects, 'pack', name)))
    return packs
  } catch (error) {
    for (const pack of packs) pack.close()
    throw error
  }
}

function learn(objects: string, loose: ReadonlySet<string>, store: Store): void {
  const names = packsIn(objects)
  const packs = openPacks(objects)
  try {
    const commits: string[] = []
    const trees: string[] = []
    let count = 0
    const note = (hash: string, type: ObjectType): void => {
      if (type === 'commit') commits.push(hash)
      if (type === 'tree') trees.push(hash)
      count += 1
      if (count > MOST_OBJECTS) throw new Error('too many objects')
    }
    const added = packs.map((pack, index) => ({ pack, name: names[index] ?? '' }))
    const fresh = added.filter(({ name }) => !store.packs.includes(name))
    for (const { pack } of fresh) for (const [hash, type] of pack.types()) note(hash, type)
    for (const hash of loose) {
      if (store.loose.has(hash)) continue
      const type = looseType(pathOf(objects, hash))
      if (type === 'blob') store.contents.add(hash)
      note(hash, type)
    }
    const read = (hash: string): Buffer | undefined => {
      for (const pack of packs) {
        const body = pack.read(hash)
        if (body !== undefined) return body
      }
      return readLoose(objects, hash)
    }
    for (const commit of commits) {
      const root = /^tree ([0-9a-f]{40})$/m.exec(read(commit)?.toString('latin1', 0, 46) ?? '')?.[1]
      if (root !== undefined) walk(root, store, read)
    }
    // What no commit has: of a stash that was dropped, or written by hand.
    for (const tree of trees) if (!store.trees.has(tree)) walk(tree, store, read)
    for (const { pack, name } of fresh)
      for (const [hash, type] of pack.types())
        if (type === 'blob' && !store.blobs.has(hash)) store.packed.set(hash, name)
    Object.assign(store, { packs: names, loose })
  } finally {
    for (const pack of packs) pack.close()
  }
}

function looseIn(objects: string): Set<string> {
  const folders = namesIn(objects).filter(name => FOLDER.test(name))
  const all = folders.flatMap(folder => namesIn(join(objects, folder)).map(name => `${folder}${name}`))
  return new Set(all.filter(hash => /^[0-9a-f]{40}$/.test(hash)))
}

function walk(root: string, store: Store, read: (hash: string) => Buffer | undefined): void {
  const { trees, seen, names, blobs } = store
  const open: [hash: string, path: string][] = [[root, '']]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [hash, path] = next
    trees.add(hash)
    const key = `${hash}${path}`
    if (seen.has(key)) continue
    seen.add(key)
    if (seen.size > MOST_TREES || names.size > MOST_NAMES) throw new Error('too many files')
    const body = read(hash)
    if (body === undefined) {
      // A clone may have only a part of the history, and git may be about to write the rest of it.
      store.isWhole = false
      continue
    }
    for (const { name, isFolder, child } of entriesOf(body)) {
      if (isFolder) {
        open.push([child, `${path}${name}/`])
        continue
      }
      names.add(`${path}${name}`)
      blobs.add(child)
    }
  }
}

/** `mode name\0hash`, one after the other. */
function* entriesOf(body: Buffer): Iterable<{ name: string; isFolder: boolean; child: string }> {
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(32, at)
    const end = body.indexOf(0, space)
    if (space === -1 || end === -1) throw new Error('not a tree')
    // `40000`; early tools wrote a zero before it.
    const mode = Number.parseInt(body.toString('latin1', at, space), 8)
    yield {
      name: body.toString('utf8', space + 1, end),
      isFolder: (mode & 0o170000) === 0o40000,
      child: body.toString('hex', end + 1, end + 21),
    }
    at = end + 21
  }
}

function pathOf(objects: string, hash: string): string {
  return join(objects, hash.slice(0, 2), hash.slice(2))
}

/** Z_SYNC_FLUSH: what is there is enough, though the object goes on. */
const SYNC_FLUSH = 2
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

function looseType(path: string): ObjectType {
  const file = openSync(path, READ_ONLY)
  const start = Buffer.alloc(256)
  try {
    readSync(file, start)
  } finally {
    closeSync(file)
  }
  const head = inflateSync(start, { finishFlush: SYNC_FLUSH }).toString('latin1', 0, 7)
  const type = /^(commit|tree|blob|tag) /.exec(head)?.[1]
  if (type === undefined) throw new Error('not an object')
  // As the pattern says.
  return type as ObjectType
}

function readLoose(objects: string, hash: string): Buffer | undefined {
  const path = pathOf(objects, hash)
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined
  const bytes = inflateSync(readFileSync(path, { flag: READ_ONLY }), { maxOutputLength: LARGEST_OBJECT })
  return bytes.subarray(bytes.indexOf(0) + 1)
}
