import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeWhole } from './write-whole.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kogu-whole-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a file is replaced with its mode, a link by a file, and nothing is left beside it', () => {
  const [path, victim] = [join(folder, 'state.json'), join(folder, 'victim')]
  writeFileSync(victim, 'mine', { mode: 0o644 })
  symlinkSync(victim, path)
  writeWhole(path, 'new')
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFileSync(victim, 'utf8')).toBe('mine')
  expect(readdirSync(folder).sort()).toEqual(['state.json', 'victim'])
})

test('what cannot be put into its place leaves no draft', () => {
  expect(() => writeWhole(folder, 'x')).toThrow()
  const beside = readdirSync(join(folder, '..')).filter(name =>
    name.startsWith(`${folder.split('/').at(-1)}.`),
  )
  expect(beside).toEqual([])
})
