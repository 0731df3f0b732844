import { join } from 'node:path'
import { readTag, typeOfObject } from './object-store.ts'
import { type Repository, readBounded } from './repository.ts'

/**
 * Whether a word that git takes for a revision is a content or a folder: its number, the beginning of it, or a tag or branch
 * of it. `TREE:k.txt` and `TREE -- k.txt` print a file of that folder, by a name that no rule knows it by.
 */
export function isContent(place: Repository, word: string): boolean {
  const { shared = place.repository } = place
  const objects = join(shared, 'objects')
  // Of `v1.0-3-g1a2b3c4`, which `git describe` prints, git reads nothing but the number, whatever it stands for.
  const number = /^(?:.+-g)?([0-9a-f]{4,64})$/is.exec(word)?.[1]?.toLowerCase()
  try {
    const numbers = [number ?? [], targetsOf(place, word)].flat()
    // Objects whose numbers are longer than those of SHA-1 are not read here.
    const isOther = numbers.length > 0 && /objectformat/i.test(`${readBounded(join(shared, 'config'))}`)
    return isOther || numbers.some(each => leadsToContent(objects, each))
  } catch {
    // Not one that can be looked at.
    return true
  }
}

function leadsToContent(objects: string, number: string, depth = 0): boolean {
  const type = typeOfObject(objects, number)
  if (type !== 'tag' || depth > MOST_TAGS) return type === 'blob' || type === 'tree'
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
  const listed = packed.filter(line => names.includes(line.replace(/^\w+ /, '')))
  // A name may stand for another one.
  const further = loose.flatMap(text => /^ref:\s*(.+)$/.exec(text)?.[1] ?? [])
  return [
    // FETCH_HEAD says behind the number where it is from.
    ...[...loose, ...listed].flatMap(text => /^[0-9a-f]{40,64}(?=\s|$)/.exec(text) ?? []),
    ...further.flatMap(name => targetsOf(place, name, depth + 1)),
  ]
}
