import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AS_NOBODY, noOrdinaryUser, noSandbox } from '../support/skips.ts'
import {
  makeOutlivingProgram,
  OUTLIVING_WAYS,
  type OutlivingReport,
  type OutlivingWay,
  tryToOutlive,
} from './outliving-attack.ts'

// A call has ended when nothing of it is left: otherwise a process could go on writing to files that were judged and
// brought over, through a descriptor that it kept (issue 10).

const noCompiler = spawnSync('cc', ['--version']).status === 0 ? '' : ' (skipped: there is no C compiler)'
const why = noSandbox || noCompiler
const made = { folder: '', program: '' }

beforeAll(() => {
  if (why !== '') return
  made.folder = mkdtempSync(join(tmpdir(), 'kogu-test-'))
  made.program = makeOutlivingProgram(made.folder)
})
afterAll(() => rmSync(made.folder, { recursive: true, force: true }))

const NOTHING_LEFT = { output: '', exitCode: 0, alive: 0 }

test.skipIf(why !== '').each(OUTLIVING_WAYS)(
  `no process outlives its call or reaches the sandbox's first process, run as this user %s${why}`,
  async way => {
    const { content, ...report } = await tryToOutlive(way, made.program)
    expect(report).toEqual(NOTHING_LEFT)
    expect(content).toEqual(way === 'as a preview' ? null : expect.stringMatching(/^(judged|OWNED!)\n$/))
  },
)

const whyNoOther = why || noOrdinaryUser
test.skipIf(whyNoOther !== '').each(OUTLIVING_WAYS)(
  `no process outlives its call or reaches the sandbox's first process, run as an ordinary user %s${whyNoOther}`,
  way => {
    const { content: _content, ...report } = asNobody(way)
    expect(report).toEqual(NOTHING_LEFT)
  },
)

function asNobody(way: OutlivingWay): OutlivingReport {
  const script = join(import.meta.dirname, 'outliving-attack.ts')
  const [file = '', ...words] = [
    ...AS_NOBODY,
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    script,
    String(OUTLIVING_WAYS.indexOf(way)),
    made.program,
  ]
  // Its own output, as printed by outliving-attack.ts.
  return JSON.parse(execFileSync(file, words, { encoding: 'utf8' })) as OutlivingReport
}
