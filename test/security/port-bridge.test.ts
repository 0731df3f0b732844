import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AS_NOBODY, noOrdinaryUser, noSandbox } from '../support/skips.ts'
import { type BridgeReport, tryBridge } from './port-bridge.ts'

const whyNoOther = noSandbox || noOrdinaryUser

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

test.skipIf(noSandbox !== '')(
  `a server in the background is reached by this machine and its own workspace only${noSandbox}`,
  async () => {
    expect(await tryBridge()).toEqual(EXPECTED)
  },
)

test.skipIf(whyNoOther !== '')(`so it is for an ordinary user${whyNoOther}`, () => {
  const script = join(import.meta.dirname, 'port-bridge.ts')
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', script]
  const [file = '', ...words] = [...AS_NOBODY, ...program]
  // Its own output, as printed by port-bridge.ts.
  const report = JSON.parse(execFileSync(file, words, { encoding: 'utf8' })) as BridgeReport
  expect(report).toEqual(EXPECTED)
})
