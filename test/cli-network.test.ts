import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'
import { visibleNode } from './support/outside-tmp.ts'
import { noSandbox } from './support/skips.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
  configure('')
  // Asks the proxy as any program does, and says what came back; it succeeds whatever that is.
  box.write(
    'ask.mjs',
    `import { request } from 'node:http'
    const { hostname, port } = new URL(process.env.HTTP_PROXY ?? 'http://127.0.0.1:1')
    for (const url of process.argv.slice(2)) await new Promise(done => {
      const sent = request({ host: hostname, port, path: url }, answer => {
        answer.on('data', chunk => process.stdout.write(chunk)).on('end', done)
      })
      sent.on('error', error => { console.log(error.code); done() }).end()
    })`,
  )
  box.write('outside.sh', `'${visibleNode()}' ask.mjs http://elsewhere.invalid/ http://10.0.0.1/`)
})
afterEach(() => box.remove())

const run = (command: string, ...flags: string[]) =>
  box.json(['call', 'run_command', JSON.stringify({ command }), ...flags])

function configure(text: string): void {
  box.configure(`[permissions]\ncommands = "ask"\n${text}`)
}

describe.skipIf(noSandbox !== '')(`hosts of an approved command${noSandbox}`, () => {
  test('another host than the line named is refused and explained, and it is on record for which it was approved', () => {
    const result = run('curl -s https://named.invalid/; bash outside.sh', '--yes-once')
    expect(result.decision).toMatchObject({
      by: 'user',
      notes: ['It may contact named.invalid and no other host.'],
    })
    expect(result.data.stdout).toContain(
      'Kogu does not let this command contact elsewhere.invalid:80: only named.invalid may be contacted',
    )
    expect(result.data.denial).toMatchObject({
      kind: 'network',
      target: 'elsewhere.invalid',
      allowedBy: { kind: 'network', url: 'https://elsewhere.invalid:80/' },
    })
    expect(result.data.denial.message).toContain('[sandbox] network = ["elsewhere.invalid"]')
    expect(result.data.notes).toEqual([
      'Not contacted: named.invalid:443 (its name is not known)',
      'Not contacted: 10.0.0.1:80 (10.0.0.1 is a private address)',
    ])
    expect(result.data.hosts).toEqual([])
    const shown = box.run(['audit', 'list', '--json'])
    expect(shown.stdout).toContain('It may contact named.invalid and no other host.')
  })

  test('the setting opens hosts for approved commands, private addresses never', () => {
    configure('[sandbox]\nnetwork = true\n')
    const result = run('bash outside.sh', '--yes-once')
    expect(result.decision.notes).toEqual(['It may contact any public host.'])
    expect(result.data.stdout).not.toContain('may be contacted')
    expect(result.data.stdout).toContain('10.0.0.1 is a private address')
  })

  test('a script has no network unless something names a host for it', () => {
    const result = run('bash outside.sh', '--yes-once')
    expect(result.decision.notes).toBeUndefined()
    expect(result.data.stdout).toContain('ECONNREFUSED')
  })

  test('a list of addresses in the place of hosts is an error', () => {
    configure('[sandbox]\nnetwork = ["https://a.example.com"]\n')
    expect(box.run(['call', 'run_command', '{"command":"ls"}']).stderr).toContain('A host is a name such as')
  })
})

describe('a private registry', () => {
  const LINE = JSON.stringify({ command: 'npm install --registry http://packages:4873/' })
  const explained = () => box.json(['explain', 'run_command', LINE])

  test('can be named by the person for commands', () => {
    expect(explained()).toMatchObject({ decision: 'deny', ref: { id: 'private-address' } })
    configure('[sandbox]\nnetwork = ["packages:4873"]\n')
    expect(explained()).toMatchObject({ decision: 'ask' })
    expect(JSON.stringify(explained())).toContain('packages:4873 may be in a private network.')
  })

  test('cannot be named by an untrusted project, whatever the person opens', () => {
    for (const open of ['true', '["*"]', '["*.example.com"]']) {
      configure(`[sandbox]\nnetwork = ${open}\n`)
      box.write('kogu.toml', '[sandbox]\nnetwork = ["packages:4873"]\n')
      expect(explained()).toMatchObject({ decision: 'deny', ref: { id: 'private-address' } })
      box.write('kogu.toml', '[[permissions.rules]]\ndecision = "allow"\nhost = "packages:4873"\n')
      expect(explained()).toMatchObject({ decision: 'deny', ref: { id: 'private-address' } })
    }
  })
})
