import { appendFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AuditEvent, CallFinished } from '../../core/audit.ts'
import type { Outcome } from '../../core/decision.ts'
import { createRedactor } from '../../core/redact.ts'
import { openAuditLog } from './log.ts'
import { findEvent, type ReadOptions, readEvents } from './read.ts'
import { listSegments, segmentPath } from './segment-files.ts'

let folder: string
let directory: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kogu-audit-'))
  directory = join(folder, 'audit')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const clock = { now: Date.UTC(2026, 0, 1) }

function open(segmentBytes = 16 * 1024 * 1024) {
  const options = {
    directory,
    anchorDirectory: join(folder, 'anchors'),
    redact: createRedactor(),
    segmentBytes,
  }
  return openAuditLog({ ...options, now: () => clock.now })
}

function started(call: string, tool = 'read_file', run = 'r1', input: unknown = {}): AuditEvent {
  return { type: 'call-started', call, run, tool, input, caller: 'cli', cwd: '/' }
}

function finished(call: string, outcome: Outcome): CallFinished {
  const decision = { outcome, by: 'rule', ref: null, reason: 'because' } as const
  return {
    type: 'call-finished',
    call,
    run: 'r1',
    tool: 'read_file',
    ok: true,
    decision,
    risk: 'low',
    effects: [],
    runMs: 1,
    waitMs: 0,
  }
}

async function read(options: Omit<ReadOptions, 'directory'> = {}): Promise<string[]> {
  const calls: string[] = []
  for await (const { event } of readEvents({ directory, ...options })) {
    if (event.type !== 'note') calls.push(event.call)
  }
  return calls
}

/** Two writers at once, one event a minute, in turn. */
async function writeInTurn(count: number, segmentBytes?: number): Promise<string[]> {
  clock.now = Date.UTC(2026, 0, 1)
  const logs = [open(segmentBytes), open(segmentBytes)]
  const names: string[] = []
  for (let index = 0; index < count; index += 1) {
    clock.now += 60_000
    logs[index % 2]?.record(started(`c${index}`))
    names.push(`c${index}`)
  }
  for (const log of logs) await log.close()
  return names
}

test('one event is found by where it stands, and no other file is opened for it', async () => {
  await writeInTurn(4)
  const [segment = ''] = listSegments(directory)
  const found = await findEvent(directory, segment, 2)
  expect(found).toMatchObject({ segment, seq: 2 })
  expect(await findEvent(directory, segment, 999)).toBeUndefined()
  expect(await findEvent(directory, '../audit/x', 1)).toBeUndefined()
})

describe('order', () => {
  test.each([undefined, 1_500])(
    'events of several segments (of %s bytes) come in the order of their time',
    async bytes => {
      const names = await writeInTurn(40, bytes)
      expect(await read()).toEqual(names)
      expect(await read({ newestFirst: true })).toEqual(names.toReversed())
    },
  )

  test('a limit takes from the end that comes first', async () => {
    await writeInTurn(40, 1_500)
    expect(await read({ limit: 3, newestFirst: true })).toEqual(['c39', 'c38', 'c37'])
    expect((await read({ limit: 5 })).at(-1)).toBe('c2')
    expect(await read({ limit: 0 })).toEqual([])
  })

  test('a log that does not exist has no events', async () => {
    expect(await read()).toEqual([])
  })

  test('lines that are not events are left out from both sides', async () => {
    const names = await writeInTurn(4)
    for (const id of listSegments(directory)) appendFileSync(segmentPath(directory, id), 'nonsense\n\n{"torn')
    expect(await read()).toEqual(names)
    expect(await read({ newestFirst: true })).toEqual(names.toReversed())
  })

  test('lines longer than any chunk are read from both sides', async () => {
    const log = open()
    const long = Array.from({ length: 150_000 }, (_, index) => `item number ${index}`)
    log.record(started('a'))
    log.record(started('b', 'x', 'r', long))
    log.record(started('c'))
    await log.close()
    expect(await read()).toEqual(['a', 'b', 'c'])
    expect(await read({ newestFirst: true })).toEqual(['c', 'b', 'a'])
  })

  test('a reader that stops early leaves no file open', async () => {
    await writeInTurn(40, 1_500)
    for (let round = 0; round < 20; round += 1) {
      for await (const _ of readEvents({ directory, newestFirst: round % 2 === 0 })) break
    }
    const links = readdirSync('/proc/self/fd').map(fd => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        return ''
      }
    })
    expect(links.filter(link => link.startsWith(directory))).toEqual([])
  })
})

describe('filters', () => {
  beforeEach(async () => {
    clock.now = Date.UTC(2026, 0, 1)
    const log = open()
    log.record(started('c1', 'read_file', 'r1', { path: 'Some "quoted" Text' }))
    log.record(finished('c1', 'allow'))
    clock.now += 3_600_000
    log.record(started('c2', 'write_file', 'r2.child'))
    log.record({ ...finished('c2', 'deny'), agent: 'Pricing' })
    await log.close()
  })

  const hour = (minutes: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minutes))

  test.each<[string, Omit<ReadOptions, 'directory'>, string[]]>([
    ['tool', { tool: 'write_file' }, ['c2']],
    ['call', { call: 'c1' }, ['c1', 'c1']],
    ['run, with its sub-agents', { run: 'r2' }, ['c2']],
    ['a part of the id of a run', { run: 'r' }, []],
    ['agent', { agent: 'Pricing' }, ['c2']],
    ['outcome', { outcome: 'deny' }, ['c2']],
    ['decider', { by: 'user' }, []],
    ['decider and outcome', { by: 'rule', outcome: 'deny' }, ['c2']],
    ['text, whatever its case and quotes', { text: 'some "QUOTED"' }, ['c1']],
    ['since', { since: hour(30) }, ['c2', 'c2']],
    ['until', { until: hour(30) }, ['c1', 'c1']],
    ['a time between', { since: hour(1), until: hour(59) }, []],
    ['all together', { call: 'c1', outcome: 'allow', tool: 'read_file', run: 'r1' }, ['c1']],
    ['a part of a name', { call: 'c' }, []],
  ])('by %s', async (_, options, expected) => {
    expect(await read(options)).toEqual(expected)
    expect(await read({ ...options, newestFirst: true })).toEqual(expected)
  })

  test('an event comes with its stamp, its segment and its line', async () => {
    const { value: first } = await readEvents({ directory, call: 'c1' }).next()
    expect(first).toMatchObject({
      segment: listSegments(directory)[0],
      seq: 2,
      at: '2026-01-01T00:00:00.000Z',
    })
    expect(JSON.parse(first?.text ?? '')).toMatchObject({
      seq: 2,
      hash: first?.hash,
      prev: first?.prev,
      call: 'c1',
    })
  })
})
