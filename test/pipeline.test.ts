import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

let machine: Sandboxed
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(() => {
  machine = createSandboxed()
  machine.env.DATABASE_URL = database.url
})
afterEach(() => machine.remove())

function pipeline(name: string, toml: string): void {
  machine.write(`.kogu/pipelines/${name}.toml`, `name = "${name}"\n${toml}`)
}

const run = (name: string, ...args: string[]) =>
  machine.json(['pipeline', 'run', name, '--mode', 'accept-edits', ...args])

test('tools, a panel and a gate: the result is on disk after the yes, and one undo takes it back', () => {
  writeFileSync(join(machine.home, 'analyst.toml'), '[[answer]]\ntext = "Prices rise."\n')
  machine.write(
    '.kogu/panels/analyst.toml',
    `prompt = "Analyse: {{material}}"\nmodel = "rehearsal:${join(machine.home, 'analyst.toml')}"\n`,
  )
  machine.write('prices.txt', 'tea 120\n')
  pipeline(
    'report',
    `[input]
topic = { required = true }
[[step]]
id = "find"
tool = "grep_search"
args = { pattern = "{{input.topic}}", output_mode = "content" }
[[step]]
id = "analyse"
panel = "analyst"
vars = { material = "{{steps.find.text}}" }
[[step]]
id = "write"
tool = "write_file"
args = { path = "doc/report.md", content = "{{steps.analyse.text}}" }
gate = "approval"
`,
  )
  expect(machine.run(['agents', 'trust', 'analyst']).code).toBe(0)
  const untrusted = machine.run(['pipeline', 'run', 'report', '--input', 'topic=tea'])
  expect([untrusted.code, untrusted.stderr]).toEqual([
    7,
    expect.stringContaining('kogu pipeline trust report'),
  ])
  machine.run(['pipeline', 'trust', 'report'])
  const waiting = run('report', '--input', 'topic=tea')
  expect(waiting).toMatchObject({
    status: 'waiting',
    steps: { analyse: { text: 'Prices rise.' }, write: { status: 'waiting' } },
  })
  // The gate is a question like any other, though the rules allow the write.
  const [question] = machine.json(['approvals', 'list'])
  expect(question).toMatchObject({
    tool: { name: 'write_file' },
    runPath: [waiting.id],
    decision: { by: 'gate' },
    preview: expect.stringContaining('+Prices rise.'),
  })
  const alone = machine.run(['call', '--continue', question.id])
  expect([alone.code, alone.stderr]).toEqual([10, expect.stringContaining('which goes on with it')])
  machine.run(['approvals', 'approve', question.id])
  const done = machine.json(['pipeline', 'resume', waiting.id, '--mode', 'accept-edits'])
  expect(done.status).toBe('completed')
  expect(machine.json(['approvals', 'list'])).toEqual([])
  expect(machine.read('doc/report.md')).toBe('Prices rise.\n')
  expect(machine.run(['pipeline', 'resume', waiting.id]).code).not.toBe(0)
  machine.run(['undo', '--run', waiting.id, '--yes'])
  expect(() => machine.read('doc/report.md')).toThrow()
})

test('a gate before anything else is in the inbox too; a no fails its step, and --approve is an answer to it', () => {
  pipeline(
    'said',
    '[[step]]\nid = "say"\ntext = "hello"\ngate = "approval"\n[[step]]\nid = "after"\ntext = "{{steps.say.text}}!"\n',
  )
  machine.run(['pipeline', 'trust', 'said'])
  const first = run('said')
  expect(first).toMatchObject({ status: 'waiting', steps: { say: { status: 'waiting', gate: true } } })
  const [question] = machine.json(['approvals', 'list'])
  expect(question).toMatchObject({
    subject: { kind: 'gate' },
    tool: { name: 'pipeline' },
    input: { pipeline: 'said', step: 'say', text: 'hello' },
    runPath: [first.id],
  })
  const shown = machine.run(['approvals', 'show', question.id]).stdout
  expect(shown).toContain("The pipeline 'said' has a gate before the step 'say'.")
  machine.run(['approvals', 'deny', question.id, '--message', 'not today'])
  expect(machine.json(['pipeline', 'resume', first.id])).toMatchObject({
    status: 'failed',
    steps: { say: { error: expect.stringContaining('not today') }, after: { status: 'waiting' } },
  })
  // Asked once, however often the run is resumed; and the yes by name takes the question out of the inbox.
  const second = run('said')
  machine.json(['pipeline', 'resume', second.id])
  expect(machine.json(['approvals', 'list'])).toHaveLength(1)
  expect(machine.json(['pipeline', 'resume', second.id, '--approve', 'say'])).toMatchObject({
    status: 'completed',
    steps: { after: { text: 'hello!' } },
  })
  expect(machine.json(['approvals', 'list'])).toEqual([])
})

