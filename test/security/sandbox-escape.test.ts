import { execFileSync, type StdioOptions } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findSandboxSystem } from '../../src/sandbox/system.ts'
import { type AttackReport, attack, WAYS, type Way } from './sandbox-attack.ts'

const system = findSandboxSystem()
const why = typeof system === 'string' ? ` (skipped: ${system})` : ''
const isRoot = process.getuid?.() === 0

test.skipIf(why !== '').each(WAYS)(
  `no command gets out of the sandbox, run as this user %s${why}`,
  async way => {
    const report = await attack(way)
    expect(report.escaped).toEqual([])
    expect(report.attempted).toBeGreaterThanOrEqual(way.startsWith('with') ? 35 : 60)
  },
)

const whyNoOther = isRoot ? why : ' (skipped: only root can become another user)'
test.skipIf(whyNoOther !== '').each(WAYS)(
  `no command gets out of the sandbox, run as an ordinary user %s${whyNoOther}`,
  way => {
    const report = attackAs(65534, way)
    expect(report.escaped).toEqual([])
    expect(report.attempted).toBeGreaterThanOrEqual(way.startsWith('with') ? 35 : 60)
  },
)

function attackAs(user: number, way: Way): AttackReport {
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
    execFileSync('setpriv', [...become, ...program, String(WAYS.indexOf(way))], { encoding: 'utf8', stdio }),
  ) as AttackReport
}
