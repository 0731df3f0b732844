import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Row, showTime, toPlainRow, verdict } from './table.ts'

const CASES = 100_000

/** Random files and random edits: no byte outside the match changes. The suite runs 5,000 of them. */
export async function measureEdits(): Promise<Row[]> {
  const root = dirname(import.meta.dirname)
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  const started = performance.now()
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--reporter=dot', `--config=${join(import.meta.dirname, 'edits.vitest.ts')}`],
    // A program that starts another hands its environment on.
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, KOGU_EDIT_CASES: String(CASES) } },
  )
  const output: Buffer[] = []
  child.stdout.on('data', chunk => output.push(chunk))
  child.stderr.on('data', chunk => output.push(chunk))
  const [code] = await once(child, 'close')
  const ms = performance.now() - started
  if (code !== 0) console.log(Buffer.concat(output).toString())
  return [
    toPlainRow({
      name: `${CASES.toLocaleString('en')} random edits of random files`,
      kogu: `${showTime(ms)}, ${showTime(ms / CASES)} a case`,
      target: 'all hold',
      verdict: verdict(code === 0),
    }),
  ]
}
