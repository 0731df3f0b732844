import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeProjectAuthority } from './authority.ts'
import { createTestMachine } from './test-machine.ts'
import { trust, untrust } from './trust.ts'

const RULE =
  '[[permissions.rules]]\nid = "a"\ndecision = "allow"\ntool = "run_command"\ncommand = ["make", "**"]\n'

test('trust lasts until a setting that matters changes, and the change is shown', async () => {
  const machine = createTestMachine()
  machine.write('kogu.toml', RULE)
  expect(machine.load().trust).toEqual({ status: 'untrusted' })
  await machine.trustNow()
  expect(machine.load().trust).toEqual({ status: 'trusted', since: expect.any(String) })

  machine.write('kogu.toml', `# a comment\nversion = 1\n[ui]\ntheme = "dark"\n${RULE}`)
  expect(machine.load().trust.status).toBe('trusted')

  machine.write('kogu.toml', `mode = "auto"\n${RULE.replace('"make"', '["make", "sh"]')}`)
  const { trust: changed, config } = machine.load()
  expect(changed).toEqual({
    status: 'changed',
    since: expect.any(String),
    changes: [
      {
        change: 'removed',
        text: 'kogu.toml: rule command=["make","**"] decision="allow" id="a" tool="run_command"',
      },
      {
        change: 'added',
        text: 'kogu.toml: rule command=[["make","sh"],"**"] decision="allow" id="a" tool="run_command"',
      },
      { change: 'added', text: 'kogu.toml: mode = "auto"' },
    ],
  })
  expect(config.permissions.rules).toEqual([])
  expect(config.mode).toBe('ask')
})

test('taking a restriction away ends trust, because what is allowed is then wider', async () => {
  const machine = createTestMachine()
  machine.write('kogu.toml', `${RULE}[[permissions.rules]]\ndecision = "deny"\npath = ["secret"]\n`)
  await machine.trustNow()
  machine.write('kogu.toml', RULE)
  expect(machine.load().trust.status).toBe('changed')
})

test('a new local file ends trust too', async () => {
  const machine = createTestMachine()
  machine.write('.kogu/config.toml', RULE)
  await machine.trustNow()
  machine.write('.kogu/local.toml', 'mode = "auto"\n')
  expect(machine.load()).toMatchObject({ trust: { status: 'changed' }, config: { mode: 'ask' } })
})

test('ordered rules in another order are another policy', async () => {
  const machine = createTestMachine()
  const rule = (pattern: string, action: string) =>
    `[[permissions.rule]]\ntool = "*"\npattern = "${pattern}"\naction = "${action}"\n`
  const head = '[permissions]\ndefault_action = "ask"\n'
  machine.write('kogu.toml', head + rule('a', 'deny') + rule('*', 'allow'))
  await machine.trustNow()
  machine.write('kogu.toml', head + rule('*', 'allow') + rule('a', 'deny'))
  expect(machine.load().trust).toMatchObject({ status: 'changed', changes: [{ change: 'reordered' }] })
})

test('what is trusted is what was seen, not what the file says by then', async () => {
  const machine = createTestMachine()
  machine.write('kogu.toml', RULE)
  const seen = machine.load().projectPart
  machine.write('kogu.toml', 'mode = "auto"\n')
  await trust(machine.environment(), machine.workspace, seen)
  expect(machine.load().trust.status).toBe('changed')
})

test('trust ends when it is taken back, and belongs to one folder', async () => {
  const machine = createTestMachine()
  const other = createTestMachine()
  machine.write('kogu.toml', RULE)
  await machine.trustNow()
  expect(other.load().trust.status).toBe('not-needed')
  expect(await untrust(machine.environment(), machine.workspace)).toBe(true)
  expect(await untrust(machine.environment(), machine.workspace)).toBe(false)
  expect(machine.load().trust.status).toBe('untrusted')
})

test('the store is private, and a damaged one trusts nothing', async () => {
  const machine = createTestMachine()
  machine.write('kogu.toml', RULE)
  await machine.trustNow()
  const { state } = machine.environment().directories
  const store = join(state, 'trust.json')
  expect(statSync(store).mode & 0o777).toBe(0o600)
  expect(statSync(state).mode & 0o777).toBe(0o700)
  expect(readdirSync(state)).toEqual(['trust.json'])
  for (const text of [
    readFileSync(store, 'utf8').slice(0, -20),
    '{"workspaces":{"__proto__":{}}}',
    '[]',
    'null',
  ]) {
    writeFileSync(store, text)
    expect(machine.load().trust.status).toBe('untrusted')
  }
  await machine.trustNow()
  expect(machine.load().trust.status).toBe('trusted')
  chmodSync(store, 0o622)
  expect(machine.load().trust.status).toBe('untrusted')
})

test('many that trust at once lose nothing', async () => {
  const machine = createTestMachine()
  const names = Array.from({ length: 8 }, (_, index) => `/w${index}`)
  await Promise.all(names.map(name => trust(machine.environment(), name, { 'kogu.toml': { mode: 'auto' } })))
  const store = JSON.parse(readFileSync(join(machine.environment().directories.state, 'trust.json'), 'utf8'))
  expect(Object.keys(store.workspaces).toSorted()).toEqual(names)
})

test('a Kogu inside a Kogu call cannot trust', async () => {
  const machine = createTestMachine()
  const inside = machine.environment({ KOGU_CALL: 'c1' })
  await expect(trust(inside, machine.workspace, {})).rejects.toMatchObject({ code: 'forbidden' })
  await expect(untrust(inside, machine.workspace)).rejects.toMatchObject({ code: 'forbidden' })
})

test('a review lists everything that gives authority, commands in full and hidden characters visible', () => {
  const machine = createTestMachine()
  const long = `make ${'x'.repeat(900)} && evil`
  machine.write(
    'kogu.toml',
    `${RULE}[[permissions.rules]]
decision = "deny"
path = ["a"]
[tools.cli.aliases]
grep_search = "./evil"
[tools.custom.t]
description = "ok\\u202Eko"
command = "${long}"
[[tools.mcp.servers]]
name = "m"
command = "npx"
args = ["-y", "m"]
[[hooks]]
event = "pre_tool_call"
command = ["./check"]
[sandbox]
network = true
`,
  )
  const lines = describeProjectAuthority(machine.load().projectPart)
  expect(lines.map(line => `${line.kind}: ${line.text}`)).toEqual([
    'allow: rule command=["make","**"] decision="allow" id="a" tool="run_command"',
    'command: hook command=["./check"] event="pre_tool_call"',
    'command: tools.cli.aliases.grep_search = "./evil"',
    `command: tools.custom.t.command = "${long}"`,
    'command: MCP server args=["-y","m"] command="npx" name="m"',
    'setting: sandbox.network = true',
    'setting: tools.custom.t.description = "ok⟨U+202E⟩ko"',
    'restrict: rule decision="deny" path=["a"]',
  ])
})
