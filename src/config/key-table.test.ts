import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { expect, test } from 'vitest'
import { KEYS, keyEntry } from './key-table.ts'
import { parseConfig } from './parse-config.ts'
import { sectionNames, sectionSchema } from './schema.ts'
import { createTestMachine } from './test-machine.ts'
import { unreadKeys } from './unread-keys.ts'

/** What is used of zod's description of a schema. */
interface Definition {
  innerType?: unknown
  getter?: () => unknown
  in?: unknown
  options?: unknown[]
  shape?: Record<string, unknown>
  catchall?: unknown
  valueType?: unknown
}

/** Every setting that the schema knows; `*` for a name that people choose. A list is one setting. */
function settingsOf(node: unknown, path: readonly string[]): string[][] {
  const definition = (node as { def?: Definition } | undefined)?.def
  if (definition === undefined) return []
  const { innerType, getter, in: input, options, shape, catchall, valueType } = definition
  if (innerType !== undefined) return settingsOf(innerType, path)
  if (getter !== undefined) return settingsOf(getter(), path)
  if (input !== undefined) return settingsOf(input, path)
  if (options?.some(option => settingsOf(option, path).some(each => each.length > path.length)))
    return options.flatMap(option => settingsOf(option, path))
  const open = [catchall, valueType].filter(
    each => (each as { def?: { type?: string } })?.def?.type !== 'never',
  )
  if (shape === undefined && open.every(each => each === undefined)) return [[...path]]
  return [
    ...Object.entries(shape ?? {}).flatMap(([key, child]) => settingsOf(child, [...path, key])),
    ...open.flatMap(child => settingsOf(child, [...path, '*'])),
  ]
}

const settings = sectionNames().flatMap(name => settingsOf(sectionSchema(name), [name]))

test('every setting of the schema says who may change it and who reads it', () => {
  expect(settings.length).toBeGreaterThan(80)
  const missing = settings.filter(path => keyEntry(path) === undefined).map(path => path.join('.'))
  expect([...new Set(missing)]).toEqual([])
})

test('every line of the table is about a setting, and its reader reads it', () => {
  const unused = Object.entries(KEYS).filter(
    ([pattern, entry]) =>
      !settings.some(path => keyEntry(path) === entry) && !/^(tools|reviewers)\.\*/.test(pattern),
  )
  expect(unused.map(([pattern]) => pattern)).toEqual([])
  for (const [pattern, { reader }] of Object.entries(KEYS)) {
    if (reader === null) continue
    const text = readFileSync(join(import.meta.dirname, '..', reader), 'utf8')
    const name =
      pattern
        .replace(/\.\*+$/, '')
        .split('.')
        .at(-1) ?? ''
    expect([pattern, new RegExp(`\\b${name}\\b`).test(text)]).toEqual([pattern, true])
  }
})

test('a file that nobody trusts weakens nothing of the record, and lets no question expire', () => {
  const machine = createTestMachine()
  machine.write(
    'kogu.toml',
    '[redaction]\npatterns = ["[\\\\s\\\\S]+"]\n[permissions]\napproval_timeout = "1ms"\n[undo]\nbudget = "1KB"\n[audit]\nsegment_size = "1KB"\n',
  )
  const { config, warnings } = machine.load()
  expect(config.redaction.patterns).toEqual([])
  expect(config.permissions.approval_timeout).toBe(30 * 60_000)
  expect(config.undo.budget).toBe(1e9)
  expect(warnings.map(({ message }) => message).join()).toMatch(/redaction\.patterns.*approval_timeout/)
})

test.each([
  ['[retention]\naudit = "1d"', "'retention.audit' has no effect"],
  ['[tools.Bash]\nprofile = "restricted"', "'tools.Bash.profile' has no effect"],
  ['[tools.read_file]\nmax_bytes = 10', "'tools.read_file.max_bytes' has no effect"],
])('a setting that nothing reads is an error: %j', (toml, message) => {
  const machine = createTestMachine()
  machine.write('user/config.toml', `${toml}\n`)
  expect(unreadKeys(machine.load())[0]?.message).toContain(message)
})

test('settings that are read are no errors', () => {
  const machine = createTestMachine()
  machine.write(
    'user/config.toml',
    'mode = "auto"\n[tools.run_command]\nprofile = "restricted"\nallowed_commands = ["ls"]\ntimeout = "5s"\nmax_output = "1KB"\n[tools.web_fetch]\nenabled = false\n',
  )
  expect(unreadKeys(machine.load())).toEqual([])
})

// Which side of a setting is the stricter one, said a second time: a line of the table that takes the other side, or a
// new line that is not said here, fails below.
const isAtMost = (before: unknown, after: unknown): boolean =>
  typeof after === 'number' && (typeof before !== 'number' || after <= before)
const isAtLeast = (before: unknown, after: unknown): boolean =>
  typeof after === 'number' && (typeof before !== 'number' || after >= before)
const isPartOf = (before: unknown, after: unknown): boolean =>
  Array.isArray(after) && (!Array.isArray(before) || after.every(each => before.includes(each)))
const isMoreThan = (before: unknown, after: unknown): boolean =>
  Array.isArray(after) && (!Array.isArray(before) || before.every(each => after.includes(each)))
const becomes =
  (...values: unknown[]) =>
  (_: unknown, after: unknown): boolean =>
    values.includes(after)
