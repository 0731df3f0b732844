import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { compileHosts, compilePaths } from './patterns.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-patterns-')))
const context = { home: '/home/kim', workspace: join(root, 'w') }
mkdirSync(join(root, 'w', 'real', 'deep'), { recursive: true })
symlinkSync('real', join(root, 'w', 'link'))
afterAll(() => rmSync(root, { recursive: true }))

describe('path patterns', () => {
  const cases: [pattern: string, path: string, matches: boolean][] = [
    ['*.pem', 'w/a/b/c.pem', true],
    ['*.pem', 'w/c.pem', true],
    ['**/.env*', 'w/x/.env.local', true],
    ['docs/**', 'w/docs/a/b.md', true],
    ['docs/**', 'w/x/docs/b.md', false],
    ['docs/*', 'w/docs/a/b.md', false],
    ['./docs/*', 'w/docs/b.md', true],
    ['DOCS/**', 'w/docs/a.md', true],
    ['link/**', 'w/real/deep/x', true],
    ['./link', 'w/real', true],
    ['toString', 'w/a', false],
    ['src/{a,b}.ts', 'w/src/b.ts', true],
    ['src/!(a).ts', 'w/src/a.ts', false],
  ]
  test.each(cases)('%s and %s: %s', (pattern, path, expected) => {
    expect(compilePaths([pattern], context, 'folded').matches(join(root, path))).toBe(expected)
  })

  test('what allows is compared letter by letter', () => {
    expect(compilePaths(['DOCS/**'], context, 'exact').matches(join(root, 'w/docs/a.md'))).toBe(false)
    expect(compilePaths(['docs/**'], context, 'exact').matches(join(root, 'w/docs/a.md'))).toBe(true)
  })

  test('home and absolute forms', () => {
    expect(compilePaths(['~/.ssh/**'], context, 'folded').matches('/home/kim/.ssh/id')).toBe(true)
    expect(compilePaths(['/etc/**'], context, 'folded').matches('/etc/hosts')).toBe(true)
  })

  test('what covers a folder covers all below it', () => {
    const secret = compilePaths(['secret'], context, 'folded')
    expect(secret.covers(join(root, 'w/secret/a/b'))).toBe(true)
    expect(secret.matches(join(root, 'w/secret/a/b'))).toBe(false)
    expect(secret.covers(join(root, 'w/secrets/a'))).toBe(false)
  })
})

test('host patterns match hosts, not endings of names', () => {
  const matches = compileHosts(['*.example.com', 'api.github.com', 'localhost:3000'])
  expect(matches('www.example.com', 443)).toBe(true)
  expect(matches('example.com', 443)).toBe(false)
  expect(matches('evilexample.com', 443)).toBe(false)
  expect(matches('api.github.com', 80)).toBe(true)
  expect(matches('localhost', 3000)).toBe(true)
  expect(matches('localhost', 80)).toBe(false)
  expect(compileHosts(['*.Bücher.example'])(new URL('https://www.bücher.example').hostname, 443)).toBe(true)
})

test('patterns that would never end by going back end at once', () => {
  const name = `/${'a'.repeat(200)}`
  for (const pattern of [`/${'*a'.repeat(40)}b`, `/${'+(a|aa)'.repeat(20)}b`, `/${'**/'.repeat(50)}b`]) {
    expect(compilePaths([pattern], context, 'folded').covers(`${name}${name}${name}`)).toBe(false)
  }
})

describe('two spellings of one name', () => {
  const spellings: [rule: string, file: string][] = [
    ['STRASSE', 'straße'],
    ['straße', 'STRASSE'],
    ['STRAẞE', 'strasse'],
    ['Stra?e', 'STRAßE'],
    ['caf\u00e9', 'cafe\u0301'],
    ['CAFE\u0301', 'café'],
    ['caf?', 'cafe\u0301'],
    ['TITLE', 'tıtle'],
    ['title', 'TİTLE'],
    ['ΟΔΟΣ', 'οδος'],
    ['οδο?', 'ΟΔΟΣ'],
    ['ΟΔΟΣ*', 'οδοσα'],
    ['office', 'oﬃce'],
    ['secrets', 'ｓｅｃｒｅｔｓ'],
    ['ｓｅｃｒｅｔｓ', 'SECRETS'],
    ['secrets. ', 'secrets'],
    ['a＊b［', 'A*b['],
    ['kelvin', '\u212aelvin'],
    ['vault', 'va\u00adult'],
  ]
  test.each(spellings)('%j forbids %j and all in it', (rule, file) => {
    const path = join(root, 'w', file, 'deep/a.txt')
    expect(compilePaths([`${rule}/**`], context, 'folded').covers(path)).toBe(true)
    expect(compilePaths([`./${rule}`], context, 'folded').covers(path)).toBe(true)
  })

  test.each(spellings)('%j does not allow %j', (rule, file) => {
    if (rule.includes('?')) return
    expect(compilePaths([`${rule}/**`], context, 'exact').matches(join(root, 'w', file, 'a.txt'))).toBe(false)
  })

  test('a sign that is no wildcard does not become one', () => {
    expect(compilePaths(['a＊b'], context, 'folded').covers(join(root, 'w/axb'))).toBe(false)
    expect(compilePaths(['［a'], context, 'folded').covers(join(root, 'w/[a'))).toBe(true)
  })
})
