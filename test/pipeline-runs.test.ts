import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Approver, laterApprover, onceApprover, type Question } from '../src/core/approval.ts'
import { createPipelineRun, type PipelineParts, workOnPipeline } from '../src/pipelines/pipelines.ts'
import { createSchedule, openSchedules } from '../src/pipelines/schedules.ts'
import { writeTemplate } from '../src/pipelines/templates.ts'
import { trustPipeline } from '../src/pipelines/trust.ts'
import { openRuns } from '../src/runs.ts'
import { type PipelineWorker, startPipelineWorker } from '../src/server/pipeline-worker.ts'
import { openDatabase } from '../src/store/database/database.ts'
import { pipelineRunsOf } from '../src/store/pipeline-runs.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import {
  type MockVendor,
  startMockVendor,
  type VendorAnswer,
  type VendorRequest,
} from './support/mock-vendor.ts'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'
import { PUBLIC, type RawServer, respond, startRawServer, testInternet } from './support/web.ts'

// Pipelines end to end: the real runtime and database, a vendor and a web on loopback.

let server: TestDatabase
let vendor: MockVendor
let web: RawServer
const ends: (() => Promise<void>)[] = []

beforeAll(async () => {
  server = await createTestDatabase()
  vendor = await startMockVendor()
  const found = { AbstractText: 'Tea costs 120.', AbstractURL: 'https://tea.test/', Heading: 'Tea' }
  web = await startRawServer(socket =>
    respond(socket, JSON.stringify(found), { 'content-type': 'application/json' }),
  )
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})
afterAll(async () => {
  await vendor.close()
  await web.close()
  await server.close()
})

interface Opened extends PipelineParts {
  readonly box: TestRuntime
  read(path: string): string
}

async function open(approver: Approver, config = ''): Promise<Opened> {
  const network = testInternet(web.port)
  network.names.set('api.duckduckgo.com', [PUBLIC])
  const key = `[defaults]\nmodel = "local/tea"\n[providers.local]\nkind = "openai-compatible"\nbase_url = "${vendor.url}/v1"\n`
  const box = await openTestRuntime(`${config}${key}`, approver, { network })
  const { loaded, environment, runtime, workspace } = box
  const database = await openDatabase({ folder: box.home, cache: box.home, url: server.url })
  const runs = await openRuns({ loaded, environment, runtime, database })
  ends.push(async () => {
    await runs.close()
    await box.close()
    await database.close()
  })
  const read = (path: string): string => readFileSync(join(workspace, path), 'utf8')
  return { box, loaded, environment, runtime, database, runs, read }
}

function serve(parts: Opened, now?: () => Date): PipelineWorker {
  const worker = startPipelineWorker({ ...parts, log: () => undefined, lookMs: 20, ...(now && { now }) })
  ends.push(() => worker.close())
  return worker
}

const statusOf = ({ runtime }: Opened, id: string) => pipelineRunsOf(runtime.places).find(id)?.status

test('web_search → analysis by a model → write_file: the write waits in the inbox, and the answer lets it go on', async () => {
  const parts = await open(laterApprover)
  await writeTemplate(parts.box.workspace, 'market', 'market-research')
  await trustPipeline({ ...parts, services: async () => parts }, 'market')
  vendor.play(({ body }) => {
    const said = JSON.stringify(body.messages)
    return { text: said.includes('Tea costs 120.') ? '# Tea is dear' : '# Nothing found' }
  })
  const run = await createPipelineRun(parts, 'market', { topic: 'tea' })
  const { id } = run
  serve(parts).begin(run)
  await vi.waitFor(() => expect(statusOf(parts, id)).toBe('waiting'), 20_000)
  const [question] = await parts.runtime.listQuestions()
  expect(question).toMatchObject({ tool: { name: 'write_file' }, runPath: [id] })
  const month = new Date().toISOString().slice(0, 7)
  expect(existsSync(join(parts.box.workspace, 'doc'))).toBe(false)
  await parts.runtime.answerQuestion(question?.id ?? '', { kind: 'once', user: 'kim' })
  await vi.waitFor(() => expect(statusOf(parts, id)).toBe('completed'), 20_000)
  expect(parts.read(`doc/market-analysis-${month}.md`)).toBe('# Tea is dear\n')
  // Nothing was asked of the model, or of the person, a second time.
  expect(vendor.requests).toHaveLength(1)
  expect(await parts.runtime.listQuestions()).toEqual([])
})

