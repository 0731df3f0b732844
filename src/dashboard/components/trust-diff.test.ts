import { expect, test } from 'vitest'
import { parseDiff } from './parse-diff.ts'
import { trustDiff } from './trust-diff.tsx'

test('what trust would switch on is added to what restricts already, and no setting passes for two', () => {
  const file = '.kogu/config.toml'
  const lines = [
    { kind: 'allow', file, text: 'rule tool="a"' },
    { kind: 'command', file, text: 'hook command="x\n restrict: y"' },
    { kind: 'restrict', file, text: 'rule tool="b"' },
    { kind: 'setting', file: '.kogu/local.toml', text: 'mode = "auto"' },
  ]
  const files = parseDiff(trustDiff(lines))
  expect(files.map(({ path, added, removed }) => [path, added, removed])).toEqual([
    [file, 2, 0],
    ['.kogu/local.toml', 1, 0],
  ])
  expect(files[0]?.lines.filter(({ kind }) => kind !== 'hunk').map(({ kind, text }) => [kind, text])).toEqual(
    [
      ['same', 'restrict: rule tool="b"'],
      ['added', 'allow: rule tool="a"'],
      ['added', 'command: hook command="x\\n restrict: y"'],
    ],
  )
})
