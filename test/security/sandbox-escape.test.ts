import { execFileSync, type StdioOptions } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findSandboxSystem } from '../../src/sandbox/system.ts'
import { type AttackReport, attack } from './sandbox-attack.ts'

const system = findSandboxSystem()
const why = typeof system === 'string' ? ` (skipped: ${system})` : ''
const isRoot = process.getuid?.() === 0

test.skipIf(why !== '')(`no command gets out of the sandbox, run as this user${why}`, async () => {
  const report = await attack()
  expect(report.escaped).toEqual([])
  expect(report.attempted).toBeGreaterThanOrEqual(60)
})

const whyNoOther = isRoot ? why : ' (skipped: only root can become another user)'
test.skipIf(whyNoOther !== '')(
  `no command gets out of the sandbox, run as an ordinary user${whyNoOther}`,
  () => {
    const report = attackAs(65534)
    expect(report.escaped).toEqual([])
    expect(report.attempted).toBeGreaterThanOrEqual(60)
  },
)

function attackAs(user: number): AttackReport {
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
    execFileSync('setpriv', [...become, ...program], { encoding: 'utf8', stdio }),
  ) as AttackReport
}
