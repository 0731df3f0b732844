import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeDocument, encodeText } from '../text/codec.ts'
import { splitLines } from './lines.ts'
import { applyMatches, applySplices, planEdits } from './plan.ts'
import type { Edit } from './types.ts'

/** 5,000 in the suite; a bench run sets 100,000. */
// The environment is read here because a test has no configuration of its own.
const CASES = Number(process.env.KOGU_EDIT_CASES ?? 5000)

const piece = fc.constantFrom(
  ...[
    'foo',
    'bar',
    '  ',
    '\t',
    '    ',
    'x = 1',
    '{',
    '}',
    '日本語',
    '한글',
    '👩‍👩‍👧',
    '“q”',
    'é',
    'e\u0301',
    '—',
    ' ',
    ';',
  ],
)
const lineEnd = fc.constantFrom('\n', '\n', '\n', '\r\n', '\r\n', '\r')
const fileLine = fc.tuple(fc.array(piece, { maxLength: 5 }), lineEnd)
const format = fc.constantFrom(
  { encoding: 'utf-8', bom: '' },
  { encoding: 'utf-8', bom: '\uFEFF' },
  { encoding: 'utf-16le', bom: '\uFEFF' },
  { encoding: 'utf-16be', bom: '\uFEFF' },
)
const file = fc
  .tuple(fc.array(fileLine, { minLength: 1, maxLength: 12 }), fc.boolean(), format)
  .map(([lines, finalNewline, { encoding, bom }]) => {
    const text = lines
      .map(([pieces, eol], index) => pieces.join('') + (finalNewline || index < lines.length - 1 ? eol : ''))
      .join('')
    return { text, encoding, bytes: encodeText(bom + text, encoding) ?? new Uint8Array() }
  })

/** An edit cut out of the file, sometimes as a model would misquote it. */
const request = fc.record({
  from: fc.nat(),
  length: fc.integer({ min: 1, max: 60 }),
  misquote: fc.constantFrom('no', 'no', 'line-ends', 'indent', 'quotes', 'final'),
  newText: fc
    .array(fc.oneof(piece, fc.constant('\n'), fc.constant('\r\n')), { maxLength: 8 })
    .map(parts => parts.join('')),
  keepsPart: fc.boolean(),
  replaceAll: fc.boolean(),
})

function toEdit(text: string, wish: typeof request extends fc.Arbitrary<infer T> ? T : never): Edit {
  const characters = Array.from(text)
  const from = wish.from % Math.max(1, characters.length)
  const cut = characters.slice(from, from + wish.length).join('')
  const quoted = {
    no: cut,
    'line-ends': cut.replaceAll('\r\n', '\n'),
    indent: cut.replaceAll(/\n[ \t]*/g, '\n  '),
    quotes: cut.replaceAll(/[“”]/g, '"').normalize('NFC'),
    final: `${cut}\n`,
  }[wish.misquote]
  const newText = wish.keepsPart
    ? quoted.slice(0, quoted.length >> 1).toWellFormed() + wish.newText
    : wish.newText
  return { oldText: quoted, newText, replaceAll: wish.replaceAll, expected: undefined }
}

test('no byte outside the matched ranges changes, whatever the file and the edits', () => {
  const counts = { planned: 0, rungs: new Set<string>() }
  fc.assert(
    fc.property(file, fc.array(request, { minLength: 1, maxLength: 3 }), ({ text, bytes }, wishes) => {
      const edits = wishes.map(wish => toEdit(text, wish))
      const plan = planEdits(bytes, edits, { isKnown: true })
      if (!plan.ok) return
      counts.planned += 1
      const after = applySplices(bytes, plan.splices)
      let at = 0
      let shift = 0
      plan.splices.forEach((splice, index) => {
        const match = plan.matches[index]
        if (match === undefined) throw new Error('a splice without a match')
        counts.rungs.add(match.rung)
        expect(splice.start).toBeGreaterThanOrEqual(at)
        const untouched = bytes.subarray(at, splice.start)
        expect(Buffer.compare(untouched, after.subarray(at + shift, splice.start + shift))).toBe(0)
        const replaced = bytes.subarray(splice.start, splice.end)
        const region = plan.before.slice(match.start, match.end)
        expect(Buffer.compare(replaced, encodeText(region, plan.format.encoding) ?? new Uint8Array())).toBe(0)
        shift += splice.bytes.length - (splice.end - splice.start)
        at = splice.end
      })
      expect(Buffer.compare(bytes.subarray(at), after.subarray(at + shift))).toBe(0)
      // The bytes say the same as the text that is shown in the diff.
      expect(decodeDocument(after, plan.format)?.text).toBe(applyMatches(plan.before, plan.matches))
    }),
    { numRuns: CASES },
  )
  expect(counts.planned).toBeGreaterThan(CASES / 10)
  expect([...counts.rungs].sort()).toEqual(['exact', 'line_ends', 'whitespace'])
})

