import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Row, showTime, toPlainRow, verdict } from './table.ts'

const CASES = 100_000
const KILLS = 200

/** Random files and random edits: no byte outside the match changes. The suite runs 5,000 of them. */
export async function measureEdits(): Promise<Row[]> {
  const config = `--config=${join(import.meta.dirname, 'edits.vitest.ts')}`
  const { holds, ms } = await runTests([config], { KOGU_EDIT_CASES: String(CASES) })
  return [
    toPlainRow({
      name: `${CASES.toLocaleString('en')} random edits of random files`,
      kogu: `${showTime(ms)}, ${showTime(ms / CASES)} a case`,
      target: 'all hold',
      verdict: verdict(holds),
    }),
  ]
}

/** Writers of files and of the audit log, killed again and again. The suite kills each 20 times. */
export async function measureKills(): Promise<Row[]> {
  const tests = ['recovery/files-kill', 'recovery/audit-kill', 'contained-later'].map(
    each => `test/${each}.test.ts`,
  )
  const { holds, ms } = await runTests(tests, { KOGU_KILLS: String(KILLS) })
  return [
    toPlainRow({
      name: `${KILLS} kills each, and one before every change of a file`,
      kogu: showTime(ms),
      target: 'nothing lost, all whole',
      verdict: verdict(holds),
    }),
  ]
}

/** A contained command that makes a million files. The suite makes 20,000. */
export async function measureSmallFiles(): Promise<Row[]> {
  const test = ['src/sandbox/layer/overlay.test.ts', '-t', 'makes more files']
  const { holds, ms } = await runTests(test, { KOGU_SMALL_FILES: '1000000' })
  return [
    toPlainRow({
      name: 'a million small files on a layer',
      kogu: showTime(ms),
      target: 'ended early, nothing left',
      verdict: verdict(holds),
    }),
  ]
}

async function runTests(args: readonly string[], settings: Record<string, string>) {
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  const started = performance.now()
  const child = spawn(process.execPath, [vitest, 'run', '--reporter=dot', ...args], {
    cwd: dirname(import.meta.dirname),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A program that starts another hands its environment on.
    env: { ...process.env, ...settings },
  })
  const output: Buffer[] = []
  child.stdout.on('data', chunk => output.push(chunk))
  child.stderr.on('data', chunk => output.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) console.log(Buffer.concat(output).toString())
  return { holds: code === 0, ms: performance.now() - started }
}