test('a yes by name is one to the question that waits, and to no later gate of that name', () => {
  const gated = '[[step]]\nid = "write"\ntext = "x"\ngate = "approval"\n'
  pipeline('part', gated)
  pipeline('whole', `[[step]]\nid = "in"\npipeline = "part"\n${gated}`)
  machine.run(['pipeline', 'trust', 'whole'])
  const { id } = run('whole')
  const yes = ['pipeline', 'resume', id, '--approve', 'write']
  // The first is that of the pipeline inside.
  expect(machine.json(yes)).toMatchObject({
    status: 'waiting',
    steps: { in: { status: 'done' }, write: { status: 'waiting', gate: true } },
  })
  expect(machine.json(yes).status).toBe('completed')
})

test('what a run was started with holds when it goes on', () => {
  machine.write('.kogu/panels/poet.toml', 'prompt = "{{input}}"\n')
  machine.write('.kogu/rehearsals/poet.toml', '[[answer]]\ntext = "Rehearsed."\n')
  pipeline('poem', '[[step]]\nid = "write"\npanel = "poet"\nprompt = "tea"\ngate = "approval"\n')
  machine.run(['pipeline', 'trust', 'poem'])
  const { id, status } = run('poem', '--rehearse')
  expect(status).toBe('waiting')
  expect(machine.json(['pipeline', 'resume', id, '--approve', 'write'])).toMatchObject({
    status: 'completed',
    steps: { write: { text: 'Rehearsed.' } },
  })
})

test('one undo takes back all that the run of a pipeline did, also in its panels and in earlier rounds', () => {
  machine.write(
    '.kogu/panels/writer.toml',
    'prompt = "{{input}}"\nmode = "accept-edits"\n[tools.write_file]\nallowed_dirs = ["."]\n',
  )
  machine.write(
    '.kogu/rehearsals/writer.toml',
    '[[answer]]\n[[answer.call]]\ntool = "write_file"\ninput = { path = "log.txt", content = "x", mode = "append" }\n[[answer]]\ntext = "again"\n',
  )
  pipeline('inner', '[[step]]\nid = "write"\npanel = "writer"\nprompt = "go"\n')
  pipeline(
    'outer',
    `[[step]]
id = "write"
panel = "writer"
prompt = "go"
[[step]]
id = "look"
tool = "read_file"
args = { path = "log.txt" }
[[step]]
id = "inside"
pipeline = "inner"
[[edge]]
from = "write"
to = "look"
[[edge]]
from = "look"
to = "write"
when = "not:xx"
max_retries = 3
[[edge]]
from = "look"
to = "inside"
`,
  )
  machine.run(['pipeline', 'trust', 'outer'])
  const done = run('outer', '--rehearse')
  expect(done).toMatchObject({ status: 'completed' })
  expect(machine.read('log.txt')).toBe('xxx')
  const plan = machine.json(['undo', '--run', done.id, '--dry-run'])
  expect(plan).toMatchObject({ done: false })
  expect(machine.json(['undo', '--run', done.id, '--yes'])).toMatchObject({ done: true })
  expect(() => machine.read('log.txt')).toThrow()
})

