import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../src/core/errors.ts'
import { createTestWorkspace } from '../../src/workspace/testing.ts'

// One of several processes that write the same file at once, and note what they saw and what they were told.
// Arguments: workspace, `kogu` or `editor`, name, number of writes.

const [root = '', kind = '', name = '', count = '0'] = process.argv.slice(2)
const file = join(root, 'contended.txt')
const log = (entry: object): void => appendFileSync(join(root, `${name}.log`), `${JSON.stringify(entry)}\n`)

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
    try {
      await workspace
        .call([{ kind: 'file_write', path: 'contended.txt' }])
        .files.update('contended.txt', before => {
          saw = Buffer.from(before ?? []).toString()
          return Buffer.from(wrote)
        })
      log({ saw, wrote, told: 'written' })
    } catch (error) {
      if (!(error instanceof ToolError)) throw error
      log({ saw, wrote, told: error.code })
    }
    await sleep(Math.random() * 4)
  }
  await workspace.close()
}
