import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { AS_NOBODY, NOBODY, noOrdinaryUser } from '../../../test/support/skips.ts'
import { emptyFolder } from './remove-tree.ts'

// Root may look into every folder, so whoever it is that runs this, an ordinary user does it.
const isRoot = process.getuid?.() === 0
const become = isRoot ? AS_NOBODY : []
const why = isRoot ? noOrdinaryUser : ''

test.skipIf(why !== '')(
  `folders that were closed are removed, and what links lead to is left alone${why}`,
  () => {
    const place = mkdtempSync(join(tmpdir(), 'kogu-test-'))
    if (isRoot) chownSync(place, NOBODY, NOBODY)
    const script = `
    import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
    import { removeFilledFolder } from ${JSON.stringify(join(import.meta.dirname, 'remove-tree.ts'))}
    process.chdir(${JSON.stringify(place)})
    mkdirSync('outside', { mode: 0o500 })
    mkdirSync('filled/a/b', { recursive: true })
    writeFileSync('filled/a/b/file', '')
    symlinkSync('../../outside', 'filled/a/link')
    for (const folder of ['filled/a/b', 'filled/a', 'filled']) chmodSync(folder, 0)
    removeFilledFolder('filled')
    removeFilledFolder('filled')`
    const [file = '', ...words] = [...become, process.execPath]
    try {
      const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
      const result = spawnSync(file, [...words, ...flags], { encoding: 'utf8', cwd: '/' })
      expect(result).toMatchObject({ status: 0, stderr: '' })
      expect(existsSync(join(place, 'filled'))).toBe(false)
      expect(statSync(join(place, 'outside')).mode & 0o777).toBe(0o500)
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
  },
)

test('names that a command or a killed Kogu of the same process id has left are not in the way', () => {
  const root = mkdtempSync(join(tmpdir(), 'kogu-test-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const name of [
    'a',
    'b',
    'c',
    `kogu-${process.pid}-1`,
    `kogu-${process.pid}-2`,
    `kogu-${process.pid}-3`,
  ])
    mkdirSync(join(root, name, 'inner'), { recursive: true })
  emptyFolder(root)
  expect(readdirSync(root)).toEqual([])
})
