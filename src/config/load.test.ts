import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toolSettings } from './schema.ts'
import { createTestMachine } from './test-machine.ts'

const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8')

test('without any file everything has its default and nothing is said', () => {
  const machine = createTestMachine()
  const { config, warnings, files, workspace, trust } = machine.load()
  expect(config.mode).toBe('ask')
  expect(config.permissions.rules).toEqual([])
  expect(warnings).toEqual([])
  expect(files.map(file => file.status)).toEqual(Array(6).fill('missing'))
  expect(workspace).toEqual({ root: machine.workspace, cwd: machine.workspace, by: 'git' })
  expect(trust.status).toBe('not-needed')
})

test('the documented example of a user file loads without a warning', () => {
  const machine = createTestMachine()
  const file = machine.write('user/config.toml', fixture('user.toml'))
  const { config, warnings } = machine.load()
  expect(warnings).toEqual([])
  expect(config.limits).toMatchObject({ max_time: 900_000, max_cost: 0.5, on_limit: 'ask' })
  expect(config.providers.local?.models['qwen3-coder']).toEqual({ context: 131_072, price: 'unknown' })
  expect(config.reviewers['policy-bot']).toMatchObject({
    kind: 'command',
    command: ['/usr/local/bin/policy-bot'],
  })
  expect(toolSettings(config, 'write_file')).toEqual({ root: '.', max_bytes: 1_048_576 })
  expect(toolSettings(config, 'constructor')).toEqual({})
  expect(config.permissions.rules.map(rule => rule.id)).toEqual([
    'read-1',
    'git-1',
    'net-2',
    'sec-1',
    'web-1',
  ])
  expect(config.permissions.rules[1]).toEqual({
    id: 'git-1',
    decision: 'allow',
    tool: ['run_command'],
    command: ['git', ['status', 'diff', 'log', 'show'], '**'],
    match: ['git diff --stat', 'git log -3'],
    not_match: ['git push', 'git diff && rm -rf x', 'git -c core.pager=sh log'],
    always: false,
    origin: { file, line: 57, layer: 'user', trusted: true },
  })
})

test('the example of the founding documents loads from a trusted kogu.toml', async () => {
  const machine = createTestMachine()
  const file = machine.write('kogu.toml', fixture('kogu.toml'))
  await machine.trustNow()
  const { config, warnings, files } = machine.load()
  expect(warnings).toEqual([])
  expect(files.find(entry => entry.path === file)).toEqual({ path: file, layer: 'project', status: 'loaded' })
  expect(config.tools.providers).toEqual(['cli', 'builtin'])
  expect(config.tools.cli.aliases).toEqual({ grep_search: 'rg', glob_search: 'fd' })
  expect(config.tools.custom.list_branches).toEqual({
    description: 'List git branches',
    env: {},
    command: 'git branch --list {pattern}',
    risk_level: 'low',
    parameters: { pattern: { type: 'string', description: 'Branch name pattern', required: false } },
  })
  expect(config.tools.mcp.servers).toMatchObject([{ name: 'filesystem', command: 'npx' }])
  const origin = { file, layer: 'project', trusted: true }
  expect(config.permissions.ordered).toEqual([
    {
      defaultAction: 'ask',
      rules: [
        { tool: 'Bash', pattern: 'git status*', action: 'allow', origin: { ...origin, line: 52 } },
        { tool: 'Bash', pattern: 'rm *', action: 'deny', origin: { ...origin, line: 57 } },
      ],
      origin: { ...origin, line: 50 },
    },
  ])
})

test('of each setting the highest layer wins, tables merge and lists are replaced', async () => {
  const machine = createTestMachine()
  const layers = [
    ['system/config.toml', 1],
    ['user/config.toml', 2],
    ['user/config.work.toml', 3],
    ['kogu.toml', 4],
    ['.kogu/config.toml', 5],
    ['.kogu/local.toml', 6],
  ] as const
  for (const [path, rank] of layers) {
    // Each file sets one key of its own and all keys of the files above it.
    const keys = Array.from({ length: 9 - rank }, (_, index) => `k${rank + index} = ${rank}`)
    machine.write(path, `[tools.x]\n${keys.join('\n')}\nlist = [${rank}]\n`)
  }
  await machine.trustNow()
  const variables = { KOGU_TOOLS__X__K7: '7', KOGU_TOOLS__X__K8: '7' }
  const { config } = machine.load({ variables, flags: { set: ['tools.x.k8=8'], profile: 'work' } })
  // A system file that does not belong to root counts only where it tightens.
  const system = process.getuid?.() === 0 ? { k1: 1 } : {}
  expect(toolSettings(config, 'x')).toEqual({
    ...system,
    k2: 2,
    k3: 3,
    k4: 4,
    k5: 5,
    k6: 6,
    k7: 7,
    k8: 8,
    list: [6],
  })
})

test('rules of all layers count, with the place of each', async () => {
  const machine = createTestMachine()
  const rule = (id: string, decision: string) =>
    `[[permissions.rules]]\nid = "${id}"\ndecision = "${decision}"\ntool = "t"\n`
  machine.write('user/config.toml', rule('u', 'allow') + rule('u2', 'deny'))
  machine.write('.kogu/config.toml', rule('p', 'allow'))
  machine.write('.kogu/local.toml', `[[permissions.rules]]\ndecision = "ask"\ntool = "t"\n`)
  await machine.trustNow()
  const { rules } = machine.load().config.permissions
  expect(rules.map(({ id, origin }) => [id, origin.layer, origin.line])).toEqual([
    ['u', 'user', 1],
    ['u2', 'user', 5],
    ['p', 'project', 1],
    ['local:1', 'local', 1],
  ])
})

