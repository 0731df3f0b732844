import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFolders } from '../core/make-folders.ts'
import { createSeal } from '../core/seal.ts'
import type { Places } from '../store/places.ts'

const schema = z.object({
  /** For programs of this machine. */
  url: z.url(),
  /** For browsers. */
  open: z.url(),
  /** Of this start; another server at the same address has another one. */
  id: z.uuid(),
})

/** Where the server of a workspace answers, for `kogu open`. Holds no secret. */
export type ServerAddress = z.infer<typeof schema>

/** Sealed: `kogu open` sends a browser there, and a pull could put another file in its place. */
export function writeServerFile(places: Places, address: ServerAddress): { remove(): void } {
  const file = fileIn(places)
  makeFolders(places.state)
  writeFileSync(file, createSeal(places.sealKey).add(JSON.stringify(address)), { mode: 0o600 })
  return {
    remove() {
      if (readServerFile(places)?.id === address.id) rmSync(file, { force: true })
    },
  }
}

/** Undefined when none was started, or none that said so. */
export function readServerFile(places: Places): ServerAddress | undefined {
  try {
    const text = createSeal(places.sealKey).open(readFileSync(fileIn(places), 'utf8'))
    return schema.parse(JSON.parse(text ?? ''))
  } catch {
    return undefined
  }
}

function fileIn({ state }: Places): string {
  return join(state, 'server.json')
}