test('a step whose tool makes calls waits for their questions, and a server goes on with it', async () => {
  const rule = '[[permissions.rules]]\ndecision = "ask"\ncommand = ["make", "**"]\n'
  const parts = await open(laterApprover, rule)
  parts.box.write('Makefile', 'build:\n\t@echo x >> log.txt\nlint:\n\t@echo y >> log.txt\n')
  const after = '[[step]]\nid = "say"\ntool = "read_file"\nargs = { path = "log.txt" }\n'
  parts.box.write(
    '.kogu/pipelines/check.toml',
    `name = "check"\n[[step]]\nid = "check"\ntool = "self_eval"\n${after}`,
  )
  await trustPipeline({ ...parts, services: async () => parts }, 'check')
  const run = await createPipelineRun(parts, 'check', {})
  serve(parts).begin(run)
  for (const command of ['make build', 'make lint']) {
    const question = await vi.waitFor(async () => {
      const [found] = await parts.runtime.listQuestions()
      expect([statusOf(parts, run.id), found?.input]).toMatchObject(['waiting', { command }])
      return found
    }, 20_000)
    expect(question).toMatchObject({ within: [{ tool: 'self_eval' }], runPath: [run.id] })
    await parts.runtime.answerQuestion(question?.id ?? '', { kind: 'once', user: 'kim' })
  }
  await vi.waitFor(() => expect(statusOf(parts, run.id)).toBe('completed'), 20_000)
  expect(parts.read('log.txt')).toBe('x\ny\n')
})

test('the same by a rehearsal: nobody is asked but the person', async () => {
  const parts = await open(laterApprover)
  await writeTemplate(parts.box.workspace, 'market', 'market-research')
  await trustPipeline({ ...parts, services: async () => parts }, 'market')
  const asked = vendor.requests.length
  const { id } = await createPipelineRun(parts, 'market', { topic: 'tea' }, { rehearse: true })
  expect((await workOnPipeline(parts, id)).status).toBe('waiting')
  const [question] = await parts.runtime.listQuestions()
  await parts.runtime.answerQuestion(question?.id ?? '', { kind: 'once', user: 'kim' })
  expect((await workOnPipeline(parts, id)).status).toBe('completed')
  const month = new Date().toISOString().slice(0, 7)
  expect(parts.read(`doc/market-analysis-${month}.md`)).not.toBe('')
  expect(vendor.requests).toHaveLength(asked)
})

/** A repository whose test wants 42. */
function makeRepository({ box }: Opened): (...args: string[]) => string {
  box.write('Makefile', 'test:\n\t@grep -q "answer = 42" src/answer.ts && echo "1 passed in 0.1s"\n')
  box.write('src/other.ts', 'export {}\n')
  const git = (...args: string[]): string =>
    spawnSync('git', args, { cwd: box.workspace, encoding: 'utf8' }).stdout
  git('init', '-q')
  git('config', 'user.name', 'Kim')
  git('config', 'user.email', 'kim@example.com')
  git('add', '.')
  git('commit', '-qm', 'first')
  return git
}

const bootstrap = async (parts: Opened) => {
  await writeTemplate(parts.box.workspace, 'self', 'self-bootstrap')
  const git = makeRepository(parts)
  await trustPipeline({ ...parts, services: async () => parts }, 'self')
  const { id } = await createPipelineRun(parts, 'self', { goal: 'an answer' })
  return { git, id, ended: await workOnPipeline(parts, id) }
}

/** Agents that work with tools: the coder writes the first number, the fixer the second one when it knows what failed. */
const agents =
  (wrong: number, right: number) =>
  ({ body }: VendorRequest): VendorAnswer => {
    const said = JSON.stringify(body.messages)
    const tools = JSON.stringify(body.tools ?? [])
    if (!tools.includes('write_file')) return { text: 'one constant in src/answer.ts' }
    const isFixer = said.includes('Find the cause and repair it')
    if (isFixer && !said.includes('test: failed in')) return { text: 'Nothing is known.' }
    const path = 'src/answer.ts'
    const calls = body.messages.filter(({ role }: { role: string }) => role === 'tool').length
    const content = `export const answer = ${isFixer ? right : wrong}\n`
    if (isFixer && calls === 0) return { calls: [{ name: 'read_file', input: { path } }] }
    if (calls === (isFixer ? 1 : 0)) return { calls: [{ name: 'write_file', input: { path, content } }] }
    return { text: 'Done.' }
  }

