import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { expandGlob } from './globs.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-globs-')))
afterAll(() => rmSync(root, { recursive: true }))
for (const path of [
  'a.md',
  'b.md',
  '.env',
  '.hidden/x.md',
  'sub/c.md',
  'sub/deep/d.md',
  'we ird.md',
  'br[a]ck.md',
  '-rf',
  'é.md',
]) {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), '')
}
symlinkSync('sub', join(root, 'link'))
symlinkSync('nowhere', join(root, 'dangling'))

test.each([
  '*',
  '*.md',
  '.*',
  '.e*',
  '?.md',
  '[ab].md',
  '[!a].md',
  '[a-b]*',
  '*/c.md',
  '*/*.md',
  'sub/*',
  'su?/d*/*.md',
  '**',
  '**/*.md',
  'link/*',
  'dang*',
  'nope*',
  '*/',
  'we\\ *',
  'br\\[a\\]*',
  'br\\[*',
  '*rf',
  '\\*',
  'sub/../*.md',
  './*.md',
])('%s expands as in bash', pattern => {
  const script = `cd "$1" && shopt -u globstar && printf '%s\\0' ${pattern.replaceAll(' ', '\\ ').replaceAll('\\\\ ', '\\ ')}`
  const { stdout } = spawnSync('bash', ['--norc', '--noprofile', '-c', script, 'x', root], {
    encoding: 'utf8',
    env: { LC_ALL: 'C.UTF-8', PATH: '/usr/bin:/bin' },
  })
  const expected = stdout
    .split('\0')
    .slice(0, -1)
    .map(path => join(root, path))
    .sort()
  const found = expandGlob(join(root, '/').replaceAll(/[[\]*?\\]/g, '\\$&') + pattern, 1000) ?? []
  // Bash leaves a pattern that matches nothing as it is; here that is no match.
  const none = expected.length === 1 && !found.includes(expected[0] ?? '') && found.length === 0
  if (!none) expect([...found].map(path => join(path)).sort()).toEqual(expected)
})

test('a pattern with too many matches is not listed', () => {
  expect(expandGlob(`${root}/*`, 3)).toBeNull()
})

test('a character class is not guessed at', () => {
  expect(expandGlob(`${root}/[[:alpha:]].md`, 1000)).toBeNull()
})

test('a pattern that would never end by going back ends at once', () => {
  const name = 'a'.repeat(200)
  writeFileSync(join(root, name), '')
  expect(expandGlob(`${root}/${'*a'.repeat(40)}b`, 100)).toEqual([])
  expect(expandGlob(`${root}/${'*a'.repeat(40)}*`, 100)).toEqual([join(root, name)])
})
