import { expect, test } from 'vitest'
import { checkSource } from './check-source.ts'
import { ConfigError } from './config-error.ts'
import { parseConfig } from './parse-config.ts'
import { toSource } from './read-source.ts'

function check(toml: string) {
  const checked = checkSource(toSource('c.toml', 'user', toml))
  return {
    errors: checked.ok
      ? []
      : checked.errors.map(error => [error.message, error.hint].filter(Boolean).join(' ')),
    warnings: checked.warnings.map(warning => warning.message),
    checked,
  }
}

test('the empty configuration is valid and complete', () => {
  const parsed = parseConfig({})
  if (!parsed.ok) throw new Error('It is not.')
  const { config } = parsed
  expect(config.mode).toBe('ask')
  expect(config.permissions).toEqual({
    default: 'ask',
    approval_timeout: 30 * 60_000,
    commands: 'contain',
    remember_max: 30 * 86_400_000,
    rules: [],
    rule: [],
  })
  expect(config.undo.budget).toBe(1e9)
  expect(config.sandbox.network).toBe(false)
  expect(config.reviewers.on_error).toBe('abstain')
})

test('an unknown key is a warning with its line and what was probably meant, and the rest counts', () => {
  const { checked, warnings } = check('langage = "en"\n[limits]\nmax_turn = 3\nmax_turns = 4\n')
  expect(warnings).toEqual([
    "c.toml:1: Unknown key 'langage'. Did you mean 'language'?",
    "c.toml:3: Unknown key 'limits.max_turn'. Did you mean 'max_turns'?",
  ])
  expect(checked.ok && checked.parsed.limits.max_turns).toBe(4)
})

test.each([
  ['[permissions]\ndefalt = "deny"', "c.toml:2:1: Unknown key 'permissions.defalt'. Did you mean 'default'?"],
  [
    '[[permissions.rules]]\ndecision = "deny"\ntool = "x"\nexcept.pth = ["y"]',
    "c.toml:4:1: Unknown key 'permissions.rules.0.except.pth'. Did you mean 'path'?",
  ],
  [
    '[[permissions.rules]]\ndecision = "deny"\ncommand = ["git push"]',
    'c.toml:3:11: permissions.rules.0.command: Write each word by itself: ["git", "push", "**"], not ["git push"].',
  ],
  [
    '[[permissions.rules]]\ndecision = "deny"\ntool = "Bash(git push:*)"',
    'c.toml:3:8: permissions.rules.0.tool: Write the name of a tool, such as "run_command"; commands go into command = ["git", "push", "**"].',
  ],
  ['[sandbox]\nrequird = true', "c.toml:2:1: Unknown key 'sandbox.requird'. Did you mean 'required'?"],
  ['[server]\nhosts = []', "c.toml:2:1: Unknown key 'server.hosts'. Did you mean 'host'?"],
  [
    '[[hooks]]\nevent = "pre_tool_call"\ncommand = "x"\ntimout = "1s"',
    "c.toml:4:1: Unknown key 'hooks.0.timout'. Did you mean 'timeout'?",
  ],
  ['[permission]\ndefault = "deny"', "c.toml:1:1: Unknown key 'permission'. Did you mean 'permissions'?"],
  ['[[hook]]\nevent = "pre_tool_call"', "c.toml:1:1: Unknown key 'hook'. Did you mean 'hooks'?"],
])('a typo that would switch protection off is an error: %j', (toml, message) => {
  expect(check(toml).errors).toEqual([message])
})

