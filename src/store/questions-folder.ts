import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSystemError } from '../core/errors.ts'
import { waitForLock } from '../core/lock-file.ts'
import { makeFolders } from '../core/make-folders.ts'
import type { Seal } from '../core/seal.ts'
import type { QuestionStore, StoredQuestion } from '../core/stored-question.ts'

const LOCK_MS = 5000

/**
 * Questions that wait, one file each (0600), sealed: a repository must not bring a question with its answer along. A file
 * that cannot be read, or has no seal of ours, counts as no question: its call has to be made again. `prepare` makes the folder's surroundings before the first thing is written.
 */
export function openQuestionsFolder(directory: string, seal: Seal, prepare: () => void): QuestionStore {
  const pathOf = (id: string): string => join(directory, `${id}.json`)
  const list = async (): Promise<StoredQuestion[]> => {
    const names = (await readIfThere(() => readdir(directory))) ?? []
    const files = names.filter(name => /^q-[0-9a-f]+\.json$/.test(name))
    const all = await Promise.all(files.map(name => read(join(directory, name), seal)))
    const found = all.filter(stored => stored !== undefined)
    return found.sort((a, b) => a.question.createdAt - b.question.createdAt)
  }
  const find = async (id: string): Promise<StoredQuestion | undefined> =>
    (await list()).find(({ question }) => question.id === id || question.callId === id)
  return {
    list,
    find,
    async save(stored) {
      prepare()
      makeFolders(directory)
      await write(pathOf(stored.question.id), stored, seal)
    },
    async answer(id, answer, at) {
      const known = await find(id)
      if (known === undefined) return undefined
      const path = pathOf(known.question.id)
      return locked(path, async () => {
        const stored = await read(path, seal)
        if (stored === undefined) return undefined
        if (stored.answer !== undefined) return { stored, isFirst: false }
        const answered: StoredQuestion = { ...stored, answer: { ...answer, at } }
        await write(path, answered, seal)
        return { stored: answered, isFirst: true }
      })
    },
    // Locked, because an answer that is just being written would bring the question back.
    async end(id) {
      const path = pathOf(id)
      if (!existsSync(path)) return false
      return locked(path, async () => (await readIfThere(() => unlink(path).then(() => true))) ?? false)
    },
  }
}

async function locked<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = await waitForLock(`${path}.lock`, LOCK_MS)
  if (lock === undefined) throw new Error(`Another process holds ${path}.lock.`)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

async function write(path: string, stored: StoredQuestion, seal: Seal): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(draft, seal.add(JSON.stringify({ format: 1, ...stored })), {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function read(path: string, seal: Seal): Promise<StoredQuestion | undefined> {
  const sealed = await readIfThere(() => readFile(path, 'utf8'))
  const text = sealed === undefined ? undefined : seal.open(sealed)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isStored(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Kogu alone writes these files, so only their version and the fields that everything hangs on are checked. */
function isStored(value: unknown): value is StoredQuestion {
  if (typeof value !== 'object' || value === null) return false
  const { format, question, judged, authority } = value as Partial<StoredQuestion> & { format?: unknown }
  return (
    format === 1 &&
    typeof judged === 'object' &&
    typeof authority === 'object' &&
    typeof question?.id === 'string' &&
    typeof question.callId === 'string' &&
    typeof question.runId === 'string' &&
    typeof question.digest === 'string' &&
    typeof question.expiresAt === 'number'
  )
}

async function readIfThere<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}
