import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isSystemError } from './errors.ts'
import { makeFolders } from './make-folders.ts'
import { makeWhole } from './write-whole.ts'

/**
 * Tells what Kogu wrote into the workspace from what came with it. A repository may bring a `.kogu` of its own, with a
 * question that is answered already; it does not have the key, which lies outside.
 */
export interface Seal {
  add(text: string): string
  /** The text, or undefined when it was not sealed here. */
  open(sealed: string): string | undefined
  /** Proves later that a text was this one. By a key of its own: what a model chose must not become a seal. */
  digest(text: string): string
}

const KEY_BYTES = 32

/** The key is made when it is first needed. */
export function createSeal(keyFile: string): Seal {
  let key: Buffer | undefined
  const usable = (): Buffer => {
    key ??= readKey(keyFile) ?? makeKey(keyFile)
    // A key that was cut off could be guessed; one that is wrong opens nothing.
    if (key.length !== KEY_BYTES)
      throw new Error(`${keyFile} is damaged: ${key.length} bytes instead of ${KEY_BYTES}.`)
    return key
  }
  const mark = (text: string): string => createHmac('sha256', usable()).update(text).digest('hex')
  return {
    add: text => `${text}\n${mark(text)}\n`,
    open(sealed) {
      const [, text, given] = /^([\s\S]*)\n([0-9a-f]{64})\n$/.exec(sealed) ?? []
      if (text === undefined || given === undefined) return undefined
      return timingSafeEqual(Buffer.from(given), Buffer.from(mark(text))) ? text : undefined
    },
    digest: text =>
      createHmac('sha256', Buffer.from(mark('digests'), 'hex'))
        .update(text)
        .digest('hex'),
  }
}

function readKey(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Of two processes that make it at once, both get the same one. */
function makeKey(path: string): Buffer {
  makeFolders(dirname(path))
  makeWhole(path, randomBytes(KEY_BYTES), { flush: true })
  return readFileSync(path)
}