test.each([
  ['mode = "fast"', 'c.toml:1:8: mode: Must be one of "ask", "accept-edits", "read-only", "auto".'],
  ['[limits]\nmax_turns = "3"', 'c.toml:2:13: limits.max_turns: Must be a number.'],
  ['[limits]\nmax_turns = 1.5', 'c.toml:2:13: limits.max_turns: Must be a whole number.'],
  ['[limits]\nmax_time = 30', 'c.toml:2:12: limits.max_time: Write a duration such as "30s", "15m" or "7d".'],
  ['limits = 3', 'c.toml:1:10: limits: Must be a table.'],
  ['[undo]\nbudget = "much"', 'c.toml:2:10: undo.budget: Write a size such as "1GB", "512KiB" or 1_048_576.'],
  [
    '[permissions]\ndefault = "allow"',
    'c.toml:2:11: permissions.default: Must be "ask" or "deny": what no rule matches is never allowed.',
  ],
  [
    '[[permissions.rules]]\ndecision = "allow"\nagents = ["a"]',
    'c.toml:1:1: permissions.rules.0: An allow rule has to say what it allows: tool, path, host, command or effects.',
  ],
  ['[[permissions.rules]]\ntool = "x"', 'c.toml:1:1: permissions.rules.0.decision: This key is missing.'],
  [
    '[[permissions.rules]]\ndecision = "deny"\npath = []',
    'c.toml:3:8: permissions.rules.0.path: The list is empty; leave the key out instead.',
  ],
  [
    '[[permissions.rules]]\ndecision = "deny"\ncommand = "rm -rf"',
    'c.toml:3:11: permissions.rules.0.command: Write the command as a list of tokens, such as ["git", ["status", "diff"], "**"].',
  ],
  [
    '[[permissions.rule]]\ntool = "*"\npattern = "*"\naction = "deny"',
    'c.toml:1:1: permissions.rule: Ordered rules need default_action = "allow", "ask" or "deny".',
  ],
  [
    '[tools]\nsugest_enhanced_tools = true',
    "c.toml:2:25: tools.sugest_enhanced_tools: Settings of a tool are a table: [tools.<name>]. Did you mean 'suggest_enhanced_tools'?",
  ],
  ['[tools.custom.x]\ndescription = "d"', 'c.toml:1:1: tools.custom.x.command: This key is missing.'],
  [
    '[[hooks]]\nevent = "pre_tool_call"\ncommand = "a b"',
    'c.toml:3:11: hooks.0.command: Write the program and its arguments as a list: ["program", "argument"].',
  ],
  ['version = 2', 'c.toml:1:11: version: This Kogu reads version 1 of the configuration.'],
  ['[sandbox]\nenv = ["A B"]', 'c.toml:2:8: sandbox.env.0: Write names of variables.'],
  ['[limits]\nmax_cost = inf', 'c.toml:2:12: limits.max_cost: Must be a number.'],
])('%j is an error at its place', (toml, message) => {
  expect(check(toml).errors).toEqual([message])
})

test('an error shows the line with a caret', () => {
  const { checked } = check('version = 1\n[limits]\n  max_turns = "3" # three\n')
  expect(checked.ok ? '' : checked.errors[0]?.codeblock).toBe(
    '3 |   max_turns = "3" # three\n                  ^',
  )
})

test('a secret that was written into the file is not repeated in the error', () => {
  const { checked, errors } = check('[providers.a]\napi_key = "sk-very-secret"\n')
  expect(errors).toEqual([
    'c.toml:2:11: providers.a.api_key: Say where the secret is instead of writing it here: { env = "NAME" } or { file = "PATH" }.',
  ])
  expect(checked.ok ? '' : checked.errors[0]?.codeblock).not.toContain('very')
})

test('control characters of a file do not reach the terminal', () => {
  const { warnings } = check('"a\\u001b[31m" = 1\n')
  expect(warnings.join()).not.toContain('\u001b')
})

test('broken TOML is an error with line, column and caret', () => {
  const broken = () => toSource('c.toml', 'user', 'version = 1\nmode = = "ask"\n')
  expect(broken).toThrow(ConfigError)
  try {
    broken()
  } catch (error) {
    expect(error).toMatchObject({
      file: 'c.toml',
      line: 2,
      codeblock: expect.stringContaining('mode = = "ask"\n'),
    })
  }
})

test.each([
  '[__proto__]\nx = 1',
  '[tools.constructor]\nx = 1',
  'ui = { __proto__ = { x = 1 } }',
  'a.__proto__.x = 1',
])('keys that mean something on every object are refused: %j', toml => {
  expect(() => toSource('c.toml', 'user', toml)).toThrow('unsafe property')
  expect(({} as Record<string, unknown>).x).toBeUndefined()
})

test('settings of a tool are kept as they are', () => {
  const { checked, warnings } = check(
    '[tools.web_search]\nengine = "searx"\nenabled = false\n[tools.toString]\nx = 1\n',
  )
  expect(warnings).toEqual([])
  expect(checked.ok && checked.parsed.tools.web_search).toEqual({ engine: 'searx', enabled: false })
})

test('rules are read with their lists, their dates and the older name of a mode', () => {
  const { checked } = check(`
[[permissions.rules]]
decision = "ask"
tool = "http"
modes = ["auto", "approval"]
expires = 2027-01-01
always = true
`)
  expect(checked.ok && checked.parsed.permissions.rules).toEqual([
    { decision: 'ask', tool: ['http'], modes: ['auto', 'ask'], expires: Date.UTC(2027, 0, 1), always: true },
  ])
})
