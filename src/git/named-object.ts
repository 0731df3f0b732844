import { join } from 'node:path'
import { readTag, typeOfObject } from './object-store.ts'
import { type Repository, readBounded } from './repository.ts'

/** Whether a word that git takes for a revision is a content: its number, the beginning of it, or a tag or branch of it. */
export function isContent(place: Repository, word: string): boolean {
  const objects = join(place.shared ?? place.repository, 'objects')
  // Of `v1.0-3-g1a2b3c4`, which `git describe` prints, git reads nothing but the number, whatever it stands for.
  const number = /^(?:.+-g)?([0-9a-f]{4,40})$/is.exec(word)?.[1]?.toLowerCase()
  try {
    return [number ?? '', ...targetsOf(place, word)].some(each => leadsToContent(objects, each))
  } catch {
    // Not one that can be looked at.
    return true
  }
}

function leadsToContent(objects: string, number: string, depth = 0): boolean {
  const type = typeOfObject(objects, number)
  if (type !== 'tag' || depth > MOST_TAGS) return type === 'blob'
  const target = /^object ([0-9a-f]{40})$/m.exec(readTag(objects, number) ?? '')?.[1]
  return target !== undefined && leadsToContent(objects, target, depth + 1)
}

/** Tags of tags. */
const MOST_TAGS = 10

/** Where git looks for a name. */
const BEFORE = ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/']

function targetsOf(place: Repository, word: string, depth = 0): string[] {
  // No name of git's has one, and none leads out of the repository.
  if (/\0|(^|\/)\.\.?(\/|$)/.test(word) || depth > MOST_TAGS) return []
  const { repository, shared = repository } = place
  const names = [...BEFORE.map(before => `${before}${word}`), `refs/remotes/${word}/HEAD`]
  const files = names.flatMap(name => [join(repository, name), join(shared, name)])
  const loose = [...new Set(files)].map(file => readBounded(file)?.toString().trim() ?? '')
  const packed = readBounded(join(shared, 'packed-refs'))?.toString().split('\n') ?? []
  const listed = packed.filter(line => names.includes(line.slice(41))).map(line => line.slice(0, 40))
  // A name may stand for another one.
  const further = loose.flatMap(text => /^ref:\s*(.+)$/.exec(text)?.[1] ?? [])
  return [
    ...[...loose, ...listed].filter(text => /^[0-9a-f]{40}$/.test(text)),
    ...further.flatMap(name => targetsOf(place, name, depth + 1)),
  ]
}
