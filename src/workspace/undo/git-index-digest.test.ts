import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { indexDigest } from './git-index-digest.ts'

const state = { folder: '' }
beforeEach(() => {
  state.folder = mkdtempSync(join(tmpdir(), 'kogu-'))
})
afterEach(() => rmSync(state.folder, { recursive: true, force: true }))

const at = (path: string): string => join(state.folder, path)
const git = (...args: string[]): void => {
  execFileSync('git', args, { cwd: state.folder, stdio: 'pipe' })
}
const digest = (): string | undefined => indexDigest(readFileSync(at('.git/index')))

function start(...options: string[]): void {
  git('init', '-q', ...options)
  for (const name of ['folder-a', 'folder-ab', 'ä']) writeFileSync(at(name), name)
  git('add', '.')
}

test.each(['2', '4'])('an index of version %s says the same until something is staged', version => {
  start()
  git('update-index', '--index-version', version)
  const first = digest()
  const bytes = readFileSync(at('.git/index'))
  utimesSync(at('folder-a'), 1, 1)
  git('status')
  expect(readFileSync(at('.git/index')).equals(bytes)).toBe(false)
  expect(first).toEqual(expect.any(String))
  expect(digest()).toBe(first)

  const said = [first]
  writeFileSync(at('new'), '')
  for (const args of [
    ['add', '-N', 'new'],
    ['add', 'new'],
    ['update-index', '--chmod=+x', 'ä'],
    ['update-index', '--assume-unchanged', 'ä'],
    ['update-index', '--skip-worktree', 'ä'],
    ['mv', 'folder-ab', 'folder-ac'],
  ]) {
    git(...args)
    expect(said).not.toContain(digest())
    said.push(digest())
  }
})

test.each([
  ['hashes of another length', ['--object-format=sha256'], ['status']],
  ['its entries in another file', [], ['update-index', '--split-index']],
])('an index with %s is compared as a whole', (_what, options, then) => {
  start(...options)
  git(...then)
  expect(digest()).toBeUndefined()
})
