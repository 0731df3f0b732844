import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFolders } from '../core/make-folders.ts'

const schema = z.object({ url: z.url(), pid: z.int() })

/** Where the server of a workspace answers, for `kogu open`. Holds no secret. */
export type ServerAddress = z.infer<typeof schema>

export function writeServerFile(stateFolder: string, address: ServerAddress): { remove(): void } {
  const file = fileIn(stateFolder)
  makeFolders(stateFolder)
  writeFileSync(file, `${JSON.stringify(address)}\n`, { mode: 0o600 })
  return {
    remove() {
      if (readServerFile(stateFolder)?.pid === address.pid) rmSync(file, { force: true })
    },
  }
}

/** Undefined: none was started, or none that said so. */
export function readServerFile(stateFolder: string): ServerAddress | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(fileIn(stateFolder), 'utf8')))
  } catch {
    return undefined
  }
}

function fileIn(stateFolder: string): string {
  return join(stateFolder, 'server.json')
}
