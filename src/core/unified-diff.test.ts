import { applyPatch, parsePatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countLines, summarizeDiff } from './unified-diff.ts'

const line = fc.constantFrom('a', 'b', 'c', '', '+', '-x', '\\ No newline at end of file', 'd\r')
const text = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.boolean())
  .map(([lines, ends]) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : ''))

describe('a unified diff', () => {
  test('turns the old text into the new one, whatever they are', () => {
    fc.assert(
      fc.property(text, text, text, text, (head, before, after, tail) => {
        const [old, fresh] = [head + before + tail, head + after + tail]
        const { diff } = summarizeDiff(old, fresh, 'file.txt')
        expect(diff === '' ? old : applyPatch(old, diff ?? '')).toBe(fresh)
      }),
      { numRuns: 2000, seed: 7 },
    )
  })

  test('has three lines of context but at the ends of the file, as patch programs expect', () => {
    fc.assert(
      fc.property(text, text, text, text, (head, before, after, tail) => {
        const old = head + before + tail
        const { diff } = summarizeDiff(old, head + after + tail, 'file.txt')
        for (const { oldStart, oldLines, lines } of parsePatch(diff ?? '')[0]?.hunks ?? []) {
          const shown = lines.filter(each => !each.startsWith('\\'))
          const above = shown.findIndex(each => !each.startsWith(' '))
          const below = shown.length - 1 - shown.findLastIndex(each => !each.startsWith(' '))
          if (above < 3) expect(oldStart).toBeLessThanOrEqual(1)
          if (below < 3) expect(oldStart + oldLines - 1).toBeGreaterThanOrEqual(countLines(old))
        }
      }),
      { numRuns: 2000, seed: 7 },
    )
  })

  test('counts the lines that changed also where comparing takes too long', () => {
    const lines = Array.from({ length: 60_000 }, (_, n) => `${n}\n`)
    const edited = lines.map((line, n) => (n % 2 === 0 ? line : `new ${line}`))
    expect(summarizeDiff(lines.join(''), edited.join(''), 'f')).toEqual({
      diff: null,
      added: 30_000,
      removed: 30_000,
    })
  })

  test('says how many lines came and went', () => {
    const old = `${'same\n'.repeat(50)}one\n${'same\n'.repeat(50)}`
    expect(summarizeDiff(old, old.replace('one\n', 'two\nthree\n'), 'f')).toEqual({
      added: 2,
      removed: 1,
      diff: [
        '--- a/f',
        '+++ b/f',
        '@@ -48,7 +48,8 @@',
        ' same',
        ' same',
        ' same',
        '-one',
        '+two',
        '+three',
        ' same',
        ' same',
        ' same',
        '',
      ].join('\n'),
    })
    expect(summarizeDiff(old, old.replace('one\n', ''), 'f')).toMatchObject({ added: 0, removed: 1 })
  })
})
