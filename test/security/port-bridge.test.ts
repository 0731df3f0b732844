import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findSandboxSystem } from '../../src/sandbox/system.ts'
import { type BridgeReport, tryBridge } from './port-bridge.ts'

const system = findSandboxSystem()
const why = typeof system === 'string' ? ` (skipped: ${system})` : ''
const whyNoOther = process.getuid?.() === 0 ? why : ' (skipped: only root can become another user)'

const EXPECTED: BridgeReport = {
  host: 'hello',
  sameWorkspace: 'hellohellohello',
  sameWorkspaceByNode: 'hello',
  duringPreview: '---',
  otherWorkspace: '---',
  sockets: [],
  listed: true,
  afterStop: { host: '-', sameWorkspace: '---' },
  afterKill: { host: '-', sameWorkspace: '---' },
}

test.skipIf(why !== '')(
  `a server in the background is reached by this machine and its own workspace only${why}`,
  async () => {
    expect(await tryBridge()).toEqual(EXPECTED)
  },
)

test.skipIf(whyNoOther !== '')(`so it is for an ordinary user${whyNoOther}`, () => {
  const become = ['--reuid=65534', '--regid=65534', '--clear-groups']
  const program = [process.execPath, '--disable-warning=ExperimentalWarning']
  const script = join(import.meta.dirname, 'port-bridge.ts')
  // Its own output, as printed by port-bridge.ts.
  const report = JSON.parse(
    execFileSync('setpriv', [...become, ...program, script], { encoding: 'utf8' }),
  ) as BridgeReport
  expect(report).toEqual(EXPECTED)
})
