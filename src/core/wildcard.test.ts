import picomatch from 'picomatch'
import { describe, expect, test } from 'vitest'
import { compileGlobName } from './extended-glob.ts'
import { compileGlob, matchesPath } from './glob.ts'
import { compileText, compileWildcard } from './wildcard.ts'

/** The same numbers on every run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function texts(seed: number, parts: readonly string[], longest: number): () => string {
  const random = randomFrom(seed)
  return () => Array.from({ length: 1 + random(longest) }, () => parts[random(parts.length)] ?? '').join('')
}

const NAME = ['a', 'b', 'ab', '.', 'c', '-']

describe('the same answers as picomatch', () => {
  test('for names', () => {
    const pattern = texts(1, ['a', 'b', '*', '?', '[ab]', '[!a]', '[a-b]', '.', 'c'], 6)
    const name = texts(2, NAME, 6)
    for (let round = 0; round < 10_000; round += 1) {
      // No file is called `.` or `..`.
      const [glob, text] = [pattern(), `${name()}c`]
      const expected = picomatch(glob.replaceAll(/\*+/g, '*').replaceAll('[!', '[^'), {
        dot: true,
        strictSlashes: true,
      })(text)
      expect([glob, text, compileWildcard(glob)(text)]).toEqual([glob, text, expected])
    }
  })

  test('for groups', () => {
    const pattern = texts(3, ['a', 'b', '@(a|b)', '?(a|bc)', '*(a|b)', '+(ab|c)', '.', '@(a*|b?)'], 4)
    const name = texts(4, NAME, 6)
    for (let round = 0; round < 10_000; round += 1) {
      const [glob, text] = [pattern(), name()]
      const expected = picomatch(glob, { dot: true, strictSlashes: true })(text)
      expect([glob, text, compileGlobName(glob)(text)]).toEqual([glob, text, expected])
    }
  })

  test('for paths', () => {
    const pattern = texts(5, ['a', 'b', '*', '/', '/**/', '/', '{a,b/c}', '?'], 6)
    const name = texts(6, ['a', 'b', '/', 'c', '/a'], 7)
    for (let round = 0; round < 10_000; round += 1) {
      const glob = `x/${pattern()}/y`
        .split(/\/+/)
        // Stars beside something else are one star; picomatch has rules of its own for some of them.
        .map(part => (part === '**' ? part : part.replaceAll(/\*+/g, '*')))
        .join('/')
      const text = `x/${name()}/y`.replaceAll(/\/{2,}/g, '/')
      const expected = picomatch(glob, { dot: true, strictSlashes: true })(text)
      expect([glob, text, matchesPath(compileGlob(glob), text)]).toEqual([glob, text, expected])
    }
  })
})

test.each([
  ['!(a|b)', { a: false, b: false, ab: true, c: true }],
  ['x!(a)', { xa: false, x: true, xab: true, xb: true }],
  ['*.!(js|ts)', { 'a.js': false, 'a.css': true, 'a.tsx': true }],
  ['+(a|@(b|c))d', { abcd: true, d: false, acbad: true }],
])('groups that forbid and groups in groups: %s', (pattern, answers) => {
  const matches = compileGlobName(pattern)
  for (const [name, answer] of Object.entries(answers)) expect([name, matches(name)]).toEqual([name, answer])
})

test('text takes slashes and line ends, and nothing but stars and question marks', () => {
  const matches = compileText('git push*[x]?')
  expect(matches('git push a/b\n[x]!')).toBe(true)
  expect(matches('git push x!')).toBe(false)
  expect(compileText('a\\*')('a\\b')).toBe(true)
})

test.each([
  ['many stars', () => compileWildcard(`${'*a'.repeat(40)}b`)],
  ['many stars in a text', () => compileText(`${'*a'.repeat(40)}b`)],
  ['repeated groups', () => compileGlobName(`${'+(a|aa)'.repeat(20)}b`)],
  ['groups in groups', () => compileGlobName('+(+(+(+(a|aa)|a)|aa)|a)b')],
  ['what is forbidden, often', () => compileGlobName(`${'!(a*b)'.repeat(10)}c`)],
])('%s take no time', (_, compile) => {
  // Steps, not seconds: each of these would never end by going back.
  expect(compile()('a'.repeat(200))).toBe(false)
})
