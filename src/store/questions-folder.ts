import { existsSync } from 'node:fs'
import { readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSystemError } from '../core/errors.ts'
import { waitForLock } from '../core/lock-file.ts'
import { makeFolders } from '../core/make-folders.ts'
import type { Seal } from '../core/seal.ts'
import { findIn, type QuestionStore, type StoredQuestion } from '../core/stored-question.ts'
import { writeWhole } from '../core/write-whole.ts'

const LOCK_MS = 5000

export interface QuestionsPlaces {
  /** In the workspace, one file each. */
  readonly approvals: string
  /** Outside of it: an empty file for each question that waits. */
  readonly waiting: string
  readonly seal: Seal
}

/**
 * Questions that wait, one file each (0600), sealed: a repository must not bring a question with its answer along. Nor may
 * a backup or a checkout bring one back whose answer was used: whether it waits is kept outside of the workspace. A file
 * that cannot be read, or has no seal of ours, counts as no question: its call has to be made again. `prepare` makes the
 * folder's surroundings before the first thing is written.
 */
export function openQuestionsFolder(
  { approvals, waiting, seal }: QuestionsPlaces,
  prepare: () => void,
): QuestionStore {
  const pathOf = (id: string): string => join(approvals, `${id}.json`)
  const markOf = (id: string): string => join(waiting, id)
  const readQuestion = async (id: string): Promise<StoredQuestion | undefined> => {
    const stored = await read(pathOf(id), seal)
    // Another question's file under this name is no question.
    return stored?.question.id === id ? stored : undefined
  }
  const list = async (): Promise<StoredQuestion[]> => {
    // Most workspaces never had a question, and the first asynchronous look costs a start 3 ms.
    if (!existsSync(waiting)) return []
    const names = (await readIfThere(() => readdir(waiting))) ?? []
    const ids = names.filter(name => /^q-[0-9a-f]+$/.test(name))
    const all = await Promise.all(ids.map(readQuestion))
    const found = all.filter(stored => stored !== undefined)
    return found.sort((a, b) => a.question.createdAt - b.question.createdAt)
  }
  const find = async (id: string): Promise<StoredQuestion | undefined> => findIn(await list(), id)
  const change = async <T>(id: string, work: (stored: StoredQuestion) => T): Promise<T | undefined> => {
    const mark = markOf(id)
    return locked(mark, async () => {
      const stored = existsSync(mark) ? await readQuestion(id) : undefined
      return stored === undefined ? undefined : work(stored)
    })
  }
  return {
    list,
    find,
    async save(stored) {
      const { id } = stored.question
      prepare()
      makeFolders(approvals)
      makeFolders(waiting)
      write(pathOf(id), stored, seal)
      await writeFile(markOf(id), '', { flag: 'wx', mode: 0o600 })
    },
    async answer(id, answer, at) {
      const known = await find(id)
      if (known === undefined) return undefined
      return change(known.question.id, stored => {
        if (stored.answer !== undefined) return { stored, isFirst: false }
        const answered: StoredQuestion = { ...stored, answer: { ...answer, at } }
        write(pathOf(stored.question.id), answered, seal)
        return { stored: answered, isFirst: true }
      })
    },
    async extend(id, expiresAt) {
      const done = await change(id, stored => {
        if (stored.answer !== undefined) return false
        write(pathOf(id), { ...stored, question: { ...stored.question, expiresAt } }, seal)
        return true
      })
      return done ?? false
    },
    // Locked, because an answer that is just being written would bring the question back.
    async end(id) {
      const mark = markOf(id)
      if (!existsSync(mark)) return false
      return locked(mark, async () => {
        const isFirst = (await readIfThere(() => unlink(mark).then(() => true))) ?? false
        await rm(pathOf(id), { force: true })
        return isFirst
      })
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

function write(path: string, stored: StoredQuestion, seal: Seal): void {
  writeWhole(path, seal.add(JSON.stringify({ format: 2, ...stored })), { flush: true })
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
  const { format, question, judged, lineage } = value as Partial<StoredQuestion> & { format?: unknown }
  return (
    format === 2 &&
    typeof judged === 'object' &&
    Array.isArray(lineage) &&
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
