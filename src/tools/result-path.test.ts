import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { resultPath } from './result-path.ts'

let workspace: string
beforeAll(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-result-path-')))
  mkdirSync(join(workspace, 'src/deep'), { recursive: true })
  symlinkSync('src/deep', join(workspace, 'link'))
})
afterAll(() => rmSync(workspace, { recursive: true }))

test('paths in the workspace are relative to where the person stands', () => {
  const place = { cwd: join(workspace, 'src/deep'), workspace }
  expect(resultPath(join(workspace, 'src/deep/a.ts'), place)).toBe('a.ts')
  expect(resultPath(join(workspace, 'src/deep'), place)).toBe('.')
  expect(resultPath(join(workspace, 'src/b.ts'), place)).toBe('../b.ts')
  expect(resultPath(join(workspace, 'top.txt'), place)).toBe('../../top.txt')
  expect(resultPath(workspace, place)).toBe('../..')
})

test('paths outside of the workspace are absolute', () => {
  const place = { cwd: join(workspace, 'src'), workspace }
  expect(resultPath('/etc/passwd', place)).toBe('/etc/passwd')
  expect(resultPath(`${workspace}-other/a`, place)).toBe(`${workspace}-other/a`)
})

test('from a folder that was reached by a link, every path leads back to its file', () => {
  const place = { cwd: join(workspace, 'link'), workspace }
  for (const path of ['src/deep/a.ts', 'src/b.ts', 'top.txt']) {
    const shown = resolve(place.cwd, resultPath(join(workspace, path), place))
    expect(shown.replace(join(workspace, 'link'), join(workspace, 'src/deep'))).toBe(join(workspace, path))
  }
})
