import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Authority, type AuthorityWish, agentWish, fullAuthority, narrow } from './authority.ts'
import { isInside } from './real-path.ts'

const names = fc.constantFrom('read_file', 'Read', 'READ_FILE', 'write_file', 'github__createIssue')
const folders = fc.constantFrom('/w', '/w/doc', '/w/doc/api', '/w/document', '/w/src', '/etc', '/')
const hosts = fc.constantFrom(
  '*',
  '*.example.com',
  'a.example.com',
  'A.example.com.',
  '*.a.example.com:443',
  'evil.example',
  'a.example.com:8443',
)
const count = fc.integer({ min: 0, max: 100 })
const amount = fc.option(count, { nil: undefined })

const limits = fc.record({ timeMs: count, calls: count, money: count }, { requiredKeys: [] })
const commands = fc
  .record({
    timeoutMs: amount,
    allowed: fc.option(fc.array(fc.constantFrom('ls', 'cat', 'npm')), { nil: undefined }),
  })
  .map(({ timeoutMs, allowed }): Authority['commands'] => ({
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(allowed === undefined ? { profile: 'shell' } : { profile: 'restricted', allowed }),
  }))

const wishes: fc.Arbitrary<AuthorityWish> = fc.record(
  {
    agent: fc.constantFrom('a', 'b'),
    mode: fc.constantFrom('ask', 'accept-edits', 'read-only', 'auto'),
    writeScope: fc.array(folders),
    tools: fc.oneof(fc.constant('all' as const), fc.array(names)),
    commands,
    git: fc.constantFrom('disabled', 'read-only', 'read-write'),
    hosts: fc.oneof(fc.constant('any' as const), fc.array(hosts)),
    limits,
  },
  { requiredKeys: [] },
)

const PATHS = ['/w', '/w/x', '/w/doc/a', '/w/doc/api/a', '/w/document/a', '/w/src/a', '/etc/passwd', '/']
const CONTACTS = [
  'a.example.com:443',
  'a.example.com:8443',
  'b.a.example.com:443',
  'example.com:443',
  'evil.example:80',
]
const LADDER = ['read-only', 'auto', 'ask', 'accept-edits']
const LEVELS = ['disabled', 'read-only', 'read-write']

// Written apart from the code it checks: everything the authority lets through, as a flat set.
function powers(authority: Authority): Set<string> {
  const { mode, git, tools, commands: command, limits: bounds } = authority
  const found = [
    ...LADDER.slice(0, LADDER.indexOf(mode) + 1).map(each => `mode ${each}`),
    ...LEVELS.slice(0, LEVELS.indexOf(git) + 1).map(each => `git ${each}`),
    ...PATHS.filter(path => authority.writeScope.some(folder => isInside(path, folder))).map(
      each => `write ${each}`,
    ),
    ...['read_file', 'read', 'write_file', 'github__createissue', 'other']
      .filter(name => tools === 'all' || tools.some(each => each.toLowerCase() === name))
      .map(each => `tool ${each}`),
    ...['ls', 'cat', 'npm', 'sh -c'].filter(
      each => command.profile === 'shell' || command.allowed.includes(each),
    ),
    ...CONTACTS.filter(each => authority.hosts === 'any' || authority.hosts.some(host => admits(host, each))),
    ...upTo('timeout', command.timeoutMs),
    ...upTo('time', bounds.timeMs),
    ...upTo('calls', bounds.calls),
    ...upTo('money', bounds.money),
  ]
  return new Set(found)
}

function upTo(what: string, most = 101): string[] {
  return Array.from({ length: most }, (_, index) => `${what} ${index}`)
}

function admits(pattern: string, contact: string): boolean {
  const [host = '', port] = contact.split(':')
  const [name = '', only] = pattern.toLowerCase().split(':')
  if (only !== undefined && only !== port) return false
  const plain = name.replace(/\.$/, '')
  return plain === '*' || plain === host || (plain.startsWith('*.') && host.endsWith(plain.slice(1)))
}

test('no sequence of narrowings ever widens anything', () => {
  fc.assert(
    fc.property(fc.array(wishes, { minLength: 1, maxLength: 6 }), sequence => {
      let current = fullAuthority('/w', 'accept-edits')
      for (const wish of sequence) {
        const before = powers(current)
        const next = narrow(current, wish)
        const more = [...powers(next)].filter(power => !before.has(power))
        expect(more).toEqual([])
        current = next
      }
    }),
    { numRuns: 500 },
  )
})

test('a narrowing gives all of what both sides allow', () => {
  fc.assert(
    fc.property(wishes, wishes, (first, second) => {
      const full = fullAuthority('/w', 'accept-edits')
      const one = narrow(full, first)
      const other = narrow(full, second)
      const both = powers(narrow(one, { ...other }))
      const others = powers(other)
      expect(both).toEqual(new Set([...powers(one)].filter(power => others.has(power))))
    }),
    { numRuns: 500 },
  )
})

test('a wish for nothing changes nothing', () => {
  fc.assert(
    fc.property(wishes, wish => {
      const authority = narrow(fullAuthority('/w', 'ask'), wish)
      expect(narrow(authority, {})).toEqual(authority)
    }),
  )
})

test('an agent has no tools, doc to write in, a few readers and git to look at, until its settings say more', () => {
  const full = fullAuthority('/w', 'ask')
  expect(narrow(full, agentWish('writer', '/w'))).toMatchObject({
    agent: 'writer',
    mode: 'ask',
    writeScope: ['/w/doc'],
    tools: [],
    commands: { profile: 'restricted', allowed: ['ls', 'cat', 'head', 'wc', 'find', 'grep', 'tree'] },
    git: 'read-only',
  })
  const settings = { tools: ['write_file'], writeScope: ['/w/src'], git: 'read-write' } as const
  expect(narrow(full, agentWish('writer', '/w', settings))).toMatchObject(settings)
  // A program without exact types may say undefined.
  const unsaid: object = { tools: undefined, commands: undefined, git: undefined, writeScope: undefined }
  expect(narrow(full, agentWish('writer', '/w', unsaid))).toEqual(narrow(full, agentWish('writer', '/w')))
})
