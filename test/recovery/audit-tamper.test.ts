import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/core/redact.ts'
import type { Problem } from '../../src/store/audit/chain.ts'
import { formatLine, NO_HASH } from '../../src/store/audit/line.ts'
import { openAuditLog } from '../../src/store/audit/log.ts'
import { listSegments, segmentPath } from '../../src/store/audit/segment-files.ts'
import { verifyAudit } from '../../src/store/audit/verify.ts'

let folder: string
let directory: string
let anchorDirectory: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kogu-audit-'))
  directory = join(folder, 'audit')
  anchorDirectory = join(folder, 'anchors')
  await record(9)
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Writes events; with the first line of the segment, nine make the lines 1 to 10. */
async function record(count: number, segmentBytes = 16 * 1024 * 1024): Promise<void> {
  const log = openAuditLog({ directory, anchorDirectory, redact: createRedactor(), segmentBytes })
  for (let number = 1; number <= count; number += 1)
    log.record({ type: 'note', action: 'test', details: { number } })
  await log.close()
}

function onlySegment(): string {
  const [id = ''] = listSegments(directory)
  return id
}

function edit(change: (lines: string[]) => string[]): void {
  const path = segmentPath(directory, onlySegment())
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  writeFileSync(
    path,
    change(lines)
      .map(line => `${line}\n`)
      .join(''),
  )
}

/** Line `number` (from 1) replaced by what `change` makes of it. */
function editLine(number: number, change: (line: string) => string): void {
  edit(lines => lines.map((line, index) => (index === number - 1 ? change(line) : line)))
}

async function found(): Promise<Pick<Problem, 'kind' | 'line' | 'seq'>[]> {
  const { problems, ok } = await verifyAudit({ directory, anchorDirectory })
  expect(ok).toBe(problems.length === 0)
  for (const problem of problems) expect(problem.message).toMatch(/^[A-Z0-9].*\.$/)
  return problems.map(({ kind, line, seq }) => ({ kind, line, ...(seq === undefined ? {} : { seq }) }))
}

/** The same line with its hash made again, as somebody who knows the format would. */
function rehash(line: string, change: { prev?: string; seq?: number } = {}): string {
  const { seq, at, prev, hash: _hash, ...event } = JSON.parse(line)
  return formatLine(change.seq ?? seq, at, change.prev ?? prev, JSON.stringify(event)).text.slice(0, -1)
}

/** All hashes made again from the first line on. */
function rehashAll(lines: string[]): string[] {
  let prev = NO_HASH
  return lines.map((line, index) => {
    const made = rehash(line, { prev, seq: index + 1 })
    prev = JSON.parse(made).hash
    return made
  })
}

const changeNumber = (line: string): string => line.replace('"number":', '"number":9')

test('a log that nobody touched is in order', async () => {
  expect(await verifyAudit({ directory, anchorDirectory })).toEqual({
    ok: true,
    segments: 1,
    events: 10,
    problems: [],
    anchored: { segments: 1, missing: [] },
    torn: [],
  })
})

