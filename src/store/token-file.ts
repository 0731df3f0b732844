import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isSystemError } from '../core/errors.ts'
import { makeFolders } from '../core/make-folders.ts'

/** A token of the person's own, made once and readable for them alone (0600). Deleting the file makes a new one. */
export function openToken(path: string): { path: string; token: string } {
  makeFolders(dirname(path))
  try {
    writeFileSync(path, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error
  }
  const token = readFileSync(path, 'utf8').trim()
  if (token.length < 32)
    throw new Error(`The token in ${path} is too short. Delete the file to make a new one.`)
  return { path, token }
}
