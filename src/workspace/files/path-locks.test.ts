import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tryLock } from '../../core/lock-file.ts'
import { sha256 } from './file-content.ts'
import { createPathLocks } from './path-locks.ts'

let directory: string
const lockOf = (path: string): string => join(directory, sha256(path).slice(0, 32))
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kogu-locks-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

test('work on one path runs one after another, in the order in which it came; other paths do not wait', async () => {
  const locks = createPathLocks(directory)
  const order: string[] = []
  const otherEnded = Promise.withResolvers<void>()
  const work = (path: string, name: string, until?: Promise<void>): Promise<void> =>
    locks.hold([path], async () => {
      order.push(`${name} starts`)
      await until
      order.push(`${name} ends`)
    })
  await Promise.all([
    work('/a', 'first', otherEnded.promise),
    work('/a', 'second'),
    work('/b', 'other').then(otherEnded.resolve),
  ])
  expect(order).toEqual([
    'first starts',
    'other starts',
    'other ends',
    'first ends',
    'second starts',
    'second ends',
  ])
})

test('two holders of several paths in different order do not wait for each other for ever', async () => {
  const [one, two] = [createPathLocks(directory), createPathLocks(directory)]
  const both = (locks: typeof one, paths: string[]): Promise<unknown> =>
    Promise.all(Array.from({ length: 20 }, () => locks.hold(paths, () => sleep(0))))
  await Promise.all([both(one, ['/a', '/b']), both(two, ['/b', '/a'])])
})

test('a lock that somebody else holds is waited for, then reported; the lock of a dead process is taken over', async () => {
  const locks = createPathLocks(directory, 150)
  const held = tryLock(lockOf('/a'))
  await expect(locks.hold(['/a'], () => sleep(0))).rejects.toMatchObject({ code: 'conflict' })
  held?.release()
  writeFileSync(lockOf('/a'), '999999999 1 0/0 dead')
  await locks.hold(['/a'], () => sleep(0))
})

test('a failure gives the lock back, and nothing is left when it is closed', async () => {
  const locks = createPathLocks(directory)
  await expect(locks.hold(['/a'], () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await locks.hold(['/a'], () => sleep(0))
  locks.close()
  expect(readdirSync(directory)).toEqual([])
})

test('only one of many holders in separate lock sets works at a time', async () => {
  const sets = Array.from({ length: 4 }, () => createPathLocks(directory))
  let inside = 0
  let most = 0
  const work = async (): Promise<void> => {
    inside += 1
    most = Math.max(most, inside)
    for (let turns = Math.random() * 20; turns > 0; turns -= 1) await setImmediate()
    inside -= 1
  }
  await Promise.all(sets.flatMap(locks => Array.from({ length: 40 }, () => locks.hold(['/a'], work))))
  expect(most).toBe(1)
})

test('a folder of locks that somebody removed is made again', async () => {
  const locks = createPathLocks(directory)
  await locks.hold(['/a'], () => sleep(0))
  rmSync(directory, { recursive: true })
  await locks.hold(['/a'], () => sleep(0))
  locks.close()
})