test('the self-bootstrap loop writes with tools, checks, fixes what failed, and commits behind its gate', async () => {
  const asked: Question[] = []
  const yes = onceApprover('kim')
  const parts = await open(
    {
      ask(question, ...more) {
        asked.push(question)
        return yes.ask(question, ...more)
      },
    },
    'mode = "accept-edits"\n',
  )
  vendor.play(agents(41, 42))
  const { git, id, ended } = await bootstrap(parts)
  expect(ended).toMatchObject({ status: 'completed', progress: { loops: {} } })
  const { check, recheck } = ended.progress.steps
  expect([check, recheck]).toMatchObject([
    { verdict: { is: 'unknown', why: expect.stringContaining('test: failed') } },
    { text: expect.stringContaining('test: passed') },
  ])
  expect(git('log', '-1', '--format=%B')).toContain(`an answer\n\nKogu-Run: ${id}`)
  expect(git('show', '--name-only', '--format=', 'HEAD')).toBe('src/answer.ts\n')
  expect(git('show', 'HEAD:src/answer.ts')).toBe('export const answer = 42\n')
  // Who stands at the gate sees what would be committed.
  const gate = asked.find(({ subject }) => subject.kind === 'gate')
  expect(gate?.input).toMatchObject({ text: expect.stringContaining('+export const answer = 42') })
})

test('it gives up after three rounds, has failed, and has committed nothing', async () => {
  const parts = await open(onceApprover('kim'), 'mode = "accept-edits"\n')
  vendor.play(agents(41, 40))
  const { git, ended } = await bootstrap(parts)
  expect(ended).toMatchObject({ status: 'failed', progress: { loops: { 'recheck>fix': 2 } } })
  const { recheck, commit } = ended.progress.steps
  expect(recheck).toMatchObject({ verdict: { is: 'failed', why: expect.stringContaining('test: failed') } })
  expect(commit).toMatchObject({ status: 'skipped' })
  expect(git('log', '--format=%s')).toBe('first\n')
})

test('the reviewers vote on a text with quorum = true; a no fails its step, and without reviewers it passes', async () => {
  const reviewer = '[quorum]\nmin_models = 1\n[reviewers.r1]\nmodel = "local/tea"\n'
  vendor.play(({ body }) => {
    const isBad = JSON.stringify(body.messages).includes('rm -rf')
    return { text: JSON.stringify({ verdict: isBad ? 'reject' : 'approve', reasoning: 'seen' }) }
  })
  const ended: unknown[] = []
  for (const [config, text] of [
    [reviewer, 'rm -rf x'],
    [reviewer, 'a test'],
    ['', 'rm -rf x'],
  ] as const) {
    for (const end of ends.splice(0).reverse()) await end()
    const parts = await open(laterApprover, config)
    parts.box.write(
      '.kogu/pipelines/seen.toml',
      `name = "seen"\n[[step]]\nid = "a"\ntext = "${text}"\nquorum = true\n`,
    )
    await trustPipeline({ ...parts, services: async () => parts }, 'seen')
    const { status, progress } = await workOnPipeline(parts, (await createPipelineRun(parts, 'seen')).id)
    ended.push([status, progress.steps.a?.status === 'failed' ? progress.steps.a.error : null])
  }
  expect(ended).toEqual([
    ['failed', 'The final review rejects it [○]\nr1: seen'],
    ['completed', null],
    ['completed', null],
  ])
})

test('what entered a pipeline has entered the one inside of it, and comes back from there', async () => {
  const rule =
    '[[permissions.rules]]\nid = "clean"\ndecision = "deny"\ntool = "write_file"\nafter = "untrusted"\n'
  const parts = await open(onceApprover('kim'), `mode = "accept-edits"\n${rule}`)
  const write = (path: string) =>
    `[[step]]\nid = "${path.slice(0, 1)}"\ntool = "write_file"\nargs = { path = "${path}", content = "x" }\ngate = "approval"\non_error = "continue"\n`
  const search = '[[step]]\nid = "search"\ntool = "web_search"\nargs = { query = "tea" }\n'
  const inside = (name: string) => `[[step]]\nid = "in-${name}"\npipeline = "${name}"\ngate = "approval"\n`
  parts.box.write('.kogu/pipelines/writes.toml', `name = "writes"\n${write('a.txt')}`)
  parts.box.write('.kogu/pipelines/reads.toml', `name = "reads"\n${search}`)
  parts.box.write('.kogu/pipelines/down.toml', `name = "down"\n${search}${inside('writes')}`)
  parts.box.write('.kogu/pipelines/up.toml', `name = "up"\n${inside('reads')}${write('b.txt')}`)
  for (const name of ['down', 'up']) {
    await trustPipeline({ ...parts, services: async () => parts }, name)
    await workOnPipeline(parts, (await createPipelineRun(parts, name)).id)
  }
  const made = ['a.txt', 'b.txt'].filter(path => existsSync(join(parts.runtime.workspace, path)))
  expect(made).toEqual([])
})

