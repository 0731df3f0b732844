import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../test/support/app.ts'

let app: TestApp
const rules = `
[[permissions.rules]]
id = "no-vault"
decision = "deny"
tool = "read_file"
path = "vault/**"

[[permissions.rules]]
id = "ask-vault"
decision = "ask"
tool = ["write_file", "edit_file", "apply_patch", "run_command"]
path = "vault/**"
`
beforeAll(async () => {
  app = await openTestApp({ config: rules })
})
afterAll(() => app.close())

const OLD = 'the-old-content\n'

function keep(path: string): string {
  const file = join(app.machine.workspace, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, OLD)
  return path
}

interface Shown {
  text: string
  id: string
  digest: string
  call: string
}

/** All that a token sees which may call and look, but not approve. */
async function asked(tool: string, input: object): Promise<Shown> {
  const call: { status: number; json: { question: string; call: string } } = await app.send(
    'POST /api/calls',
    { tool, input },
    'read',
    'run',
  )
  expect([call.status, call.json]).toEqual([202, expect.anything()])
  const one: { json: { id: string; digest: string } } = await app.send(
    `GET /api/approvals/${call.json.question}`,
    undefined,
    'read',
  )
  const all = await app.send('GET /api/approvals', undefined, 'read')
  return { ...one.json, call: call.json.call, text: JSON.stringify([one.json, all.json]) }
}

describe('a preview is a read', () => {
  const patch = (path: string): string =>
    `*** Begin Patch\n*** Update File: ${path}\n@@\n-the-old-content\n+new\n*** End Patch\n`
  test.each([
    ['write_file', (path: string) => ({ path, content: 'new\n' })],
    ['write_file', (path: string) => ({ path, content: 'new\n', mode: 'append' })],
  ])('%s over a file that may not be read shows its size and a digest', async (tool, input) => {
    for (const path of ['vault/a.txt', '.env']) {
      const { text } = await asked(tool, input(keep(path)))
      expect(text).not.toContain('the-old-content')
      expect(text).toContain('16 bytes, digest ')
      // What would be written is shown.
      expect(text).toContain('new')
    }
  })

  test('where reading asks as well, an edit or a patch does not show what is around it', async () => {
    writeFileSync(join(app.machine.workspace, '.env'), `A=around-it\n${OLD}`)
    for (const [tool, input] of [
      ['edit_file', { path: '.env', old_string: 'the-old-content', new_string: 'new' }],
      ['apply_patch', { input: patch('.env') }],
    ] as const) {
      const { text } = await asked(tool, input)
      expect(text).not.toContain('around-it')
      expect(text).toContain('28 bytes, digest ')
    }
  })

  test('a file that may be read is shown as before', async () => {
    const { text } = await asked('write_file', { path: keep('open.txt'), content: 'new\n' })
    expect(text).toContain('-the-old-content')
  })

  test('the diff of a change that was made shows it neither', async () => {
    const { id, digest, call } = await asked('write_file', { path: keep('.env'), content: 'new\n' })
    await app.send(`POST /api/approvals/${id}/answer`, { answer: 'once', digest })
    expect((await app.send(`POST /api/approvals/${id}/continue`, {})).status).toBe(200)
    expect(readFileSync(join(app.machine.workspace, '.env'), 'utf8')).toBe('new\n')
    const found: { json: object[] } = await app.send(`GET /api/changes/${call}/diff`, undefined, 'read')
    expect(found.json).toMatchObject([
      { diff: null, reason: expect.stringMatching(/^reading it is not allowed; 16 bytes \(sha256 /) },
    ])
  })
})

test('a question shows all code of a line that names a secret', async () => {
  const command = "echo Set-Cookie: a=1; my_token='a\\';cp x y; : 'b'; git tag v1"
  const { text } = await asked('run_command', { command: `curl http://127.0.0.1:9/; ${command}` })
  expect(text).toContain("; my_token='‹secret:token, 1-8 characters›\\\\';cp x y; : 'b'; git tag v1")
})
