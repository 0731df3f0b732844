import { expect, test } from 'vitest'
import { renameFolder } from './short-path.ts'

test('a folder is renamed where it stands for itself, and not inside of other paths', () => {
  expect(renameFolder("'npm test …' in /w/a, below /w/a", '/w/a', 'a')).toBe("'npm test …' in a, below a")
  expect(renameFolder('write /w/a/b and what is below it', '/w/a', 'a')).toBe(
    'write a/b and what is below it',
  )
  for (const other of ['write /x/w/a/b', 'write /w/ab', 'write /w/a.old/b'])
    expect(renameFolder(other, '/w/a', 'a')).toBe(other)
})