test('the first command in a folder finds nothing foreign in what the one before it wrote', () => {
  expect(machine.run(['pipeline', 'new', 'mine', '--template', 'er-diagram']).stderr).toContain(
    'kogu pipeline trust mine && kogu pipeline run mine --rehearse',
  )
  expect(machine.run(['pipeline', 'trust', 'mine']).stderr).not.toContain('not written by this Kogu')
  const asked = machine.run(['pipeline', 'new', 'loop', '--template', 'self-bootstrap']).stderr
  expect(asked).toContain('run loop --rehearse --input goal=…')
  machine.run(['pipeline', 'trust', 'loop'])
  expect(machine.run(['pipeline', 'run', 'loop']).stderr).toContain("needs 'goal'")
})

test('a pipeline inside of a trusted one that has changed since does not run', () => {
  pipeline('part', '[[step]]\nid = "a"\ntext = "looked at"\n')
  pipeline('whole', '[[step]]\nid = "b"\npipeline = "part"\n')
  expect(machine.run(['pipeline', 'trust', 'whole']).stderr).toContain('the pipeline part')
  const done = run('whole')
  expect(done).toMatchObject({ status: 'completed', steps: { b: { text: 'looked at' } } })
  // The run inside belongs to the one around it.
  expect(machine.json(['pipeline', 'show', done.steps.b.run])).toMatchObject({ parent: done.id })
  pipeline('part', '[[step]]\nid = "a"\ntool = "run_command"\nargs = { command = "id" }\n')
  const changed = machine.run(['pipeline', 'run', 'whole'])
  expect([changed.code, changed.stderr]).toEqual([7, expect.stringContaining("'part' is new or has changed")])
})

test('a loop tries again until its condition no longer holds', () => {
  pipeline(
    'fix',
    `[[step]]
id = "fix"
tool = "write_file"
args = { path = "log.txt", content = "x", mode = "append" }
[[step]]
id = "verify"
tool = "read_file"
args = { path = "log.txt" }
[[edge]]
from = "fix"
to = "verify"
[[edge]]
from = "verify"
to = "fix"
when = "not:xxx"
max_retries = 3
`,
  )
  machine.run(['pipeline', 'trust', 'fix'])
  expect(run('fix').status).toBe('completed')
  expect(machine.read('log.txt')).toBe('xxx')
})

/** The record of a run, where no repository can bring one along. */
function recordOf(id: string): string {
  const folder = join(machine.home, 'state/kogu/workspaces')
  const [workspace = ''] = readdirSync(folder)
  return join(folder, workspace, 'pipelines/runs', `${id}.json`)
}

const APPEND =
  '[[step]]\nid = "write"\ntool = "write_file"\nargs = { path = "a.txt", content = "x", mode = "append" }\ngate = "approval"\n'

test('a step that was under way when Kogu was killed is not repeated unless a person says so', () => {
  pipeline('once', APPEND)
  machine.run(['pipeline', 'trust', 'once'])
  const { id } = run('once')
  const saved = JSON.parse(readFileSync(recordOf(id), 'utf8'))
  // As it stands on disk while the step runs: begun in the record of the run and in the audit log.
  saved.progress.steps.write = { status: 'running', attempts: 0 }
  const underWay = (): void => writeFileSync(recordOf(id), JSON.stringify(saved))
  underWay()
  const resume = (...args: string[]) =>
    machine.json(['pipeline', 'resume', id, '--mode', 'accept-edits', ...args])
  // Nothing of the call is on record, so it cannot have happened.
  expect(resume('--approve', 'write').status).toBe('completed')
  expect(machine.read('a.txt')).toBe('x')
  // Its end is on record: it is not done a second time.
  underWay()
  expect(resume()).toMatchObject({
    status: 'completed',
    steps: { write: { text: expect.stringContaining('interrupted') } },
  })
  expect(machine.read('a.txt')).toBe('x')
})

