import { expect, test } from 'vitest'
import { findMoves, type PathChange } from './find-moves.ts'

const goes = (path: string, movedTo?: string): PathChange => ({
  path,
  entry: 'file',
  kind: 'goes',
  ...(movedTo === undefined ? {} : { movedTo }),
})
const comes = (path: string): PathChange => ({ path, entry: 'file', kind: 'comes' })
const folder = (path: string, kind: PathChange['kind']): PathChange => ({ path, entry: 'directory', kind })

test('a file that goes in one place and comes in another has moved', () => {
  const { moves, explained } = findMoves([goes('/a', '/b'), comes('/b'), goes('/c')])
  expect(moves).toEqual([{ from: '/a', to: '/b', files: 1 }])
  expect([...explained]).toEqual(['/a', '/b'])
})

const movedFolder = [
  folder('/old', 'goes'),
  folder('/old/sub', 'goes'),
  goes('/old/a', '/new/a'),
  goes('/old/sub/b', '/new/sub/b'),
  folder('/new', 'comes'),
  folder('/new/sub', 'comes'),
  comes('/new/a'),
  comes('/new/sub/b'),
]

test('a folder that went whole is one move, with the folders in it', () => {
  const { moves, explained } = findMoves(movedFolder)
  expect(moves).toEqual([{ from: '/old', to: '/new', files: 2 }])
  expect(explained.size).toBe(8)
})

test('a folder of which something did not come along has not moved as a whole', () => {
  expect(findMoves([...movedFolder, goes('/old/c')]).moves).toEqual([
    { from: '/old/sub', to: '/new/sub', files: 1 },
    { from: '/old/a', to: '/new/a', files: 1 },
  ])
})

test('a file that took the place of another one is not told as a move', () => {
  expect(findMoves([goes('/a', '/b'), { path: '/b', entry: 'file', kind: 'stays' }]).moves).toEqual([])
  expect(findMoves([goes('/a', '/b'), goes('/b'), comes('/b')]).moves).toEqual([])
})
