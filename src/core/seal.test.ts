import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createSeal } from './seal.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'kogu-seal-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

test('what was sealed with the same key is opened, by another process too', () => {
  const key = join(folder(), 'deep/key')
  const sealed = createSeal(key).add('{"a":1}\n{"b":2}')
  expect(createSeal(key).open(sealed)).toBe('{"a":1}\n{"b":2}')
  expect(statSync(key).mode & 0o777).toBe(0o600)
})

test('what has another seal, or none, is not', () => {
  const here = createSeal(join(folder(), 'key'))
  const sealed = here.add('{"answer":"no"}')
  expect(createSeal(join(folder(), 'key')).open(sealed)).toBeUndefined()
  expect(here.open(sealed.replace('no', 'ok'))).toBeUndefined()
  expect(here.open('{"answer":"yes"}\n')).toBeUndefined()
  expect(here.open('')).toBeUndefined()
})

test('a key that was cut off is refused, not used', () => {
  const key = join(folder(), 'key')
  writeFileSync(key, '')
  expect(() => createSeal(key).add('x')).toThrow('is damaged: 0 bytes instead of 32')
})
