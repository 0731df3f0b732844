import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillIn } from '../src/agents/pipelines/values.ts'
import { toShellLine } from '../src/core/shell-words.ts'
import { problemsOf, warningsOf } from '../src/pipelines/checks.ts'
import { fillArgs } from '../src/pipelines/command-lines.ts'
import { parsePipeline } from '../src/pipelines/files.ts'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'

// What is wrong with a pipeline, with the tools, panels and rules that are there.

let box: TestRuntime
beforeAll(async () => {
  const rule =
    '[[permissions.rules]]\nid = "no-mail"\ndecision = "deny"\ntool = "web_search"\nreason = "Not here"\n'
  box = await openTestRuntime(rule)
  box.write('.kogu/panels/reader.toml', 'prompt = "Read {{page}}"\n[tools.web_fetch]\n')
  box.write('.kogu/panels/writer.toml', 'prompt = "{{input}}"\n[tools.write_file]\n')
  box.write('.kogu/panels/note.toml', 'kind = "text"\ntext = "Dear {{name}}"\n')
})
afterAll(() => box.close())

test.each([
  ['[[step]]\nid = "a"\ntool = "nope"', "there is no tool 'nope'"],
  [
    '[[step]]\nid = "a"\ntext = "{{steps.b.text}}"\n[[step]]\nid = "b"\ntext = "x"',
    "'b' does not run before it",
  ],
  [
    '[[step]]\nid = "a"\ntext = "1"\n[[step]]\nid = "b"\ntext = "2"\n[[edge]]\nfrom = "a"\nto = "b"\n[[edge]]\nfrom = "b"\nto = "a"',
    'form a cycle',
  ],
  [
    '[[step]]\nid = "page"\ntool = "web_fetch"\nargs = { url = "https://example.com" }\n[[step]]\nid = "run"\ntool = "run_command"\nargs = { command = "{{steps.page.text}}" }',
    'Add gate = "approval"',
  ],
  // What stands behind it in the file has spoken when a loop comes back to it.
  [
    '[[step]]\nid = "run"\ntool = "run_command"\nargs = { command = "{{steps.page.text}}" }\n[[step]]\nid = "page"\ntool = "web_fetch"\nargs = { url = "https://example.com" }\n[[edge]]\nfrom = "run"\nto = "page"\n[[edge]]\nfrom = "page"\nto = "run"\nmax_retries = 1',
    'Add gate = "approval"',
  ],
  ['[[step]]\nid = "a"\ntool = "read_file"', "Missing required parameter 'path'"],
  ['[[step]]\nid = "a"\ntool = "read_file"\nargs = { path = "x", pth = "y" }', "Unknown parameter 'pth'"],
  ['[[step]]\nid = "a"\ntext = "{{run.year}}"', 'of a run there are id, date'],
  [
    '[[step]]\nid = "a"\ntool = "write_file"\nargs = { path = ".git/config", content = "x" }',
    "Step 'a' will be denied",
  ],
  [
    '[input]\np = {}\n[[step]]\nid = "a"\ntool = "write_file"\nargs = { path = ".git/{{input.p}}", content = "x" }',
    "Step 'a' will be denied",
  ],
])('the pipeline %j is refused before it runs', async (toml, problem) => {
  const made = parsePipeline(`name = "bad"\n${toml}`, 'bad')
  expect((await problemsOf(made, box.runtime)).join('\n')).toContain(problem)
})

