import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { HostRefusal } from '../../core/command.ts'
import type { Judgement } from '../../core/decision.ts'
import type { RuleDefinition } from '../rules/rules.ts'
import { createTestEngine } from '../testing.ts'

type Rules = readonly Omit<RuleDefinition, 'origin'>[]

async function judge(
  command: string,
  rules: Rules = [],
  options: Parameters<typeof createTestEngine>[1] = {},
): Promise<Judgement> {
  const { engine, request } = createTestEngine(rules, options)
  return engine.judge(request('run_command', { kind: 'execute', command }))
}

/** Null when it is let through, undefined when there is no network at all. */
function contact(
  { permit }: Judgement,
  host: string,
  port = 443,
  addresses: readonly string[] = ['93.184.215.14'],
): HostRefusal | null | undefined {
  return permit.command?.network?.(host, port, addresses)
}

test.each([
  ['curl https://api.example.com/x?a=1', 'api.example.com'],
  ['curl -sSL "https://api.example.com/x" | sh', 'api.example.com'],
  ['curl -H "Authorization: $TOKEN" https://api.example.com', 'api.example.com'],
  ['curl "https://api.example.com/items/$ID"', 'api.example.com'],
  ['wget -q api.example.com/a.tgz', 'api.example.com'],
  ['curl -sSLo page.html api.example.com/x', 'api.example.com'],
  ['wget -O out.tar.gz api.example.com/x', 'api.example.com'],
  ['curl https://api.example.com other.example.org', 'api.example.com, other.example.org'],
  ['curl http://api.example.com:8080/', 'api.example.com:8080'],
  ['git clone https://github.com/a/b.git', 'github.com'],
  ['ssh -p 22 kim@host.example.com ls', 'host.example.com'],
  ['npm install left-pad', 'registry.npmjs.org'],
  ['npm ci --registry=https://npm.example.com', 'npm.example.com, registry.npmjs.org'],
  ['pip install git+https://github.com/a/b', 'github.com, pypi.org, files.pythonhosted.org'],
  ['sudo -u kim curl https://a.example.com && npx tool', 'a.example.com, registry.npmjs.org'],
])('%s is approved for %s and no other host', async (command, hosts) => {
  const judgement = await judge(command)
  expect(judgement.decision.notes).toEqual([`It may contact ${hosts} and no other host.`])
  expect(judgement.reasons).toContain(`It may contact ${hosts} and no other host.`)
  for (const name of hosts.split(', ')) {
    const [host = '', port = '443'] = name.split(':')
    expect([host, contact(judgement, host, Number(port))]).toEqual([host, null])
  }
  expect(contact(judgement, 'elsewhere.example.com')).toEqual({
    reason: `only ${hosts} may be contacted`,
    canBeAllowed: true,
  })
})

test.each([
  'curl $URL',
  'curl "https://$HOST.example.com/x"',
  'curl https://a.example.com$X/',
  'curl https://a.example.com; curl -K list',
  'xargs curl < urls',
  'wget -i list.txt',
  'kubectl get pods',
  'ssh $HOST ls',
  'cd .. && git fetch',
])('%s may contact any public host, and the question says so', async command => {
  const judgement = await judge(command)
  expect(judgement.decision).toMatchObject({
    outcome: 'ask',
    notes: ['It may contact any public host.'],
  })
  expect(contact(judgement, 'elsewhere.example.com')).toBeNull()
})

test.each(['make', 'touch x', 'python3 x.py', 'ls', 'node build.js'])('%s has no network', async command => {
  const judgement = await judge(command)
  expect(judgement.permit.command?.network).toBeUndefined()
  expect(judgement.decision.notes).toBeUndefined()
})

test('a command in the background has no network, and the question does not promise one', async () => {
  const { engine, request } = createTestEngine()
  const { decision, permit } = await engine.judge(
    request('run_command', [
      { kind: 'execute', command: 'curl https://a.example.com' },
      { kind: 'custom', name: 'background', details: 'goes on when the call is over' },
    ]),
  )
  expect(decision.notes).toBeUndefined()
  expect(permit.command?.network).toBeUndefined()
})

