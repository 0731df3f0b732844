import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { onceApprover } from '../src/core/approval.ts'
import { createPipelineRun, createRunAgain, workOnPipeline } from '../src/pipelines/pipelines.ts'
import { TEMPLATES, writeTemplate } from '../src/pipelines/templates.ts'
import { trustPipeline } from '../src/pipelines/trust.ts'
import { openRuns, type Runs } from '../src/runs.ts'
import { type Database, openDatabase } from '../src/store/database/database.ts'
import type { SavedPipelineRun } from '../src/store/pipeline-runs.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'
import { testInternet } from './support/web.ts'

// Every template as a person gets it: written, trusted, rehearsed. There is no model and no web.

let server: TestDatabase
let box: TestRuntime
let database: Database
let runs: Runs

beforeAll(async () => {
  server = await createTestDatabase()
})
afterAll(async () => {
  await server.close()
})
beforeEach(async () => {
  // A port that nobody listens on, and no name leads to it.
  box = await openTestRuntime('mode = "accept-edits"\n', onceApprover('the test'), {
    network: testInternet(1),
  })
  box.write('src/price.ts', 'export const price = 1 // TODO\n')
  box.write('doc/design.md', 'One constant.\n')
  const { loaded, environment, runtime } = box
  database = await openDatabase({ folder: box.home, cache: box.home, url: server.url })
  runs = await openRuns({ loaded, environment, runtime, database })
})
afterEach(async () => {
  await runs.close()
  await box.close()
  await database.close()
})

async function rehearse(
  template: string,
  input: Record<string, string> = {},
  said: Record<string, string> = {},
): Promise<SavedPipelineRun> {
  const { loaded, environment, runtime, workspace } = box
  const parts = { loaded, environment, runtime, database, runs }
  await writeTemplate(workspace, 'mine', template)
  for (const [panel, text] of Object.entries(said))
    box.write(`.kogu/rehearsals/mine-${panel}.toml`, `[[answer]]\ntext = ${JSON.stringify(text)}\n`)
  await trustPipeline({ ...parts, services: async () => parts }, 'mine')
  const { id } = await createPipelineRun(parts, 'mine', input, { rehearse: true })
  return workOnPipeline(parts, id)
}

const read = (path: string): string => readFileSync(join(box.workspace, path), 'utf8')

const INPUT: Partial<Record<string, Record<string, string>>> = {
  'design-to-code': { design: 'doc/design.md', file: 'src/answer.ts' },
  'bug-fix': { report: 'The price is wrong' },
  'market-research': { topic: 'tea' },
  'self-bootstrap': { goal: 'an answer' },
}

test.each(TEMPLATES)('%s runs as it is written', async template => {
  const { status, progress } = await rehearse(template, INPUT[template])
  expect({ status, progress }).toMatchObject({ status: 'completed' })
  const left: Readonly<Record<string, readonly string[]>> = {
    'weekly-review': ['log'],
    // There is nothing to fix.
    'self-bootstrap': ['fix', 'recheck'],
  }
  const failed = Object.entries(progress.steps).filter(
    ([id, step]) => step.status !== 'done' && left[template]?.includes(id) !== true,
  )
  expect(failed).toEqual([])
})

test('what the templates write is where they say', async () => {
  await rehearse('code-review')
  const review = read('doc/mine.md')
  for (const expert of ['folders say', 'done twice', 'parsed at the edge']) expect(review).toContain(expert)
  expect(existsSync(join(box.workspace, '.kogu/pipeline-runs'))).toBe(false)
})

test('a code block around an answer is not written into a file of code, and one in Markdown is', async () => {
  await rehearse('design-to-code', INPUT['design-to-code'], { coder: '```ts\nexport const a = 1\n```' })
  expect(read('src/answer.ts')).toBe('export const a = 1\n')
  const diagram = '```mermaid\nerDiagram\n```\n'
  rmSync(join(box.workspace, '.kogu/pipelines/mine.toml'))
  await rehearse('er-diagram', {}, { modeller: diagram })
  expect(read('doc/mine.md')).toBe(diagram)
})

test('a rehearsed result is named as such, marked as foreign, and stays out of real runs', async () => {
  const of = await rehearse('market-research', { topic: 'tea' })
  const { search, analyse } = of.progress.steps
  expect(search).toMatchObject({ status: 'done', untrusted: 'a rehearsal of web_search' })
  expect(analyse).toMatchObject({ status: 'done', untrusted: 'a rehearsal of web_search' })
  expect(analyse).toMatchObject({
    text: expect.stringMatching(/<untrusted-content [^>]+>\nA made-up result/),
  })
  const { loaded, environment, runtime } = box
  const parts = { loaded, environment, runtime, database, runs }
  const again = { pipeline: of.pipeline, step: 'analyse', extent: 'from', of } as const
  expect(await createRunAgain(parts, again)).toMatchObject({ rehearse: true })
  const real = await createPipelineRun(parts, 'mine', { topic: 'tea' })
  const { progress } = await workOnPipeline(parts, real.id)
  expect(progress.steps.search).toMatchObject({ status: 'failed' })
})
