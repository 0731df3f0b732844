import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AuditEvent, AuditLog } from '../../core/audit.ts'
import { createRedactor } from '../../core/redact.ts'
import { readAnchor } from './anchors.ts'
import { sha256 } from './line.ts'
import { type AuditLogOptions, openAuditLog } from './log.ts'
import { readEvents } from './read.ts'
import { listSegments, newSegmentId, segmentPath } from './segment-files.ts'
import { verifyAudit } from './verify.ts'

let folder: string
let directory: string
let anchorDirectory: string
const opened: AuditLog[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kogu-audit-'))
  directory = join(folder, '.kogu', 'audit')
  anchorDirectory = join(folder, 'state', 'anchors')
})

afterEach(async () => {
  for (const log of opened.splice(0)) await log.close().catch(() => {})
  rmSync(folder, { recursive: true, force: true })
})

function openLog(options: Partial<AuditLogOptions> = {}): AuditLog {
  const log = openAuditLog({ directory, anchorDirectory, redact: createRedactor(), ...options })
  opened.push(log)
  return log
}

function note(action: string, details: Record<string, unknown> = {}): AuditEvent {
  return { type: 'note', action, details }
}

async function actions(): Promise<string[]> {
  const list: string[] = []
  for await (const { event } of readEvents({ directory }))
    list.push(event.type === 'note' ? event.action : event.type)
  return list
}

function lines(segment = 0): string[] {
  return readFileSync(segmentPath(directory, listSegments(directory)[segment] ?? ''), 'utf8')
    .split('\n')
    .slice(0, -1)
}

function verify() {
  return verifyAudit({ directory, anchorDirectory })
}

