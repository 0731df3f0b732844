import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { constants, lstat, open, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Content of larger files is not read: their size and time stand for it. Not the time that a program can set back. */
const LARGEST_READ = 16 * 1024 * 1024
/** Entries of a folder that are looked at; beyond that its own time stands for the rest. */
const MOST_ENTRIES = 5000

/** A digest of what is at a path: another one means that it was changed. */
export async function fileState(path: string): Promise<string> {
  const hash = createHash('sha256')
  await addEntry(path, hash, { left: MOST_ENTRIES })
  return hash.digest('hex').slice(0, 32)
}

type Hash = ReturnType<typeof createHash>

async function addEntry(path: string, hash: Hash, budget: { left: number }): Promise<void> {
  let stat: Stats
  try {
    stat = await lstat(path)
  } catch (error) {
    hash.update(`\0${error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'}`)
    return
  }
  hash.update(`\0${stat.mode}`)
  if (stat.isFile()) await addContent(path, stat, hash)
  else if (stat.isSymbolicLink()) hash.update(await readlink(path).catch(() => 'unreadable'))
  else if (stat.isDirectory()) await addFolder(path, stat, hash, budget)
}

async function addContent(path: string, stat: Stats, hash: Hash): Promise<void> {
  if (stat.size > LARGEST_READ) {
    hash.update(`${stat.size} ${stat.ctimeMs} ${stat.ino}`)
    return
  }
  try {
    // What was a file a moment ago may be a pipe now, which would be waited for.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      hash.update(await file.readFile())
    } finally {
      await file.close()
    }
  } catch {
    hash.update(`${stat.size} ${stat.ctimeMs}`)
  }
}

async function addFolder(path: string, stat: Stats, hash: Hash, budget: { left: number }): Promise<void> {
  let names: string[]
  try {
    names = await readdir(path)
  } catch {
    hash.update(`${stat.ctimeMs}`)
    return
  }
  for (const name of names.sort()) {
    hash.update(`\0${name}`)
    budget.left -= 1
    if (budget.left < 0) return void hash.update(`${stat.ctimeMs}`)
    const entry = join(path, name)
    const child = await lstat(entry).catch(() => undefined)
    if (child?.isDirectory() === true) await addFolder(entry, child, hash, budget)
    else hash.update(child === undefined ? '?' : `${child.mode} ${child.size} ${child.ctimeMs}`)
  }
  // Otherwise what is in a folder and what follows it would look the same.
  hash.update('\0\0')
}
