import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { stripControlSequences } from './control-sequences.ts'
import { createOutputKeeper } from './output.ts'
import { readOutputLines, searchOutput } from './output-reader.ts'

const state = { folder: '' }
beforeEach(() => {
  state.folder = mkdtempSync(join(tmpdir(), 'kogu-test-'))
})
afterEach(() => rmSync(state.folder, { recursive: true, force: true }))

function keep(chunks: readonly (string | Uint8Array)[], limit: number, spillPath?: string) {
  const keeper = createOutputKeeper(spillPath === undefined ? { limit } : { limit, spillPath })
  for (const chunk of chunks) keeper.write(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  keeper.close()
  return keeper.read()
}

describe('keeping output', () => {
  test('what fits is kept as it is, and no file is made', () => {
    const spillPath = join(state.folder, 'spill')
    expect(keep(['one\n', 'two'], 100, spillPath)).toEqual({
      text: 'one\ntwo',
      truncated: false,
      bytes: 7,
      lines: 2,
      spill: null,
    })
    expect(existsSync(spillPath)).toBe(false)
  })

  test('of what does not fit, the beginning and the end stay, with exact counts', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `line ${index}\n`)
    const spillPath = join(state.folder, 'spill')
    const kept = keep(lines, 200, spillPath)
    expect(kept).toMatchObject({ truncated: true, bytes: lines.join('').length, lines: 1000 })
    expect(kept.text.startsWith('line 0\nline 1\n')).toBe(true)
    expect(kept.text.endsWith('line 998\nline 999\n')).toBe(true)
    const left = Number(/(\d+) of/.exec(kept.text)?.[1])
    const shown = kept.text.replace(/\n\[….*…\]\n/, '')
    expect(left + shown.length).toBe(kept.bytes)
    expect(readFileSync(spillPath, 'utf8')).toBe(lines.join(''))
    expect(statSync(spillPath).mode & 0o777).toBe(0o600)
  })

  test('any division into chunks gives the same result', () => {
    const bytes = Buffer.from(Array.from({ length: 400 }, (_, index) => `${index} é 漢 😀\n`).join(''))
    const whole = keep([bytes], 300)
    for (const size of [1, 7, 150, 299, 300, 301, 1000]) {
      const chunks: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
      expect(keep(chunks, 300)).toEqual(whole)
    }
  })

  test('a cut never splits a character', () => {
    for (let limit = 20; limit < 60; limit += 1) {
      expect(keep(['漢😀é'.repeat(100)], limit).text).not.toContain('\ufffd')
    }
  })

  test('the spilled file is capped and says so', () => {
    const spillPath = join(state.folder, 'spill')
    const keeper = createOutputKeeper({ limit: 10, spillPath, spillLimit: 50 })
    for (let index = 0; index < 100; index += 1) keeper.write(Buffer.from('0123456789'))
    keeper.close()
    expect(keeper.read().spill).toEqual({ path: spillPath, bytes: 50, complete: false })
    expect(statSync(spillPath).size).toBe(50)
  })

  test('a link in the place of the spilled file is not followed', () => {
    const spillPath = join(state.folder, 'spill')
    symlinkSync(join(state.folder, 'elsewhere'), spillPath)
    expect(() => keep(['x'.repeat(100)], 10, spillPath)).toThrow()
    expect(existsSync(join(state.folder, 'elsewhere'))).toBe(false)
  })

  test('a gigabyte is counted, and little of it kept', () => {
    const keeper = createOutputKeeper()
    const chunk = Buffer.alloc(65_536, 'x')
    for (let index = 0; index < 16_384; index += 1) keeper.write(chunk)
    const { bytes, text } = keeper.read()
    expect(bytes).toBe(2 ** 30)
    expect(text.length).toBeLessThan(2 ** 20)
  })
})

test.each([
  ['\x1b[31mred\x1b[0m text', 'red text'],
  ['\x1b]0;title\x07after', 'after'],
  ['\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'link'],
  ['10%\r50%\r100%\ndone', '100%\ndone'],
  ['windows\r\nlines\r\n', 'windows\nlines\n'],
  ['b\bbold\x00\x07', 'bold'],
  ['\x1bPdevice\x1b\\x', 'x'],
  ['\x9b31mC1\x85', 'C1'],
  ['cut off \x1b[3', 'cut off '],
  ['unended \x1b]0;title\nnext line', 'unended \nnext line'],
  ['plain\ttabs stay', 'plain\ttabs stay'],
])('control sequences go, text stays: %j', (raw, shown) => {
  expect(stripControlSequences(raw)).toBe(shown)
})

// What looked at every piece again for each would not end before the test's time is over.
test('stripping hostile text comes to its end', () => {
  for (const piece of ['\x1b]', '\x1b[', '\x1b[1;', 'a\r', '\x1bP', '\b', 'x\b'])
    expect(stripControlSequences(`${piece.repeat(2_000_000)}\nend`)).toMatch(/end$/)
})

describe('reading spilled output', () => {
  function spilled(): string {
    const path = join(state.folder, 'spill')
    writeFileSync(path, Array.from({ length: 500 }, (_, index) => `line ${index + 1}\n`).join(''))
    return path
  }

  test('a range, from the start or from the end', async () => {
    const path = spilled()
    expect(await readOutputLines(path, { from: 10, count: 2 })).toEqual({
      lines: [
        { number: 10, text: 'line 10' },
        { number: 11, text: 'line 11' },
      ],
      totalLines: 500,
      totalMatches: 0,
    })
    expect((await readOutputLines(path, { from: -2 })).lines.map(line => line.number)).toEqual([499, 500])
  })

  test('a search with context and a limit, which still counts all matches', async () => {
    const found = await searchOutput(spilled(), {
      matches: line => line.endsWith('00'),
      context: 1,
      limit: 2,
    })
    expect(found.lines.map(line => line.number)).toEqual([99, 100, 101, 199, 200, 201])
    expect(found).toMatchObject({ totalLines: 500, totalMatches: 5 })
  })
})
