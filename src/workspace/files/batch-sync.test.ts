import { mkdirSync, mkdtempSync, openSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RecordFile } from '../undo/record-file.ts'
import { createBatchSync } from './batch-sync.ts'
import { type PinnedDirectory, pinDirectory } from './pinned-directory.ts'

let base: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-sync-')))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function pinNew(name: string): PinnedDirectory {
  mkdirSync(join(base, name))
  return pinDirectory(join(base, name))
}

// The one that lists is among them, before and after.
const openDescriptors = (): number => readdirSync('/proc/self/fd').length

test.runIf(process.platform === 'linux')(
  'many folders and files in a row do not use up the descriptors, and flush leaves none open',
  async () => {
    const sync = createBatchSync()
    const before = openDescriptors()
    for (let n = 0; n < 300; n += 1) {
      const folder = pinNew(`${n}`)
      sync.folder(folder)
      sync.folder(folder)
      sync.closeSoon(openSync(folder.at('file'), 'w'))
      folder.close()
    }
    expect(openDescriptors() - before).toBeLessThan(200)
    await sync.flush()
    await expect.poll(openDescriptors).toBe(before)
  },
)

test('a folder that cannot be opened any more does not fail the change', async () => {
  const sync = createBatchSync()
  const folder = pinNew('gone')
  folder.close()
  sync.folder(folder)
  await sync.flush()
})

test('records are on the disk before the folders whose changes they hold', async () => {
  const order: string[] = []
  const sync = createBatchSync()
  const folder = pinNew('folder')
  const file = new RecordFile(base, 'record')
  // Only watched: both still do what they do.
  const syncRecord = file.sync.bind(file)
  file.sync = async () => {
    await syncRecord()
    order.push(`record, with ${readdirSync('/proc/self/fd').length - before} more open`)
  }
  const before = openDescriptors()
  sync.folder(folder)
  sync.lastRecord(file)
  await sync.flush()
  // The folder's own descriptor was still waiting when the record was synced.
  expect(order).toEqual(['record, with 1 more open'])
  folder.close()
})

test('a record that ends while it is being synced is synced once more before it is closed', async () => {
  const sync = createBatchSync()
  const file = new RecordFile(base, 'record')
  const done: string[] = []
  const [syncRecord, closeRecord] = [file.sync.bind(file), file.close.bind(file)]
  file.sync = async () => {
    done.push('sync')
    if (done.length === 1) sync.lastRecord(file)
    await syncRecord()
  }
  file.close = async () => {
    done.push('close')
    await closeRecord()
  }
  sync.record(file)
  await sync.flush()
  await sync.flush()
  expect(done).toEqual(['sync', 'sync', 'close'])
})
