import { appendFileSync, closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { AuditEvent } from '../src/core/audit.ts'
import { createRedactor } from '../src/core/redact.ts'
import { openAuditLog } from '../src/store/audit/log.ts'

export type BenchRow = { name: string; medianUs: number; p99Us: number; note?: string }

const STARTED: AuditEvent = {
  type: 'call-started',
  call: 'c_01hv3k9t2m',
  run: 'r_01hv3k9s7q',
  tool: 'Read',
  input: { file_path: '/home/kim/project/src/components/header.tsx', offset: 1, limit: 200 },
  caller: 'cli',
  cwd: '/home/kim/project',
}
const FINISHED: AuditEvent = {
  type: 'call-finished',
  call: 'c_01hv3k9t2m',
  run: 'r_01hv3k9s7q',
  tool: 'read_file',
  provider: 'builtin',
  ok: true,
  decision: {
    outcome: 'allow',
    by: 'rule',
    ref: { id: 'read-1', source: 'built-in', text: 'allow file_read in the workspace' },
    reason: 'Reading inside the workspace is allowed.',
  },
  risk: 'low',
  effects: [],
  runMs: 1.2,
  waitMs: 0,
}

/** What one call costs in the audit log: two events. Beside it, the same bytes written bare and written with a sync each. */
export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'kogu-bench-audit-'))
  try {
    const log = openAuditLog({
      directory: join(folder, 'audit'),
      anchorDirectory: join(folder, 'anchors'),
      redact: createRedactor(),
    })
    const call = await measure(20_000, () => {
      log.record(STARTED)
      log.record(FINISHED)
    })
    const event = await measure(20_000, () => log.record(FINISHED))
    await log.close()

    const line = `${JSON.stringify({ seq: 1, at: '', prev: '0'.repeat(64), hash: '0'.repeat(64), ...FINISHED })}\n`
    const bare = join(folder, 'bare.jsonl')
    const append = await measure(20_000, () => appendFileSync(bare, line))
    const fd = openSync(join(folder, 'synced.jsonl'), 'a')
    const synced = await measure(200, () => {
      writeSync(fd, line)
      fdatasyncSync(fd)
    })
    closeSync(fd)
    return [
      {
        name: 'audit: one call (two events)',
        ...call,
        note: 'redacted, chained, written; synced every 200 ms',
      },
      { name: 'audit: one event', ...event },
      { name: 'fs.appendFileSync of the same line', ...append, note: 'not redacted, not chained' },
      { name: 'write and fdatasync for each event', ...synced },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Times each round by itself; yields now and then, so that timers run as they do in a program. */
async function measure(rounds: number, action: () => void): Promise<{ medianUs: number; p99Us: number }> {
  for (let round = 0; round < rounds / 10; round += 1) action()
  const times = new Float64Array(rounds)
  for (let round = 0; round < rounds; round += 1) {
    if (round % 50 === 0) await setImmediate()
    const started = performance.now()
    action()
    times[round] = (performance.now() - started) * 1000
  }
  times.sort()
  const at = (share: number): number => Math.round((times[Math.floor(rounds * share)] ?? 0) * 10) / 10
  return { medianUs: at(0.5), p99Us: at(0.99) }
}