test.each([
  ['[[step]]\nid = "a"\npanel = "reader"', "needs the variable 'page'"],
  ['[[step]]\nid = "a"\npanel = "writer"', "needs the variable 'input'"],
  ['[[step]]\nid = "a"\npanel = "reader"\nvars = { page = "x", pge = "y" }', "has no variable 'pge'"],
  ['[[step]]\nid = "a"\ntool = "web_search"\nargs = { query = "tea" }', "Step 'a' will be denied"],
  [
    '[[step]]\nid = "a"\npanel = "reader"\nvars = { page = "x" }\n[[step]]\nid = "b"\npanel = "writer"',
    "Step 'b' acts on what 'a' brings in from outside",
  ],
  ['[[step]]\nid = "a"\npanel = "note"', "needs the variable 'name'"],
  [
    '[[step]]\nid = "a"\npanel = "note"\nprompt = "x"\nvars = { name = "Kim" }',
    'does not use {{input}}, so a prompt does nothing',
  ],
  [
    '[[step]]\nid = "a"\ntext = "1"\n[[step]]\nid = "b"\ntext = "2"\n[[edge]]\nfrom = "a"\nto = "b"\nsummarize = true\nsummarizer = "note"',
    "there is no panel 'note' with a model",
  ],
])('the pipeline %j is refused for what its panels and rules are', async (toml, problem) => {
  const made = parsePipeline(`name = "bad"\n${toml}`, 'bad')
  expect((await problemsOf(made, box.runtime)).join('\n')).toContain(problem)
})

test.each([
  ['[[step]]\nid = "a"\npipeline = "nope"', "there is no pipeline 'nope'"],
  ['[[step]]\nid = "a"\npipeline = "inner"', "the pipeline 'inner' needs 'topic'"],
  ['[[step]]\nid = "a"\npipeline = "inner"\ninput = { topic = "x", tpic = "y" }', "has no input 'tpic'"],
  ['[[step]]\nid = "a"\npipeline = "round"', 'the pipelines bad, round contain each other'],
  ['[[step]]\nid = "a"\npipeline = "broken"', "in the pipeline 'broken': Step 'x': there is no tool 'nope'"],
  [
    '[[step]]\nid = "page"\ntool = "web_fetch"\nargs = { url = "https://example.com" }\n[[step]]\nid = "a"\npipeline = "inner"\ninput = { topic = "{{steps.page.text}}" }',
    "Step 'a' acts on what 'page' brings in from outside",
  ],
  [
    '[[step]]\nid = "a"\ntool = "read_file"\nargs = { path = "x" }\nfor_each = "{{input.b}}"',
    'does not use {{item}}',
  ],
  ['[[step]]\nid = "a"\ntext = "{{item}}"', 'there is no item without for_each'],
  ['[[step]]\nid = "a"\ntransform = "{{steps.b.text}}"', "'b' does not run before it"],
  ['[[step]]\nid = "a"\ncondition = "x"\nif_true = "nope"', "names the step 'nope', which does not exist"],
])('the pipeline %j is refused for what is inside of it', async (toml, problem) => {
  box.write(
    '.kogu/pipelines/inner.toml',
    'name = "inner"\n[input]\ntopic = { required = true }\n[[step]]\nid = "w"\ntool = "write_file"\nargs = { path = "a", content = "{{input.topic}}" }\n',
  )
  box.write('.kogu/pipelines/round.toml', 'name = "round"\n[[step]]\nid = "b"\npipeline = "bad"\n')
  box.write('.kogu/pipelines/broken.toml', 'name = "broken"\n[[step]]\nid = "x"\ntool = "nope"\n')
  const made = parsePipeline(`name = "bad"\n${toml}`, 'bad')
  expect((await problemsOf(made, box.runtime)).join('\n')).toContain(problem)
})

const commandStep = (line: string): string =>
  `[input]\nw = {}\n[[step]]\nid = "a"\ntool = "Bash"\nargs = { command = ${JSON.stringify(line)} }`

test.each([
  ["grep '{{input.w}}' notes", '{{input.w}} is inside quotes'],
  ['echo "$(cat {{input.w}})"', '{{input.w}}'],
  ['{{input.w}} --version', '{{input.w}} can only stand for an argument'],
  ['sh -c {{input.w}}', "{{input.w}} can be any text, and 'sh'"],
  ['python3 -c {{input.w}}', "{{input.w}} can be any text, and 'python3'"],
  ['echo x > {{input.w}}', '{{input.w}} can only stand for an argument'],
])('in the line %j a value would become code, so it is refused', async (line, problem) => {
  const made = parsePipeline(`name = "bad"\n${commandStep(line)}`, 'bad')
  expect((await problemsOf(made, box.runtime)).join('\n')).toContain(problem)
})

