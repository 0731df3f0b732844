import { execFileSync, type StdioOptions } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AS_NOBODY, noOrdinaryUser, noSandbox } from '../support/skips.ts'
import { type AttackReport, attack, WAYS, type Way } from './sandbox-attack.ts'

test.skipIf(noSandbox !== '').each(WAYS)(
  `no command gets out of the sandbox, run as this user %s${noSandbox}`,
  async way => {
    const report = await attack(way)
    expect(report.escaped).toEqual([])
    expect(report.attempted).toBeGreaterThanOrEqual(way.startsWith('with') ? 35 : 60)
  },
)

const whyNoOther = noSandbox || noOrdinaryUser
test.skipIf(whyNoOther !== '').each(WAYS)(
  `no command gets out of the sandbox, run as an ordinary user %s${whyNoOther}`,
  way => {
    const report = attackAsNobody(way)
    expect(report.escaped).toEqual([])
    expect(report.attempted).toBeGreaterThanOrEqual(way.startsWith('with') ? 35 : 60)
  },
)

function attackAsNobody(way: Way): AttackReport {
  const [file = '', ...words] = [
    ...AS_NOBODY,
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'sandbox-attack.ts'),
    String(WAYS.indexOf(way)),
  ]
  // A folder left open by whoever starts Kogu, which must not reach any command.
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit', openSync('/', 'r')]
  // Its own output, as printed by sandbox-attack.ts.
  return JSON.parse(execFileSync(file, words, { encoding: 'utf8', stdio })) as AttackReport
}