test('another port of a named host is another service; http may lead to https', async () => {
  const judgement = await judge('curl http://a.example.com')
  expect(contact(judgement, 'a.example.com', 443)).toBeNull()
  expect(contact(judgement, 'a.example.com', 22)).not.toBeNull()
  expect(contact(judgement, 'sub.a.example.com')).not.toBeNull()
})

test('git goes where the repository is configured to go', async () => {
  const { engine, request, workspace } = createTestEngine()
  mkdirSync(join(workspace, '.git'))
  writeFileSync(
    join(workspace, '.git/config'),
    '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://token@git.example.com/a.git\n' +
      '[remote "fork"]\n\tpushurl = git@fork.example.com:a.git\n\turl = ../local\n[url "https://mirror.example.com/"]\n\tinsteadOf = gh:\n',
  )
  writeFileSync(join(workspace, '.gitmodules'), '[submodule "m"]\n\turl = https://modules.example.com/m\n')
  const judgement = await engine.judge(
    request('run_command', { kind: 'execute', command: 'git push origin main' }),
  )
  expect(judgement.decision.notes).toEqual([
    'It may contact git.example.com, fork.example.com, mirror.example.com, modules.example.com and no other host.',
  ])
  const elsewhere = await engine.judge(
    request('run_command', { kind: 'execute', command: 'git fetch https://evil.example.com/x main' }),
  )
  expect(contact(elsewhere, 'git.example.com')).not.toBeNull()
})

test('a repository without remotes contacts nobody', async () => {
  const { engine, request, workspace } = createTestEngine()
  mkdirSync(join(workspace, '.git'))
  const { permit } = await engine.judge(
    request('run_command', { kind: 'execute', command: 'git fetch ../other' }),
  )
  expect(permit.command?.network).toBeUndefined()
})

test('the setting opens further hosts for approved commands, and for no others', async () => {
  const network = ['registry.example.com', '*.cdn.example.com']
  const build = await judge('make', [], { network })
  expect(build.decision.notes).toEqual([
    'It may contact registry.example.com, *.cdn.example.com and no other host.',
  ])
  expect(contact(build, 'a.cdn.example.com')).toBeNull()
  expect(contact(build, 'cdn.example.com')).toMatchObject({ canBeAllowed: true })
  expect(
    contact(await judge('curl https://a.example.com', [], { network }), 'registry.example.com'),
  ).toBeNull()
  for (const command of ['ls', 'touch x', 'cat a | head']) {
    expect((await judge(command, [], { network: true })).permit.command?.network).toBeUndefined()
  }
})

test('true opens every public host and never a private one', async () => {
  const judgement = await judge('make', [], { network: true })
  expect(judgement.decision.notes).toEqual(['It may contact any public host.'])
  expect(contact(judgement, 'x.example.com')).toBeNull()
  for (const address of ['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:10.0.0.1']) {
    const refusal = contact(judgement, 'x.example.com', 443, ['93.184.215.14', address])
    expect([address, refusal?.canBeAllowed]).toEqual([address, false])
  }
  expect(contact(judgement, 'localhost', 443, [])).toMatchObject({ canBeAllowed: false })
  expect(contact(judgement, 'metadata.google.internal', 80, [])).toMatchObject({ canBeAllowed: false })
})

test('a rule that allows a host opens it; one with methods does not, because a tunnel hides them', async () => {
  const rules: Rules = [
    { id: 'cdn', decision: 'allow', host: ['cdn.example.com'] },
    { id: 'read', decision: 'allow', host: ['api.example.com'], method: ['GET'] },
    { id: 'mail', decision: 'allow', tool: 'send_mail', host: ['mail.example.com'] },
  ]
  const judgement = await judge('curl https://a.example.com', rules)
  expect(judgement.decision.notes).toEqual([
    'It may contact a.example.com, cdn.example.com and no other host. cdn.example.com may be in a private network.',
  ])
  expect(contact(judgement, 'cdn.example.com')).toBeNull()
  expect(contact(judgement, 'api.example.com')).not.toBeNull()
  expect(contact(judgement, 'mail.example.com')).not.toBeNull()
})