test('an exact edit replaces the old text by the new one and nothing else', () => {
  fc.assert(
    fc.property(file, request, ({ text, bytes }, wish) => {
      const edit = toEdit(text, { ...wish, misquote: 'no', replaceAll: false })
      const plan = planEdits(bytes, [edit], { isKnown: false })
      const first = text.indexOf(edit.oldText)
      const unified = (value: string): string => value.replaceAll('\r\n', '\n')
      const isUnique =
        unified(text).indexOf(unified(edit.oldText), unified(text).indexOf(unified(edit.oldText)) + 1) === -1
      if (
        !plan.ok ||
        plan.matches[0]?.rung !== 'exact' ||
        !isUnique ||
        edit.newText.includes('\n') ||
        edit.newText.includes('\r')
      )
        return
      expect(applyMatches(plan.before, plan.matches)).toBe(
        text.slice(0, first) + edit.newText + text.slice(first + edit.oldText.length),
      )
    }),
    { numRuns: Math.ceil(CASES / 5) },
  )
})

const block = fc.record({
  from: fc.nat(),
  length: fc.integer({ min: 1, max: 6 }),
  changed: fc.nat(),
  misquote: fc.constantFrom('no', 'shallower', 'deeper', 'spaces', 'trailing', 'quotes'),
})

/** The lines as a model would misquote them. */
function misquoted(lines: readonly string[], how: string): string[] {
  return lines.map(line => {
    if (line.trim() === '') return line
    if (how === 'shallower') return line.trimStart()
    if (how === 'deeper') return `    ${line}`
    if (how === 'spaces') return line.replaceAll('\t', '    ')
    if (how === 'trailing') return `${line}  `
    return how === 'quotes' ? line.replaceAll(/[“”]/g, '"').replaceAll('—', '-') : line
  })
}

test('one changed line in a misquoted block changes that line only, with its line end and indentation', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(file, block, ({ text, bytes }, { from, length, changed, misquote }) => {
      if (!text.includes('\n')) return
      const lines = splitLines(text, false)
      const first = from % lines.length
      const chosen = lines.slice(first, first + length)
      const target = changed % chosen.length
      const old = misquoted(
        chosen.map(line => line.text),
        misquote,
      )
      const indent = /^[ \t]*/.exec(old[target] ?? '')?.[0] ?? ''
      const oldText = old.join('\n')
      const newText = old.with(target, `${indent}CHANGED`).join('\n')
      const plan = planEdits(bytes, [{ oldText, newText, replaceAll: false, expected: undefined }], {
        isKnown: true,
      })
      // A single line may be part of another one; a blank one has no indentation of its own.
      const isPart = chosen.length === 1 || old[target]?.trim() === ''
      if (!plan.ok || isPart) return
      seen.add(plan.matches[0]?.rung ?? '')
      const after = splitLines(applyMatches(plan.before, plan.matches), false)
      const expected = lines.map((line, index) =>
        index === first + target ? { ...line, text: `${/^[ \t]*/.exec(line.text)?.[0]}CHANGED` } : line,
      )
      // Ends of the block may lie inside a longer line when it was found verbatim.
      if (plan.matches[0]?.rung === 'whitespace') expect(after).toEqual(expected)
      else expect(after.map(line => line.eol)).toEqual(expected.map(line => line.eol))
    }),
    { numRuns: CASES },
  )
  expect(seen).toContain('whitespace')
})