test.each([
  ['[[step]]\nid = "a"\ncondition = "regex:("', /step 'a': /],
  [
    '[[step]]\nid = "a"\ntext = "x"\n[[edge]]\nfrom = "a"\nto = "b"\nwhen = "regex:("',
    /edge from 'a' to 'b': /,
  ],
  [
    '[[step]]\nid = "a"\ntext = "x"\n[[edge]]\nfrom = "a"\nto = "a"\nmax_retries = 1\nretry_delay = "500ms"',
    /at least 1s/,
  ],
])('what cannot be read of %j is named with its place', (toml, message) => {
  expect(() => parsePipeline(`name = "bad"\n${toml}`, 'bad')).toThrow(message)
})

test('a value in a command line is one argument, whatever it says; a line that is one reference is the value', () => {
  const { registry } = box.runtime
  const filled = (line: string, value: string) => {
    const [step] = parsePipeline(`name = "p"\n${commandStep(line)}`, 'p').steps
    if (step === undefined) throw new Error('no step')
    return fillArgs(step, each => fillIn(each, { input: { w: value }, steps: {} }), registry).command
  }
  for (const value of ['x; touch pwned', '$(id)', '`id`', "'; id; '", 'a\nid', '> /etc/x', '*', '~'])
    expect(filled('grep -n -- {{input.w}} notes', value)).toBe(`grep -n -- ${toShellLine([value])} notes`)
  expect(filled('git log --grep={{input.w}} | head', 'a b')).toBe("git log '--grep=a b' | head")
  expect(filled('{{input.w}}', 'make all')).toBe('make all')
  expect(() => filled('grep {{input.w}} notes', '-f/etc/passwd')).toThrow(
    '{{input.w}} cannot begin with a dash',
  )
})

test('pipelines are no deeper than they may be, by whichever way', async () => {
  const holds = (name: string, ...inner: string[]): string =>
    `name = "${name}"\n${inner.map((each, index) => `[[step]]\nid = "s${index}"\npipeline = "${each}"\n`).join('')}`
  box.write('.kogu/pipelines/m1.toml', 'name = "m1"\n[[step]]\nid = "x"\ntext = "x"\n')
  for (const [name = '', inner = ''] of ['m2 m1', 'm3 m2', 'n1 m3', 'n2 n1'].map(each => each.split(' ')))
    box.write(`.kogu/pipelines/${name}.toml`, holds(name, inner))
  const problems = (...inner: string[]) =>
    problemsOf(parsePipeline(holds('top', ...inner), 'top'), box.runtime)
  expect(await problems('m3', 'n1')).toEqual([])
  // m3 is looked at first where it lies less deep.
  expect((await problems('m3', 'n2')).join()).toContain('nested more than 5 deep')
})

test('a few pipelines that name each other many times are looked at once each', async () => {
  const names = ['l1', 'l2', 'l3', 'l4', 'l5']
  names.forEach((name, index) => {
    const next = names[index + 1]
    const step = (n: number): string =>
      `[[step]]\nid = "s${n}"\n${next === undefined ? 'text = "x"' : `pipeline = "${next}"`}\n`
    const steps = Array.from({ length: 100 }, (_, n) => step(n))
    box.write(`.kogu/pipelines/${name}.toml`, `name = "${name}"\n${steps.join('')}`)
  })
  const made = parsePipeline('name = "top"\n[[step]]\nid = "a"\npipeline = "l2"\n', 'top')
  expect(await problemsOf(made, box.runtime)).toEqual([])
})

test('a panel without a cost limit is a warning and no problem', async () => {
  const made = parsePipeline('name = "p"\n[[step]]\nid = "a"\npanel = "writer"\nprompt = "Write."\n', 'p')
  expect(await problemsOf(made, box.runtime)).toEqual([])
  expect(warningsOf(made, box.runtime, box.loaded)[0]).toContain("the panel 'writer' has no cost limit")
})
