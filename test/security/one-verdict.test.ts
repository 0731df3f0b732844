import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { localProvider } from '../../src/core/provider.ts'
import { defineTool } from '../../src/core/tool.ts'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'

// One verdict per resource, whichever way it is reached. Ways that arrive later (custom, script, dynamic, MCP tools) all
// come through a provider, as `foreign_read`, `foreign_write` and `foreign_fetch` do here.

// What is decided before a line runs; contained lines are judged by what they changed.
const CONFIG = `
[permissions]
commands = "ask"

[[permissions.rules]]
id = "no-plans"
decision = "deny"
tool = "read_file"
path = ["plans/**"]

[[permissions.rules]]
id = "no-writes-to-docs"
decision = "deny"
tool = "write_file"
path = ["docs/**"]

[[permissions.rules]]
id = "evil"
decision = "deny"
tool = "http"
host = ["evil.example.com"]
`

type Verdict = 'allow' | 'ask' | 'deny' | 'hard'

let box: TestRuntime
beforeAll(async () => {
  box = await openTestRuntime(CONFIG)
  for (const path of ['plain.txt', '.env', 'plans/q4.md', 'docs/a.md', '.git/config', '.kogu/config.toml']) {
    box.write(path, path === '.kogu/config.toml' ? '' : 'x = 1\n')
  }
  writeFileSync(join(box.home, 'outside.txt'), 'x\n')
  symlinkSync('plans/q4.md', join(box.workspace, 'innocent'))
  await box.runtime.registry.add(localProvider('foreign', 'Foreign', 100, foreignTools))
})
afterAll(() => box.close())

const foreign = (name: string, access: 'file_read' | 'file_write') =>
  defineTool({
    name,
    title: name,
    description: name,
    category: 'Composite',
    risk: 'high',
    input: z.object({ path: z.string() }),
    access: ({ path }) => [{ kind: access, path }],
    run: async () => ({ text: '' }),
  })
const foreignTools = [
  foreign('foreign_read', 'file_read'),
  foreign('foreign_write', 'file_write'),
  defineTool({
    name: 'foreign_fetch',
    title: 'f',
    description: 'f',
    category: 'Composite',
    risk: 'low',
    input: z.object({ url: z.string() }),
    access: ({ url }) => [{ kind: 'network', url }],
    run: async () => ({ text: '' }),
  }),
]

async function verdict(tool: string, input: object): Promise<Verdict> {
  const { decision, hard } = await box.runtime.explain({ tool, input })
  return hard ? 'hard' : decision
}

const command = (line: string) => verdict('run_command', { command: line })

const READS: Record<string, (path: string) => Promise<Verdict>> = {
  read_file: path => verdict('read_file', { path }),
  Read: path => verdict('Read', { file_path: path }),
  grep_search: path => verdict('grep_search', { pattern: 'x', path }),
  foreign_read: path => verdict('foreign_read', { path }),
  cat: path => command(`cat ${path}`),
  quoted: path => command(`cat "./${path}"`),
  redirected: path => command(`wc -l < ${path}`),
  piped: path => command(`head -3 ${path} | tail -1`),
  grepped: path => command(`grep -n x ${path}`),
  chained: path => command(`pwd && cat ${path}`),
  'by variable': path => command(`F=${path}; cat "$F"`).then(relax),
  substituted: path => command(`echo "$(cat ${path})"`).then(relax),
  'in a subshell': path => command(`(cat ${path})`).then(relax),
  'by absolute path': path => command(`cat ${join(box.workspace, path)}`),
  'after cd': path => command(`cd . && cat ${path}`),
  sed: path => command(`sed -n 1p ${path}`),
  globbed: path => command(`cat ${path.slice(0, -1)}?`),
}

/** A line that is not provably a plain reader asks where the file itself would be allowed; never the other way round. */
function relax(found: Verdict): Verdict {
  return found === 'ask' && relaxTo.value === 'allow' ? 'allow' : found
}
const relaxTo: { value: Verdict } = { value: 'ask' }