const STRICTER: Record<string, (before: unknown, after: unknown) => boolean> = {
  mode: (before, after) => after === 'read-only' || (after === 'ask' && before !== 'read-only'),
  'limits.on_limit': becomes('stop'),
  'tools.providers': isPartOf,
  'tools.run_command.profile': becomes('restricted'),
  'tools.run_command.allowed_commands': isPartOf,
  'tools.dynamic.strict': becomes(true),
  'mcp.x.sandbox': becomes(true),
  'mcp.x.tools.off': isMoreThan,
  'permissions.default': becomes('deny'),
  'permissions.commands': becomes('ask'),
  'permissions.remember_max': isAtMost,
  'quorum.min_models': isAtLeast,
  'quorum.review': becomes('all'),
  'quorum.hil': (before, after) => after === 'auto_reject' || before === 'auto_approve',
  'quorum.veto': isMoreThan,
  'quorum.veto_for': isMoreThan,
  'quorum.approves': becomes(false),
  'quorum.ordinary': becomes('all'),
  'quorum.plan_review': becomes(true),
  'quorum.final_review': becomes(true),
  'quorum.scope': (before, after) => after === 'plan-only' || before === 'fast',
  'reviewers.needed': (before, after) => typeof before === 'number' && isAtLeast(before, after),
  'reviewers.on_deny': becomes('deny'),
  'reviewers.on_error': becomes('deny'),
  'sandbox.required': becomes(true),
  'sandbox.network': (before, after) => after === false || before === true || isPartOf(before, after),
  'sandbox.writable_caches': isPartOf,
  'sandbox.background_write': isPartOf,
  'sandbox.env': isPartOf,
  'audit.sync': becomes('always'),
  'server.allowed_hosts': isPartOf,
  // What rules of such a file decide is tested with the engine: permissions/only-tightens.test.ts.
  'permissions.rules': addsNoAllow,
  'permissions.ordered': addsNoAllow,
}
function addsNoAllow(before: unknown, after: unknown): boolean {
  const allows = (value: unknown): number => JSON.stringify(value).split('"allow"').length
  return allows(after) === allows(before)
}

const SMALLER =
  /^(limits\.max_\w+|limits\.budget\.(day|month)|tools\.run_command\.(timeout|max_output)|tools\.dynamic\.(max_tools|timeout|memory)|quorum\.max_(action|plan)_revisions|agents\.max_\w+|sandbox\.(memory|processes|cpu|file_size)|server\.max_runs(_per_agent)?)$/

function isStricter(key: string, before: unknown, after: unknown): boolean {
  if (/\.enabled$/.test(key)) return after === false
  // Nobody is asked to trust a file for these.
  if (/^(ui|language|version)(\.|$)/.test(key)) return true
  return (SMALLER.test(key) ? isAtMost : STRICTER[key])?.(before, after) ?? false
}

const SAMPLES: readonly unknown[] = [
  ...[true, false, 1, 2, 50, 0.5, '1s', '2h', '1KB', '5MB', 'x', 'a', '127.0.0.1', 'https://a.example/'],
  ...[
    'ask',
    'deny',
    'allow',
    'contain',
    'read-only',
    'accept-edits',
    'auto',
    'restricted',
    'shell',
    'stop',
    'all',
  ],
  ...[
    'asked',
    'one',
    'interactive',
    'auto_reject',
    'auto_approve',
    'plan-only',
    'full',
    'fast',
    'human',
    'abstain',
  ],
  ...['always', 'batch', 'unanimous', 'majority'],
  ...[[], ['a'], ['a', 'b'], ['b']],
]

/** A setting as a file would have it. */
function tableOf(path: readonly string[], value: unknown): string {
  const [key = '', ...above] = [...path].reverse()
  const head = above.length === 0 ? '' : `[${above.reverse().join('.')}]\n`
  return `${head}${key} = ${JSON.stringify(value)}\n`
}

test('whatever setting a file has that nobody trusts, no setting of the person becomes milder', () => {
  const machine = createTestMachine()
  const load = (user: string, project: string) => {
    machine.write('user/config.toml', user)
    machine.write('kogu.toml', project)
    return machine.load().config
  }
  const milder: unknown[] = []
  const tried = new Set<string>()
  for (const pattern of settings) {
    const path = pattern.map(part => (part === '*' ? 'x' : part))
    const accepted = SAMPLES.map(value => tableOf(path, value)).filter(
      text => parseConfig(parseToml(text)).ok,
    )
    const texts = [...new Set([...accepted.slice(0, 2), ...accepted.slice(-1)])]
    // One section: the defaults of all of them take long to make.
    const section = (config: object): unknown => Reflect.get(config, path[0] ?? '')
    for (const user of ['', ...texts.slice(-2)]) {
      const before = load(user, '')
      for (const project of texts) {
        tried.add(path.join('.'))
        const after = load(user, project)
        for (const [key, was, is] of differences(section(before), section(after), path.slice(0, 1))) {
          if (!isStricter(key, was, is)) milder.push([key, was, is, project])
        }
      }
    }
  }
  expect(milder).toEqual([])
  expect(tried.size).toBeGreaterThan(100)
})

function differences(
  before: unknown,
  after: unknown,
  path: readonly string[] = [],
): [string, unknown, unknown][] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  const isTable = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isTable(before) || !isTable(after)) return [[path.join('.'), before, after]]
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap(key =>
    differences(before[key] ?? (isTable(after[key]) ? {} : undefined), after[key], [...path, key]),
  )
}
