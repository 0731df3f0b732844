import { hash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { ReplacedFolder } from '../../core/sandbox.ts'
import type { CommandParts } from './parts.ts'

/**
 * What commands find where the configured caches are: folders that no other workspace uses, and never the person. What a
 * command puts into the person's own cache, `npx` and its like would later run outside the sandbox.
 */
export function cachesFor(
  { caches, places }: CommandParts,
  { preview }: { preview: boolean },
): ReplacedFolder[] {
  if (preview) return caches.map(path => ({ path }))
  return caches.map(path => {
    const source = join(places.caches, `${basename(path)}-${hash('sha256', path).slice(0, 8)}`)
    mkdirSync(source, { recursive: true, mode: 0o700 })
    return { path, source }
  })
}