describe('an edit is found, with its place', () => {
  test.each([1, 2, 5, 10])('line %i changed', async line => {
    editLine(line, text => text.replace('"note"', '"Note"'))
    expect(await found()).toEqual([{ kind: 'changed', line, seq: line }])
  })

  test('one space more', async () => {
    editLine(5, text => text.replace('"details":', '"details": '))
    expect(await found()).toEqual([{ kind: 'changed', line: 5, seq: 5 }])
  })

  test('the time changed', async () => {
    editLine(5, text => text.replace(/"at":"\d/, '"at":"1'))
    expect(await found()).toEqual([{ kind: 'changed', line: 5, seq: 5 }])
  })

  test('a line changed and hashed again', async () => {
    editLine(5, text => rehash(changeNumber(text)))
    expect(await found()).toEqual([{ kind: 'changed', line: 5, seq: 5 }])
  })

  test('two neighbours changed and hashed again', async () => {
    edit(lines => [
      ...lines.slice(0, 4),
      ...rehashAll(lines.slice(0, 6).map(changeNumber)).slice(4),
      ...lines.slice(6),
    ])
    const problems = await found()
    expect(problems.length).toBeGreaterThan(0)
    for (const { kind, line } of problems) expect([kind, line >= 4 && line <= 7]).toEqual(['changed', true])
  })

  test('the last line changed and hashed again', async () => {
    editLine(10, text => rehash(changeNumber(text)))
    expect(await found()).toEqual([{ kind: 'recomputed', line: 10, seq: 10 }])
  })

  test.each(['', 'nonsense', '{}', '\u0000'.repeat(100)])('a line overwritten with %j', async text => {
    editLine(5, () => text)
    expect(await found()).toEqual([{ kind: 'unreadable', line: 5, seq: 5 }])
  })

  test.each([1, 2, 5, 9])('line %i removed', async line => {
    edit(lines => lines.toSpliced(line - 1, 1))
    expect(await found()).toEqual([{ kind: 'removed', line, seq: line }])
  })

  test('three lines removed', async () => {
    edit(lines => lines.toSpliced(3, 3))
    expect(await found()).toEqual([{ kind: 'removed', line: 4, seq: 4 }])
  })

  test.each([1, 5, 9])('a line inserted after line %i', async line => {
    for (const text of ['nonsense', '{"seq":6}']) {
      edit(lines => lines.toSpliced(line, 0, text))
      expect(await found()).toEqual([{ kind: 'unreadable', line: line + 1, seq: line + 1 }])
      edit(lines => lines.toSpliced(line, 1))
    }
  })

  test('an event inserted that continues the chain correctly', async () => {
    edit(lines => lines.toSpliced(5, 0, rehash(changeNumber(lines[5] ?? ''))))
    expect(await found()).toEqual([
      { kind: 'changed', line: 6, seq: 6 },
      { kind: 'inserted', line: 7, seq: 6 },
    ])
  })

  test('an event inserted after the one whose place it claims', async () => {
    edit(lines => lines.toSpliced(6, 0, rehash(changeNumber(lines[5] ?? ''))))
    expect(await found()).toEqual([{ kind: 'inserted', line: 7, seq: 6 }])
  })

  test('an event inserted that does not continue the chain', async () => {
    edit(lines => lines.toSpliced(5, 0, rehash(lines[5] ?? '', { prev: NO_HASH })))
    expect(await found()).toEqual([
      { kind: 'changed', line: 5, seq: 5 },
      { kind: 'changed', line: 6, seq: 6 },
      { kind: 'inserted', line: 7, seq: 6 },
    ])
  })

  test('two lines of nonsense inserted', async () => {
    edit(lines => lines.toSpliced(5, 0, 'non', 'sense'))
    expect((await found()).map(({ kind, line }) => [kind, line])).toEqual([
      ['unreadable', 6],
      ['unreadable', 7],
    ])
  })

  test.each([
    [5, 5],
    [5, 8],
    [3, 10],
  ])('line %i copied to after line %i', async (from, to) => {
    edit(lines => lines.toSpliced(to, 0, lines[from - 1] ?? ''))
    expect(await found()).toEqual([{ kind: 'inserted', line: to + 1, seq: from }])
  })

  test('two neighbours swapped', async () => {
    edit(lines => lines.with(4, lines[5] ?? '').with(5, lines[4] ?? ''))
    expect(await found()).toEqual([
      { kind: 'removed', line: 5, seq: 5 },
      { kind: 'inserted', line: 6, seq: 5 },
    ])
  })

  test('the last two swapped', async () => {
    edit(lines => lines.with(8, lines[9] ?? '').with(9, lines[8] ?? ''))
    expect(await found()).toEqual([
      { kind: 'removed', line: 9, seq: 9 },
      { kind: 'inserted', line: 10, seq: 9 },
    ])
  })

  test('a line moved to the end', async () => {
    edit(lines => [...lines.toSpliced(2, 1), lines[2] ?? ''])
    expect(await found()).toEqual([
      { kind: 'removed', line: 3, seq: 3 },
      { kind: 'inserted', line: 10, seq: 3 },
    ])
  })

  test('two edits at different places', async () => {
    edit(lines => lines.with(2, changeNumber(lines[2] ?? '')).toSpliced(6, 1))
    expect(await found()).toEqual([
      { kind: 'changed', line: 3, seq: 3 },
      { kind: 'removed', line: 7, seq: 7 },
    ])
  })

  test('a number too large to be counted to', async () => {
    editLine(5, text => rehash(text, { seq: 999_999_999_999 }))
    expect((await found()).map(({ kind }) => kind)).toContain('removed')
  })
})

describe('what only the anchor knows', () => {
  test('the tail cut at a line', async () => {
    edit(lines => lines.slice(0, 7))
    expect(await found()).toEqual([{ kind: 'cut-tail', line: 7, seq: 8 }])
  })

  test('the tail cut inside a line', async () => {
    const path = segmentPath(directory, onlySegment())
    truncateSync(path, readFileSync(path).length - 5)
    expect(await found()).toEqual([{ kind: 'cut-tail', line: 9, seq: 10 }])
  })

  test('everything cut', async () => {
    truncateSync(segmentPath(directory, onlySegment()), 0)
    expect(await found()).toEqual([{ kind: 'cut-tail', line: 0, seq: 1 }])
  })

  test('an event changed and the whole file hashed again', async () => {
    edit(lines => rehashAll(lines.with(4, changeNumber(lines[4] ?? ''))))
    expect(await found()).toEqual([{ kind: 'recomputed', line: 10, seq: 10 }])
  })

  test('an event removed and the whole file hashed again', async () => {
    edit(lines => rehashAll(lines.toSpliced(4, 1)))
    expect(await found()).toEqual([{ kind: 'cut-tail', line: 9, seq: 10 }])
  })

  test('an event removed, one added, and the whole file hashed again', async () => {
    edit(lines => rehashAll([...lines.toSpliced(4, 1), lines[9] ?? '']))
    expect(await found()).toEqual([{ kind: 'recomputed', line: 10, seq: 10 }])
  })

  test('an event added that continues the chain correctly', async () => {
    edit(lines => rehashAll([...lines, lines[9] ?? '']))
    expect(await found()).toEqual([{ kind: 'inserted', line: 11, seq: 11 }])
    await record(1)
    expect(await found()).toEqual([{ kind: 'inserted', line: 11, seq: 11 }])
  })

  test('a segment removed', async () => {
    rmSync(segmentPath(directory, onlySegment()))
    expect(await found()).toEqual([{ kind: 'missing-segment', line: 0 }])
  })

  test('the whole log removed', async () => {
    rmSync(directory, { recursive: true })
    expect(await found()).toEqual([{ kind: 'missing-segment', line: 0 }])
  })

  test('a segment renamed', async () => {
    renameSync(segmentPath(directory, onlySegment()), segmentPath(directory, '20200101T000000000Z-00000000'))
    expect(await found()).toEqual([
      { kind: 'misplaced', line: 1, seq: 1 },
      { kind: 'missing-segment', line: 0 },
    ])
  })

  test('without anchors the report says that the log is not anchored', async () => {
    edit(lines => lines.slice(0, 7))
    rmSync(anchorDirectory, { recursive: true })
    const report = await verifyAudit({ directory, anchorDirectory })
    expect(report).toMatchObject({ ok: true, anchored: { segments: 0, missing: [onlySegment()] } })
  })

  test('events after the anchor, as a killed writer leaves them, are in order', async () => {
    const anchor = join(anchorDirectory, `${onlySegment()}.json`)
    const [, , third = ''] = readFileSync(segmentPath(directory, onlySegment()), 'utf8').split('\n')
    writeFileSync(
      anchor,
      JSON.stringify({
        ...JSON.parse(readFileSync(anchor, 'utf8')),
        seq: 3,
        hash: JSON.parse(third).hash,
        open: true,
      }),
    )
    expect(await found()).toEqual([])
  })

  test('an unfinished last line is told apart from tampering', async () => {
    appendFileSync(segmentPath(directory, onlySegment()), '{"seq":11,"at":"20')
    const report = await verifyAudit({ directory, anchorDirectory })
    expect(report).toMatchObject({ ok: true, torn: [{ segment: onlySegment(), bytes: 18 }] })
  })
})

describe('segments that continue each other', () => {
  beforeEach(async () => {
    rmSync(folder, { recursive: true })
    await record(16, 1_200)
    expect(listSegments(directory).length).toBeGreaterThan(3)
    expect(await found()).toEqual([])
    // What the chain alone can tell.
    rmSync(anchorDirectory, { recursive: true })
  })

  test('a segment in the middle removed', async () => {
    rmSync(segmentPath(directory, listSegments(directory)[1] ?? ''))
    expect(await found()).toEqual([{ kind: 'missing-segment', line: 0 }])
  })

  test('the tail of a segment cut', async () => {
    edit(lines => lines.slice(0, -1))
    expect((await found()).map(({ kind }) => kind)).toEqual(['cut-tail'])
  })

  test('a segment hashed again', async () => {
    edit(lines => rehashAll(lines.with(1, changeNumber(lines[1] ?? ''))))
    expect((await found()).map(({ kind }) => kind)).toEqual(['recomputed'])
  })

  test('events added to a segment that was continued', async () => {
    edit(lines => rehashAll([...lines, lines[1] ?? '']))
    expect((await found()).map(({ kind }) => kind)).toEqual(['inserted'])
  })
})

test('no single edit of the bytes goes unnoticed, and none makes verifying fail', async () => {
  const path = segmentPath(directory, onlySegment())
  const original = readFileSync(path)
  const place = fc.integer({ min: 0, max: original.length - 1 })
  const edits = fc.oneof(
    fc.record({ at: place, remove: fc.integer({ min: 1, max: 900 }), put: fc.constant('') }),
    fc.record({ at: place, remove: fc.constant(0), put: fc.string({ minLength: 1, maxLength: 20 }) }),
    fc.record({
      at: place,
      remove: fc.constant(1),
      put: fc.constantFrom('0', '"', '\n', ',', '}', '\u0000'),
    }),
  )
  await fc.assert(
    fc.asyncProperty(edits, async ({ at, remove, put }) => {
      const edited = Buffer.concat([
        original.subarray(0, at),
        Buffer.from(put),
        original.subarray(at + remove),
      ])
      fc.pre(!edited.equals(original))
      writeFileSync(path, edited)
      expect((await verifyAudit({ directory, anchorDirectory })).ok).toBe(false)
    }),
    { numRuns: 300 },
  )
})

test('a file full of nonsense is given up on', async () => {
  for (const line of ['\n', '{}\n']) {
    writeFileSync(segmentPath(directory, onlySegment()), line.repeat(1_000_000))
    const { problems } = await verifyAudit({ directory, anchorDirectory })
    expect(problems.length).toBeGreaterThan(1_000)
    expect(problems.length).toBeLessThan(1_010)
  }
})

test('a tampered segment is not continued, so that its anchor keeps the evidence', async () => {
  const tampered = onlySegment()
  edit(lines => lines.slice(0, 7))
  await record(3)
  expect(await found()).toEqual([{ kind: 'cut-tail', line: 7, seq: 8 }])
  const [, second = ''] = listSegments(directory)
  const events = readFileSync(segmentPath(directory, second), 'utf8')
  expect(events).toContain(`"action":"segment-refused","details":{"segment":"${tampered}"`)
})
