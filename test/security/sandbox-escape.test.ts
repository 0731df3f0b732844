import { execFileSync, type StdioOptions } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findSandboxSystem } from '../../src/sandbox/system.ts'
import { type AttackReport, attack } from './sandbox-attack.ts'

const system = findSandboxSystem()
const why = typeof system === 'string' ? ` (skipped: ${system})` : ''
const isRoot = process.getuid?.() === 0

test.skipIf(why !== '').each([
  ['', false],
  [' on a layer', true],
])(`no command gets out of the sandbox, run as this user%s${why}`, async (_name, onLayer) => {
  const report = await attack({ onLayer })
  expect(report.escaped).toEqual([])
  expect(report.attempted).toBeGreaterThanOrEqual(60)
})

const whyNoOther = isRoot ? why : ' (skipped: only root can become another user)'
test.skipIf(whyNoOther !== '').each([
  ['', []],
  [' on a layer', ['--layer']],
])(`no command gets out of the sandbox, run as an ordinary user%s${whyNoOther}`, (_name, options) => {
  const report = attackAs(65534, options)
  expect(report.escaped).toEqual([])
  expect(report.attempted).toBeGreaterThanOrEqual(60)
})

function attackAs(user: number, options: readonly string[]): AttackReport {
  const become = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups']
  const program = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'sandbox-attack.ts'),
  ]
  // A folder left open by whoever starts Kogu, which must not reach any command.
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit', openSync('/', 'r')]
  // Its own output, as printed by sandbox-attack.ts.
  return JSON.parse(
    execFileSync('setpriv', [...become, ...program, ...options], { encoding: 'utf8', stdio }),
  ) as AttackReport
}