const WRITES: Record<string, (path: string) => Promise<Verdict>> = {
  write_file: path => verdict('write_file', { path, content: '' }),
  edit_file: path => verdict('edit_file', { path, old_string: 'x', new_string: 'y' }),
  move_file: path => verdict('move_file', { from: 'plain.txt', to: path }),
  foreign_write: path => verdict('foreign_write', { path }),
  redirected: path => command(`echo x > ${path}`),
  appended: path => command(`echo x >> "${path}"`),
  tee: path => command(`ls | tee ${path}`),
  cp: path => command(`cp plain.txt ${path}`),
  touch: path => command(`touch ${path}`),
  'sed -i': path => command(`sed -i s/x/y/ ${path}`),
  'in sh -c': path => command(`sh -c 'echo x > ${path}'`),
  'sort -o': path => command(`sort -o ${path} plain.txt`),
  truncate: path => command(`truncate -s 0 ${path}`),
  dd: path => command(`dd if=plain.txt of=${path}`),
}

const CONTACTS: Record<string, (url: string) => Promise<Verdict>> = {
  foreign_fetch: url => verdict('foreign_fetch', { url }),
  curl: url => command(`curl ${url}`),
  'curl -s': url => command(`curl -s "${url}" | head`),
  wget: url => command(`wget -q ${url}`),
  'in sh -c': url => command(`bash -c 'curl ${url}'`),
}

describe('reading', () => {
  test.each<[string, string, Verdict]>([
    ['a plain file', 'plain.txt', 'allow'],
    ['a sensitive file', '.env', 'ask'],
    ['a denied file', 'plans/q4.md', 'deny'],
    ['a denied file behind a link', 'innocent', 'deny'],
    ['a file outside', '../outside.txt', 'allow'],
  ])('%s', async (_, path, expected) => {
    relaxTo.value = expected
    const found: Record<string, Verdict> = {}
    for (const [way, ask] of Object.entries(READS)) found[way] = await ask(path)
    expect(found).toEqual(Object.fromEntries(Object.keys(READS).map(way => [way, expected])))
  })
})

describe('writing', () => {
  test.each<[string, string, Verdict]>([
    ['a plain file', 'new.txt', 'ask'],
    ['a sensitive file', '.env', 'ask'],
    ['a denied file', 'docs/a.md', 'deny'],
    ['a protected file', '.git/config', 'hard'],
    ["Kogu's own configuration", '.kogu/config.toml', 'hard'],
    ['a system file', '/etc/hosts', 'hard'],
    ['a file outside', '/srv/outside.txt', 'hard'],
  ])('%s', async (_, path, expected) => {
    const found: Record<string, Verdict> = {}
    for (const [way, ask] of Object.entries(WRITES)) found[way] = await ask(path)
    expect(found).toEqual(Object.fromEntries(Object.keys(WRITES).map(way => [way, expected])))
  })
})

describe('contacting', () => {
  test.each<[string, string, Verdict]>([
    ['a denied host', 'https://evil.example.com/x', 'deny'],
    ['a private address', 'http://10.0.0.8/x', 'hard'],
    ['the metadata service', 'http://169.254.169.254/latest', 'hard'],
  ])('%s', async (_, url, expected) => {
    const found: Record<string, Verdict> = {}
    for (const [way, ask] of Object.entries(CONTACTS)) found[way] = await ask(url)
    expect(found).toEqual(Object.fromEntries(Object.keys(CONTACTS).map(way => [way, expected])))
  })

  test('this machine: for a tool the host, for a command behind walls only its own loopback', async () => {
    for (const [way, ask] of Object.entries(CONTACTS)) {
      const verdict = await ask('http://127.1:8080/x')
      expect([way, verdict]).toEqual([way, way === 'foreign_fetch' ? 'hard' : 'ask'])
    }
  })
})