test('hooks and redaction patterns of one layer do not take away those of another', async () => {
  const machine = createTestMachine()
  const hook = (name: string) => `[[hooks]]\nevent = "pre_tool_call"\ncommand = "/${name}"\n`
  machine.write('user/config.toml', `${hook('user')}[redaction]\npatterns = ["a"]\n`)
  machine.write('kogu.toml', `${hook('project')}[redaction]\npatterns = ["b"]\n`)
  await machine.trustNow()
  const { config } = machine.load()
  expect(config.hooks.map(entry => entry.command)).toEqual([['/user'], ['/project']])
  expect(config.redaction.patterns).toEqual(['a', 'b'])
})

test('a custom tool is replaced as a whole: the risk of one does not stick to the command of another', async () => {
  const machine = createTestMachine()
  const tool = '[tools.custom.x]\ndescription = "d"\n'
  machine.write('user/config.toml', `${tool}command = "ls"\nrisk_level = "low"\n`)
  machine.write('kogu.toml', `${tool}command = "rm {f}"\n`)
  await machine.trustNow()
  expect(machine.load().config.tools.custom.x).toMatchObject({ command: 'rm {f}', risk_level: 'high' })
})

test('variables and flags are read by the type of their setting', () => {
  const machine = createTestMachine()
  const variables = { KOGU_LIMITS__MAX_COST: '0.5', KOGU_DEFAULTS__MODEL: '4', KOGU_MODE: 'read-only' }
  const flags = { set: ['limits.max_time=5m', 'sandbox.network=["a.org"]', 'tools.x."a b"=true'] }
  const { config } = machine.load({ variables, flags })
  expect(config.limits).toMatchObject({ max_cost: 0.5, max_time: 300_000 })
  expect(config.defaults.model).toBe('4')
  expect(config.mode).toBe('read-only')
  expect(config.sandbox.network).toEqual(['a.org'])
  expect(toolSettings(config, 'x')).toEqual({ 'a b': true })
  expect(machine.load({ variables, flags: { mode: 'auto' } }).config.mode).toBe('auto')
})

test('an unknown variable is a warning, a misspelt flag an error', () => {
  const machine = createTestMachine()
  expect(
    machine.load({ variables: { KOGU_LIMTS__X: '1' } }).warnings.map(warning => warning.message),
  ).toEqual(["KOGU_LIMTS__X: Unknown key 'limts'. Did you mean 'limits'?"])
  expect(() => machine.load({ flags: { set: ['limts.x=1'] } })).toThrow("--set limts.x: Unknown key 'limts'.")
  expect(() => machine.load({ flags: { set: ['nonsense'] } })).toThrow('not of the form key=value')
  expect(() => machine.load({ flags: { set: ['mode=quick'] } })).toThrow('--set mode: mode: Must be one of')
})

test('keys that mean something on every object cannot be set from outside', () => {
  const machine = createTestMachine()
  for (const key of [
    '__proto__.x',
    'tools.__proto__.x',
    'tools.constructor.x',
    'tools.a.constructor.prototype.x',
  ]) {
    expect(() => machine.load({ flags: { set: [`${key}=1`] } })).toThrow('is not the name of a setting')
  }
  expect(() => machine.load({ variables: { KOGU_TOOLS____PROTO____X: '1' } })).toThrow('is not the name')
  expect(({} as Record<string, unknown>).x).toBeUndefined()
})

test('a value with line breaks is text and brings no other settings along', () => {
  const machine = createTestMachine()
  const { config } = machine.load({ variables: { KOGU_DEFAULTS__MODEL: '"a"\nmode = "auto"' } })
  expect(config.defaults.model).toBe('"a"\nmode = "auto"')
  expect(config.mode).toBe('ask')
})

test('--config is read in the place of the user file, and must exist', () => {
  const machine = createTestMachine()
  machine.write('user/config.toml', 'language = "ja"\nmode = "read-only"\n')
  const file = machine.write('other.toml', 'language = "ko"\n')
  expect(machine.load({ flags: { config: file } }).config).toMatchObject({ language: 'ko', mode: 'ask' })
  expect(() => machine.load({ flags: { config: '/no/such.toml' } })).toThrow(
    '/no/such.toml: There is no such file.',
  )
  expect(() => machine.load({ flags: { profile: 'absent' } })).toThrow(
    'config.absent.toml: There is no such file.',
  )
})

test('broken files are all reported by inspect, and load throws the first', () => {
  const machine = createTestMachine()
  machine.write('user/config.toml', 'mode = \n')
  machine.write('kogu.toml', 'mode = "x"\n[permissions]\ndefalt = 1\n')
  const { errors, files, loaded } = machine.inspect()
  expect(errors.map(error => [error.file.split('/').at(-1), error.line])).toEqual([
    ['config.toml', 1],
    ['kogu.toml', 1],
    ['kogu.toml', 3],
  ])
  expect(files.filter(file => file.status === 'invalid')).toHaveLength(2)
  expect(loaded).toBeUndefined()
  expect(() => machine.load()).toThrow('This is not valid TOML')
})

test('a file that is no regular file, not UTF-8 or too large is an error and never hangs', () => {
  const machine = createTestMachine()
  execFileSync('mkfifo', [join(machine.workspace, 'kogu.toml')])
  expect(() => machine.load()).toThrow('not a regular file')
  const other = createTestMachine()
  other.write('user/config.toml', `# ${'x'.repeat(256 * 1024)}`)
  expect(() => other.load()).toThrow('larger than 256 KiB')
  const binary = createTestMachine()
  writeFileSync(binary.write('user/config.toml', ''), Buffer.from([0x61, 0x20, 0xff]))
  expect(() => binary.load()).toThrow('not UTF-8')
})
