import { expect, test } from 'vitest'
import { changedEntries, keptPaths } from './kept-files.ts'

const of = (...paths: string[]) =>
  changedEntries({
    subject: { kind: 'changes', layer: '', digest: '', summary: '', root: '/w' },
    access: paths.map(path => ({ kind: 'file_delete' as const, path: `/w/${path}` })),
  })

test('a file that is not kept is not kept with its folder, which an answer would mean as a whole', () => {
  const entries = of('old', 'old/a', 'old/b', 'oldest', 'x/y/z', 'x/y')
  expect(entries.files).toEqual(['old/a', 'old/b', 'oldest', 'x/y/z'])
  expect(keptPaths(entries, new Set(['old/a']))).toEqual(['x/y', 'old/b', 'oldest', 'x/y/z'])
  expect(keptPaths(entries, new Set(['oldest']))).toEqual(['old', 'x/y', 'old/a', 'old/b', 'x/y/z'])
})

test('more than an answer can name is kept or left as a whole', () => {
  expect(of(...Array.from({ length: 1_001 }, (_, index) => `f${index}`)).files).toEqual([])
})
