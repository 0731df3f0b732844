import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { CommandPermit } from '../../core/command.ts'
import { isInside } from '../../core/real-path.ts'
import { writeWhole } from '../../core/write-whole.ts'
import { listCandidates } from './hidden-paths.ts'
import { packageStores } from './open-folders.ts'
import type { CommandParts } from './parts.ts'

// Packages hold keys, too: in data for tests, or because they are private. Stores have hundreds of thousands of files and
// change only when a person installs something, so what was found in them is kept for a while, beside the caches of the
// workspace. Nothing that a command writes gets there.

const FRESH_MS = 60_000
/** Each is a wall of its own, and each takes longer than the one before. A store with more is not seen at all. */
const MOST_IN_STORE = 200

const knownSchema = z.object({
  rules: z.string(),
  stores: z.record(z.string(), z.object({ at: z.number(), candidates: z.array(z.string()).nullable() })),
})
type Known = z.infer<typeof knownSchema>

/** What a contained line must not see in the package stores that are shown to it. */
export async function findInStores(parts: CommandParts, command: CommandPermit): Promise<string[]> {
  const stores = packageStores(parts, command)
  if (stores.length === 0) return []
  const { hides, mayHide } = command.hidden
  const file = join(dirname(parts.places.caches), 'stores.json')
  const known = readKnown(file, mayHide.rules)
  const now = Date.now()
  const found: string[] = []
  let isNew = false
  for (const store of stores) {
    const age = now - (known.stores[store]?.at ?? 0)
    if (!(age >= 0 && age < FRESH_MS)) {
      known.stores[store] = { at: now, candidates: (await listCandidates(store, mayHide)) ?? null }
      isNew = true
    }
    const hidden = known.stores[store]?.candidates?.filter(hides)
    const inside = hidden === undefined ? undefined : grouped(store, hidden)
    found.push(...(inside === undefined || inside.length > MOST_IN_STORE ? [store] : inside))
  }
  if (isNew) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeWhole(file, JSON.stringify(known))
  }
  return found
}

function readKnown(file: string, rules: string): Known {
  try {
    const known = knownSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
    if (known.rules === rules) return known
  } catch {
    // Not there yet, or of another version: everything is looked through.
  }
  return { rules, stores: {} }
}

/** Topmost entries. Keys in data for tests go with their folder: no build needs it, and packages have many of them. */
function grouped(store: string, paths: readonly string[]): string[] {
  const all = [...new Set(paths.map(path => store + path.slice(store.length).replace(TEST_DATA, '$1')))]
  return all.filter(path => !all.some(other => other !== path && isInside(path, other)))
}

const TEST_DATA = /(\/(?:testdata|test_data|fixtures))\/.*$/