test('a record of a run that a repository brings along is none', () => {
  pipeline('gated', APPEND)
  machine.run(['pipeline', 'trust', 'gated'])
  const { id } = run('gated')
  const saved = JSON.parse(readFileSync(recordOf(id), 'utf8'))
  const forged = { ...saved, id: 'pl_000000000000', progress: { steps: {}, loops: {} } }
  machine.write('.kogu/pipeline-runs/pl_000000000000.json', JSON.stringify(forged))
  expect(machine.run(['pipeline', 'resume', 'pl_000000000000']).code).toBe(9)
})

test('a run begins again in the middle, with the outputs of the one before, and says what it would repeat', () => {
  machine.write('b.txt', 'tea')
  pipeline(
    'two',
    `[[step]]
id = "read"
tool = "read_file"
args = { path = "b.txt" }
[[step]]
id = "write"
tool = "write_file"
args = { path = "a.txt", content = "{{steps.read.text}}", mode = "append" }
[[step]]
id = "again"
tool = "read_file"
args = { path = "a.txt" }
`,
  )
  machine.run(['pipeline', 'trust', 'two'])
  const first = run('two')
  machine.write('b.txt', 'coffee')
  expect(run('two', '--from', 'write')).toEqual({
    ok: false,
    repeats: ['write: write_file {"path":"a.txt","content":"…","mode":"append"}'],
  })
  const second = run('two', '--from', 'write', '--of', first.id, '--yes')
  expect(second).toMatchObject({ status: 'completed', continues: first.id })
  expect(machine.read('a.txt')).not.toContain('coffee')
  // A step alone: what follows stays as it was.
  const alone = run('two', '--only', 'read')
  expect(alone).toMatchObject({
    status: 'completed',
    steps: { read: { text: expect.stringContaining('coffee') } },
  })
  expect(run('two', '--only', 'nope').error.message).toContain("no step 'nope'")
})

test('a step that needs nothing runs alone before the pipeline ever ran, and another one says what it lacks', () => {
  pipeline(
    'fresh',
    `[input.word]
required = true
[[step]]
id = "say"
text = "{{input.word}}"
[[step]]
id = "keep"
tool = "write_file"
args = { path = "kept.txt", content = "{{steps.say.text}}" }
`,
  )
  machine.run(['pipeline', 'trust', 'fresh'])
  const early = machine.run(['pipeline', 'run', 'fresh', '--only', 'keep', '--input', 'word=tea'])
  expect(early.stderr).toContain(
    "'keep' needs what stands before it, and say has no output yet: the pipeline has not run.\nRun all of it first.",
  )
  expect(run('fresh', '--only', 'say').error.message).toContain("needs 'word'")
  const alone = run('fresh', '--only', 'say', '--input', 'word=tea')
  expect(alone).toMatchObject({
    status: 'completed',
    steps: { say: { status: 'done', text: 'tea' }, keep: { status: 'skipped' } },
  })
  // Another input than that of the earlier run counts.
  expect(run('fresh', '--only', 'say', '--input', 'word=cup', '--yes')).toMatchObject({
    continues: alone.id,
    steps: { say: { text: 'cup' } },
  })
})

test('a command of an agent opens no gate, and a name in the file begins no line of ours', () => {
  pipeline(
    'gated',
    '[[step]]\nid = "write"\ntool = "write_file"\nargs = { path = "a", content = "x" }\ngate = "approval"\n',
  )
  machine.run(['pipeline', 'trust', 'gated'])
  const { id } = run('gated')
  const inside = { env: { KOGU_CALL: 'call_1' } }
  const opened = machine.run(['pipeline', 'resume', id, '--approve', 'write'], inside)
  expect([opened.code, opened.stderr]).toEqual([2, expect.stringContaining('inside a Kogu call')])
  pipeline('odd', '[[step]]\nid = "a"\ntool = "x\\nodd is valid"\n')
  expect(machine.run(['pipeline', 'validate', 'odd']).stdout.trimEnd().split('\n')).toHaveLength(1)
  // Whichever command reads it, a file that is no pipeline ends with the same code.
  pipeline('none', '[[steps]]\nid = "a"\n')
  for (const verb of ['validate', 'run', 'trust'])
    expect(machine.run(['pipeline', verb, 'none']).code).toBe(3)
})
