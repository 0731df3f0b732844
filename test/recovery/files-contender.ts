import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../src/core/errors.ts'
import { createTestWorkspace } from '../../src/workspace/testing.ts'

// One of several processes that write the same file at once, and note what they saw and what they were told.
// Arguments: workspace; `kogu`, `creator` (each time another new file) or `editor`; name; number of writes.

const [root = '', kind = '', name = '', count = '0'] = process.argv.slice(2)
const file = join(root, 'contended.txt')
const fileOf = (n: number): string => (kind === 'creator' ? `new/${n}.txt` : 'contended.txt')
const log = (entry: object): void => appendFileSync(join(root, `${name}.log`), `${JSON.stringify(entry)}\n`)

/** Waits until the other creator is at the same file. */
async function meet(n: number): Promise<void> {
  writeFileSync(join(root, `at-${name}`), String(n))
  const other = join(root, name === 'one' ? 'at-two' : 'at-one')
  while (!existsSync(other) || Number(readFileSync(other, 'utf8')) < n) await setImmediate()
}

if (kind === 'editor') {
  for (let n = 0; n < Number(count); n += 1) {
    const wrote = `${name} ${n}`
    log({ saw: readFileSync(file, 'utf8'), wrote })
    // As a simple editor does: knows nothing of locks, empties the file, writes it.
    writeFileSync(file, wrote)
    await sleep(Math.random() * 12)
  }
} else {
  const workspace = createTestWorkspace({ root })
  for (let n = 0; n < Number(count); n += 1) {
    const wrote = `${name} ${n}`
    let saw = ''
    if (kind === 'creator') await meet(n)
    try {
      const path = fileOf(n)
      await workspace.call([{ kind: 'file_write', path }]).files.update(
        path,
        before => {
          saw = Buffer.from(before ?? []).toString()
          return Buffer.from(wrote)
        },
        { createDirectories: true },
      )
      log({ saw, wrote, told: 'written' })
    } catch (error) {
      if (!(error instanceof ToolError)) throw error
      log({ saw, wrote, told: error.code })
    }
    if (kind !== 'creator') await sleep(Math.random() * 4)
  }
  await workspace.close()
}