describe('recording', () => {
  test('an event is in the file when `record` returns, chained to the one before', () => {
    const log = openLog({ now: () => Date.UTC(2026, 10, 15, 12) })
    log.record(note('one'))
    log.record(note('two', { text: 'ü' }))
    const [first, second, third] = lines().map(line => JSON.parse(line))
    expect(first).toMatchObject({ seq: 1, prev: '0'.repeat(64), action: 'segment-started' })
    expect(second).toMatchObject({
      seq: 2,
      prev: first.hash,
      at: '2026-11-15T12:00:00.000Z',
      type: 'note',
      action: 'one',
    })
    expect(third).toMatchObject({ seq: 3, prev: second.hash, details: { text: 'ü' } })
    // What is hashed, in the words of the format: the line without `,"hash":"…"`.
    const hashed = lines()[2]?.replace(/,"hash":"[0-9a-f]{64}"/, '') ?? ''
    expect(third.hash).toBe(sha256(hashed))
  })

  test('files and folders are for the owner alone', () => {
    openLog().record(note('one'))
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(statSync(anchorDirectory).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(directory))
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
  })

  test('nothing is written before the first event', async () => {
    await openLog().close()
    expect(readdirSync(folder)).toEqual([])
  })

  test('secrets do not reach the file', () => {
    openLog().record(note('one', { command: 'curl -u me:hunter2 https://x', api_key: 'abcdef' }))
    expect(lines().join()).not.toMatch(/hunter2|abcdef"/)
    expect(JSON.parse(lines()[1] ?? '').details).toEqual({
      command: 'curl -u me:‹secret:password› https://x',
      api_key: '‹secret:api_key›',
    })
  })

  test('a long string is kept as its beginning, size and hash, after its secrets are gone', () => {
    const text = `password=hunter2 ${'ü'.repeat(10_000)}`
    const redacted = text.replace('hunter2', '‹secret:password›')
    openLog().record(note('one', { long: [text], token: text, short: 'x'.repeat(8_000) }))
    expect(lines().join()).not.toContain('hunter2')
    expect(JSON.parse(lines()[1] ?? '').details).toEqual({
      token: '‹secret:token›',
      long: [{ '…': redacted.slice(0, 200), bytes: Buffer.byteLength(text), sha256: sha256(text) }],
      short: 'x'.repeat(8_000),
    })
  })

  test('a string cut between the halves of a character stays valid text', async () => {
    openLog().record(note('one', { long: `x${'🙂'.repeat(10_000)}` }))
    expect((await verify()).ok).toBe(true)
    expect(lines()[1]).not.toMatch(/\\ud/)
  })

  test('what cannot be written throws and leaves the chain whole', async () => {
    const log = openLog()
    log.record(note('one'))
    expect(() => log.record(note('two', { big: 1n }))).toThrow(/cannot be written/)
    log.record(note('three'))
    await log.close()
    expect(await actions()).toEqual(['segment-started', 'one', 'three'])
    expect((await verify()).ok).toBe(true)
  })

  test('a closed log takes no more events', async () => {
    const log = openLog()
    log.record(note('one'))
    await log.close()
    await log.close()
    expect(() => log.record(note('two'))).toThrow(/closed/)
  })
})

describe('folders that cannot be used', () => {
  test('a log without a place throws, so that nothing runs', () => {
    writeFileSync(join(folder, '.kogu'), 'a file')
    expect(() => openLog().record(note('one'))).toThrow(expect.objectContaining({ code: 'failed' }))
  })

  test('a link in the place of the folder is refused', () => {
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    mkdirSync(join(folder, '.kogu'))
    symlinkSync(elsewhere, directory)
    expect(() => openLog().record(note('one'))).toThrow(/is a symlink/)
    expect(readdirSync(elsewhere)).toEqual([])
  })

  test('links and second names in the place of a segment are not written through', async () => {
    const victim = join(folder, 'victim')
    writeFileSync(victim, 'precious')
    mkdirSync(directory, { recursive: true })
    symlinkSync(victim, segmentPath(directory, '99990101T000000000Z-00000000'))
    linkSync(victim, segmentPath(directory, '99990101T000000000Z-00000001'))
    // Without anchors, nothing else would keep it from being continued.
    writeFileSync(join(folder, 'state'), 'a file')
    openLog().record(note('one'))
    expect(readFileSync(victim, 'utf8')).toBe('precious')
  })

  test('without an anchor folder the log works, is continued, and is reported as not anchored', async () => {
    writeFileSync(join(folder, 'state'), 'a file')
    for (const action of ['one', 'two']) {
      const log = openLog()
      log.record(note(action))
      await log.close()
    }
    expect(await actions()).toEqual(['segment-started', 'one', 'two'])
    expect(await verify()).toMatchObject({
      ok: true,
      anchored: { segments: 0, missing: listSegments(directory) },
    })
    // Once anchors can be kept again, they are.
    rmSync(join(folder, 'state'))
    const log = openLog()
    log.record(note('three'))
    await log.close()
    expect(await verify()).toMatchObject({ ok: true, anchored: { segments: 1 } })
  })

  test('a segment that came with a repository is not continued', async () => {
    const log = openLog()
    log.record(note('one'))
    await log.close()
    rmSync(anchorDirectory, { recursive: true })
    openLog().record(note('two'))
    expect(listSegments(directory)).toHaveLength(2)
  })
})

describe('segments', () => {
  test('the next process goes on with the segment of the last', async () => {
    for (const action of ['one', 'two', 'three']) {
      const log = openLog()
      log.record(note(action))
      await log.close()
    }
    expect(await actions()).toEqual(['segment-started', 'one', 'two', 'three'])
    expect(readdirSync(directory)).toHaveLength(1)
  })

  test('two logs at once write to two segments', async () => {
    openLog().record(note('one'))
    openLog().record(note('two'))
    expect(listSegments(directory)).toHaveLength(2)
    expect((await verify()).ok).toBe(true)
  })

  test('a full segment is ended and continued in a new one that names it', async () => {
    const log = openLog({ segmentBytes: 700 })
    for (let index = 0; index < 5; index += 1) log.record(note(`e${index}`))
    await log.close()
    const ids = listSegments(directory)
    expect(ids.length).toBeGreaterThan(1)
    const end = JSON.parse(lines(0).at(-1) ?? '')
    expect(end).toMatchObject({ action: 'segment-ended' })
    expect(JSON.parse(lines(1)[0] ?? '')).toMatchObject({
      seq: 1,
      prev: end.hash,
      details: { segment: ids[1], after: { segment: ids[0], seq: end.seq, hash: end.hash } },
    })
    expect((await actions()).filter(action => action.startsWith('e'))).toEqual(['e0', 'e1', 'e2', 'e3', 'e4'])
    expect(await verify()).toMatchObject({ ok: true, anchored: { missing: [] } })
  })

  test('events of one millisecond are read in the order of the segments that they are in', async () => {
    const log = openLog({ segmentBytes: 700, now: () => Date.UTC(2026, 10, 15, 12) })
    for (let index = 0; index < 9; index += 1) log.record(note(`e${index}`))
    await log.close()
    expect(listSegments(directory).length).toBeGreaterThan(2)
    const read = async (newestFirst: boolean) => {
      const found: string[] = []
      for await (const { event } of readEvents({ directory, newestFirst }))
        if (event.type === 'note' && /^e\d$/.test(event.action)) found.push(event.action)
      return found
    }
    const order = Array.from({ length: 9 }, (_, index) => `e${index}`)
    expect(await read(false)).toEqual(order)
    expect(await read(true)).toEqual(order.toReversed())
  })

  test('a segment that continues another sorts after it, whatever the clock says', () => {
    const at = '2026-11-15T21:25:23.123Z'
    let id = newSegmentId(at)
    for (const next of [at, at, at, '2026-11-15T20:00:00.000Z', at, '2026-11-15T21:25:23.124Z']) {
      const earlier = id
      id = newSegmentId(next, earlier)
      expect(id > earlier).toBe(true)
      expect(id).toMatch(/^\d{8}T\d{9}Z-[0-9a-f]{8}$/)
    }
  })

  test('a segment that was continued is never written again, whatever the limit is then', async () => {
    const small = openLog({ segmentBytes: 700 })
    for (let index = 0; index < 5; index += 1) small.record(note(`e${index}`))
    const before = lines(0)
    openLog().record(note('later'))
    openLog().record(note('later'))
    expect(lines(0)).toEqual(before)
    expect((await verify()).ok).toBe(true)
  })

  test('a torn last line is cut off and noted, and the chain goes on', async () => {
    const first = openLog()
    first.record(note('one'))
    await first.close()
    const torn = '{"seq":3,"at":"2026'
    appendFileSync(segmentPath(directory, listSegments(directory)[0] ?? ''), torn)
    const second = openLog()
    second.record(note('two'))
    await second.close()
    expect(await actions()).toEqual(['segment-started', 'one', 'tail-repaired', 'two'])
    expect(JSON.parse(lines()[2] ?? '').details).toMatchObject({ bytes: torn.length, sha256: sha256(torn) })
    expect(await verify()).toMatchObject({ ok: true, torn: [] })
  })

  test('taking over after a very long line works', async () => {
    const first = openLog()
    first.record(note('long', { list: Array.from({ length: 20_000 }, (_, index) => `item ${index}`) }))
    await first.close()
    const second = openLog()
    second.record(note('two'))
    await second.close()
    expect(await actions()).toEqual(['segment-started', 'long', 'two'])
    expect((await verify()).ok).toBe(true)
  })

  test('a segment whose end does not fit its hash is left alone', async () => {
    const first = openLog()
    first.record(note('one'))
    await first.close()
    const path = segmentPath(directory, listSegments(directory)[0] ?? '')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"one"', '"two"'))
    openLog().record(note('three'))
    expect(lines(1).map(line => JSON.parse(line).action)).toEqual([
      'segment-started',
      'segment-refused',
      'three',
    ])
  })
})

describe('syncing', () => {
  test('the anchor follows within the given time, on its own', async () => {
    const log = openLog({ syncMs: 10 })
    log.record(note('one'))
    const [id = ''] = listSegments(directory)
    expect(readAnchor(anchorDirectory, id)?.seq).toBe(1)
    await expect.poll(() => readAnchor(anchorDirectory, id)?.seq).toBe(2)
  })

  test('with no time given every event is on the disk when `record` returns', () => {
    const log = openLog({ syncMs: 0 })
    log.record(note('one'))
    log.record(note('two'))
    expect(readAnchor(anchorDirectory, listSegments(directory)[0] ?? '')?.seq).toBe(3)
  })

  test('flush brings the anchor up to the last event', async () => {
    const log = openLog({ syncMs: 60_000 })
    for (let index = 0; index < 3; index += 1) log.record(note('x'))
    await log.flush()
    const [id = ''] = listSegments(directory)
    const last = JSON.parse(lines().at(-1) ?? '')
    expect(readAnchor(anchorDirectory, id)).toEqual({
      segment: id,
      seq: 4,
      hash: last.hash,
      first: JSON.parse(lines()[0] ?? '').hash,
      open: true,
    })
    await log.close()
    expect(readAnchor(anchorDirectory, id)).toMatchObject({ seq: 4, open: false })
  })

  test.each([
    ['removed', (path: string) => rmSync(path), 'missing-segment'],
    ['cut', (path: string) => truncateSync(path, 300), 'unreadable'],
    ['replaced', (path: string) => rewrite(path, ''), 'cut-tail'],
  ] as const)(
    'a file that is %s under the writer is noticed, and events go on elsewhere',
    async (_, harm, kind) => {
      const log = openLog({ syncMs: 5 })
      log.record(note('one'))
      await log.flush()
      harm(segmentPath(directory, listSegments(directory)[0] ?? ''))
      log.record(note('two'))
      await log.flush()
      log.record(note('three'))
      await log.close()
      const recorded = await actions()
      expect(recorded).toEqual(expect.arrayContaining(['segment-refused', 'three']))
      expect((await verify()).problems.map(problem => problem.kind)).toContain(kind)
    },
  )

  test('a log that is not closed does not keep the process from ending', async () => {
    const program = `
      const { openAuditLog } = await import(${JSON.stringify(new URL('./log.ts', import.meta.url).href)})
      const { createRedactor } = await import(${JSON.stringify(new URL('../../core/redact.ts', import.meta.url).href)})
      const [, directory, anchorDirectory] = process.argv
      openAuditLog({ directory, anchorDirectory, redact: createRedactor(), syncMs: 60_000 })
        .record({ type: 'note', action: 'one', details: {} })`
    execFileSync(process.execPath, ['--input-type=module', '-e', program, directory, anchorDirectory], {
      timeout: 10_000,
    })
    expect(await actions()).toEqual(['segment-started', 'one'])
  })
})

/** Another file under the same name. */
function rewrite(path: string, text: string): void {
  rmSync(path)
  writeFileSync(path, text)
}