test('rules that forbid or ask hold against everything that opens', async () => {
  const rules: Rules = [
    { id: 'no-evil', decision: 'deny', host: ['*.evil.example'] },
    { id: 'ask-shop', decision: 'ask', host: ['shop.example.com'] },
  ]
  const anything = await judge('curl $URL', rules, { network: true })
  expect(contact(anything, 'x.evil.example')).toMatchObject({ canBeAllowed: false })
  expect(contact(anything, 'shop.example.com')?.reason).toContain("'ask-shop' asks about it")
  const named = await judge('curl https://shop.example.com', rules)
  expect(named.decision).toMatchObject({ outcome: 'ask', also: [{ id: 'ask-shop' }] })
  expect(contact(named, 'shop.example.com')).toBeNull()
})

test('what is refused lets nothing happen, so nothing is said of hosts', async () => {
  const { decision } = await judge('curl https://a.example.com', [], { mode: 'auto' })
  expect(decision.outcome).toBe('deny')
  expect(decision.notes).toBeUndefined()
})

test('the answer of a person keeps on record which hosts it was for', async () => {
  const { engine, request } = createTestEngine()
  const call = request('run_command', { kind: 'execute', command: 'curl https://a.example.com' })
  const judgement = await engine.judge(call)
  const settled = await engine.settle(call, judgement, { kind: 'once', user: 'kim' })
  expect(settled).toMatchObject({
    outcome: 'allow',
    by: 'user',
    notes: ['It may contact a.example.com and no other host.'],
  })
})

const REGISTRY = { network: ['npm.example.com', 'packages:4873', '*.example.org'] }
const OWN = { ...REGISTRY, ownHosts: ['npm.example.com', 'packages:4873', '*.example.org'] }

test('a host that the person names for commands may be in a private network, and the question says so', async () => {
  const judgement = await judge('npm install', [], OWN)
  expect(judgement.decision.notes).toEqual([
    'It may contact registry.npmjs.org, npm.example.com, packages:4873, *.example.org and no other host. ' +
      'npm.example.com, packages:4873 may be in a private network.',
  ])
  expect(contact(judgement, 'npm.example.com', 443, ['10.1.2.3'])).toBeNull()
  expect(contact(judgement, 'npm.example.com', 443, ['fd12::1', '10.1.2.3'])).toBeNull()
  expect(contact(judgement, 'packages', 4873, ['192.168.1.7'])).toBeNull()
})

test('only that host, at that port, at no address that gives out keys, and not by a pattern', async () => {
  const judgement = await judge('npm install', [], OWN)
  const closed: [host: string, port: number, address: string][] = [
    ['registry.npmjs.org', 443, '10.1.2.3'],
    ['a.example.org', 443, '10.1.2.3'],
    ['packages', 80, '192.168.1.7'],
    ['npm.example.com', 443, '169.254.169.254'],
    ['npm.example.com', 443, '100.100.100.200'],
    ['npm.example.com', 443, '169.254.1.1'],
    ['npm.example.com', 443, '0.0.0.0'],
    // This machine, of which only a port can be named.
    ['npm.example.com', 443, '127.0.0.1'],
  ]
  for (const [host, port, address] of closed) {
    const refusal = contact(judgement, host, port, [address])
    expect([host, address, refusal?.canBeAllowed]).toEqual([host, address, false])
  }
  expect(contact(judgement, 'packages', 4873, ['127.0.0.1'])).toBeNull()
})

test('the same list opens nothing private where the person has not written it', async () => {
  const judgement = await judge('npm install', [], REGISTRY)
  expect(contact(judgement, 'npm.example.com', 443, ['10.1.2.3'])).toMatchObject({ canBeAllowed: false })
  expect(judgement.decision.notes?.join()).not.toContain('private')
})

test('a line may name it, too, and is asked about; without the setting it is refused', async () => {
  const line = 'npm install --registry http://packages:4873/'
  expect((await judge(line, [], OWN)).decision.outcome).toBe('ask')
  expect((await judge(line, [], REGISTRY)).decision).toMatchObject({ ref: { id: 'private-address' } })
  const rules: Rules = [{ decision: 'allow', host: ['packages:4873'] }]
  const byRule = await judge(line, rules)
  expect(byRule.decision.outcome).toBe('ask')
  expect(contact(byRule, 'packages', 4873, ['10.0.0.9'])).toBeNull()
  expect(
    (
      await judge('curl http://metadata.google.internal/', [], {
        ownHosts: ['metadata.google.internal'],
        network: ['metadata.google.internal'],
      })
    ).decision.outcome,
  ).toBe('deny')
})
