import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readEvents } from '../../src/store/audit/read.ts'
import { listSegments, segmentPath } from '../../src/store/audit/segment-files.ts'
import { verifyAudit } from '../../src/store/audit/verify.ts'

/** `npm run bench -- file-kills` kills 200 times. */
const KILLS = Number(process.env.KOGU_KILLS ?? 20)

const WRITER = new URL('./audit-writer.ts', import.meta.url).pathname

let folder: string
let directory: string
let anchorDirectory: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kogu-audit-'))
  directory = join(folder, 'audit')
  anchorDirectory = join(folder, 'anchors')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Starts a writer and returns the numbers of the events that it saw written. */
function write(
  name: string,
  count: number,
  { segmentBytes = 16 * 1024 * 1024, killAfterMs = 0 } = {},
): Promise<number[]> {
  const args = [WRITER, directory, anchorDirectory, name, String(count), String(segmentBytes)]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Starting is most of what this test costs.
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compile-cache') },
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    // Counted from the first event: starting up takes most of the time.
    if (output === '' && count === 0) setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    output += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve(output.split('\n').slice(0, -1).map(Number)))
  })
}

/** What each writer has in the log, by its name. */
async function stored(): Promise<Map<string, number[]>> {
  const numbers = new Map<string, number[]>()
  for await (const { event } of readEvents({ directory })) {
    if (event.type !== 'note' || event.action !== 'written') continue
    const { name, number } = event.details as { name: string; number: number }
    const list = numbers.get(name) ?? []
    list.push(number)
    numbers.set(name, list)
  }
  return numbers
}

test(`of a writer killed with SIGKILL ${KILLS} times no acknowledged event is lost, and the log stays whole`, async () => {
  const acknowledged = new Map<string, number[]>()
  // Two at a time: one that is killed while another one writes leaves a segment that a third takes over.
  const lives = async (lane: string): Promise<void> => {
    for (let life = 0; life < KILLS / 2; life += 1) {
      const name = `${lane}${life}`
      const numbers = await write(name, 0, { killAfterMs: Math.random() * 25, segmentBytes: 512 * 1024 })
      acknowledged.set(name, numbers)
    }
  }
  await Promise.all([lives('a'), lives('b')])

  const report = await verifyAudit({ directory, anchorDirectory })
  expect(report.problems).toEqual([])
  // Only a segment whose writer was killed while it began has no anchor, and then it holds nothing but its beginning.
  for (const segment of report.anchored.missing) {
    expect(readFileSync(segmentPath(directory, segment), 'utf8').split('\n')).toHaveLength(2)
  }
  const found = await stored()
  for (const [name, numbers] of acknowledged) {
    const kept = found.get(name) ?? []
    // Everything acknowledged, once and in order; at most one event more, which was written but not yet told.
    expect(kept.slice(0, numbers.length)).toEqual(numbers)
    expect(kept.length - numbers.length).toBeLessThanOrEqual(1)
  }
  expect([...acknowledged.values()].flat().length).toBeGreaterThan(KILLS)
}, 180_000)

test('eight processes at once lose and double nothing', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `p${index}`)
  const numbers = Array.from({ length: 500 }, (_, index) => index + 1)
  const told = await Promise.all(names.map(name => write(name, 500, { segmentBytes: 200 * 1024 })))
  expect(told).toEqual(names.map(() => numbers))

  const report = await verifyAudit({ directory, anchorDirectory })
  expect(report).toMatchObject({ ok: true, problems: [], torn: [], anchored: { missing: [] } })
  expect(await stored()).toEqual(new Map(names.map(name => [name, numbers])))
})

test('many short processes, one after another, share one segment', async () => {
  for (let index = 0; index < 5; index += 1) await write(`p${index}`, 2)
  expect(listSegments(directory)).toHaveLength(1)
  expect(await verifyAudit({ directory, anchorDirectory })).toMatchObject({ ok: true, events: 11 })
})