test('a scheduled run that waits holds the next one back; what was missed is made up for once', async () => {
  const parts = await open(laterApprover)
  parts.box.write(
    '.kogu/pipelines/gated.toml',
    'name = "gated"\n[[step]]\nid = "a"\ntext = "x"\ngate = "approval"\n',
  )
  await trustPipeline({ ...parts, services: async () => parts }, 'gated')
  const clock = { now: new Date('2026-11-16T09:00:00Z') }
  const schedules = openSchedules(parts.runtime.places)
  const wanted = {
    pipeline: 'gated',
    cron: '* * * * *',
    timezone: 'UTC',
    input: {},
    catchUp: 'once' as const,
  }
  await schedules.add(createSchedule(wanted, clock.now))
  serve(parts, () => clock.now)
  const runs = pipelineRunsOf(parts.runtime.places)
  const statuses = () => runs.list().map(({ status }) => status)
  clock.now = new Date('2026-11-16T09:01:01Z')
  await vi.waitFor(() => expect(statuses()).toEqual(['waiting']), 10_000)
  clock.now = new Date('2026-11-16T10:00:01Z')
  await vi.waitFor(() => expect(schedules.list()[0]?.last?.problem).toContain('has not ended'), 10_000)
  expect(statuses()).toEqual(['waiting'])
  const [question] = await parts.runtime.listQuestions()
  await parts.runtime.answerQuestion(question?.id ?? '', { kind: 'once', user: 'kim' })
  await vi.waitFor(() => expect(statuses().toSorted()).toEqual(['completed', 'waiting']), 10_000)
  expect(schedules.list()[0]).toMatchObject({ handled: '2026-11-16T10:00:00.000Z' })
  expect(schedules.list()[0]?.last?.problem).toBeUndefined()
})

test('a run that a server began goes on with the next one after a crash; one of the command line does not', async () => {
  const parts = await open(laterApprover)
  parts.box.write('.kogu/pipelines/note.toml', 'name = "note"\n[[step]]\nid = "a"\ntext = "x"\n')
  await trustPipeline({ ...parts, services: async () => parts }, 'note')
  const [served, own] = [
    await createPipelineRun(parts, 'note', {}, { isServers: true }),
    await createPipelineRun(parts, 'note'),
  ]
  serve(parts)
  await vi.waitFor(() => expect(statusOf(parts, served.id)).toBe('completed'), 10_000)
  expect(statusOf(parts, own.id)).toBe('running')
})

test('a schedule starts its pipeline once; one that has changed since it was trusted is not run', async () => {
  const parts = await open(laterApprover, 'mode = "accept-edits"\n')
  parts.box.write('.kogu/pipelines/note.toml', 'name = "note"\n[[step]]\nid = "a"\ntext = "{{run.date}}"\n')
  await trustPipeline({ ...parts, services: async () => parts }, 'note')
  const clock = { now: new Date('2026-11-16T09:00:00Z') }
  const schedules = openSchedules(parts.runtime.places)
  const wanted = { pipeline: 'note', cron: '0 9 * * *', timezone: 'UTC', input: {}, catchUp: 'once' as const }
  await schedules.add(createSchedule(wanted, clock.now))
  serve(parts, () => clock.now)
  const runs = pipelineRunsOf(parts.runtime.places)
  expect(runs.list()).toEqual([])
  clock.now = new Date('2026-11-18T12:00:00Z')
  await vi.waitFor(() => expect(runs.list().map(({ status }) => status)).toEqual(['completed']), 10_000)
  expect(schedules.list()[0]?.handled).toBe('2026-11-18T09:00:00.000Z')
  parts.box.write('.kogu/pipelines/note.toml', 'name = "note"\n[[step]]\nid = "a"\ntext = "changed"\n')
  clock.now = new Date('2026-11-19T09:00:01Z')
  await vi.waitFor(() => expect(schedules.list()[0]?.handled).toBe('2026-11-19T09:00:00.000Z'), 10_000)
  expect(runs.list()).toHaveLength(1)
})
