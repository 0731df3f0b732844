import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../test/support/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app.close())

interface Asked {
  status: number
  json: { question: string; call: string }
}

interface Shown {
  status: number
  json: { id: string; digest: string; offers: { id: string }[]; isDangerous: boolean }
}

async function ask(path: string): Promise<{ id: string; digest: string; file: string }> {
  const call: Asked = await app.send('POST /api/calls', { tool: 'write_file', input: { path, content: 'x' } })
  expect(call.status).toBe(202)
  const shown: Shown = await app.send(`GET /api/approvals/${call.json.question}`)
  return { id: shown.json.id, digest: shown.json.digest, file: join(app.machine.workspace, path) }
}

describe('a call that needs approval', () => {
  test('waits, is approved with its digest and continued, once', async () => {
    const { id, digest, file } = await ask('a.txt')
    const waiting = await app.send(`POST /api/approvals/${id}/continue`, {})
    expect([waiting.status, existsSync(file)]).toEqual([202, false])
    const yes = { answer: 'once', digest }
    expect((await app.send(`POST /api/approvals/${id}/answer`, yes)).json).toMatchObject({
      answer: { kind: 'once', user: expect.stringMatching(/^http:test#tok_\w+$/) },
    })
    const done = await app.send(`POST /api/approvals/${id}/continue`, {})
    expect([done.status, readFileSync(file, 'utf8')]).toEqual([200, 'x'])
    expect((await app.send(`POST /api/approvals/${id}/continue`, {})).status).toBe(410)
  })

  test('shows afterwards what it changed, with secrets masked', async () => {
    const call: Asked = await app.send('POST /api/calls', {
      tool: 'write_file',
      input: { path: 'd.txt', content: 'one\nAKIAIOSFODNN7EXAMPLE\n' },
    })
    const shown: Shown = await app.send(`GET /api/approvals/${call.json.question}`)
    const { id, digest } = shown.json
    await app.send(`POST /api/approvals/${id}/answer`, { answer: 'once', digest })
    await app.send(`POST /api/approvals/${id}/continue`, {})
    const found: { json: { diff: string }[] } = await app.send(`GET /api/changes/${call.json.call}/diff`)
    expect(found.json[0]?.diff).toContain('+one')
    expect(found.json[0]?.diff).not.toContain('AKIAIOSFODNN7EXAMPLE')
    expect((await app.send('GET /api/changes/call_unknown/diff')).status).toBe(404)
  })

  test('has no files to choose from before it has run', async () => {
    const { id, digest } = await ask('k.txt')
    const some = { answer: 'once', digest, keep: ['k.txt'] }
    expect((await app.send(`POST /api/approvals/${id}/answer`, some)).status).toBe(400)
  })

  test('may be inside of another one, which goes on by its own id, question after question', async () => {
    const recipe = (name: string): string => `${name}:\n\t@echo ${name} >> made.log\n`
    writeFileSync(join(app.machine.workspace, 'Makefile'), `${recipe('build')}${recipe('lint')}`)
    const input = { checks: ['build', 'lint'] }
    const outer: Asked = await app.send('POST /api/calls', { tool: 'self_eval', input })
    for (const command of ['make build', 'make lint']) {
      const { json }: Shown = await app.send(`GET /api/approvals/${outer.json.call}`)
      const { id, digest } = json
      expect(json).toMatchObject({
        input: { command },
        within: [{ callId: outer.json.call, tool: 'self_eval' }],
      })
      const path = `/api/approvals/${id}`
      expect((await app.send(`POST ${path}/instead`, { values: { command: 'true' }, digest })).status).toBe(
        409,
      )
      expect((await app.send(`POST /api/approvals/${outer.json.call}/continue`, {})).status).toBe(202)
      await app.send(`POST ${path}/answer`, { answer: 'once', digest })
      const done = await app.send(`POST /api/approvals/${outer.json.call}/continue`, {})
      expect(done.status).toBe(command === 'make lint' ? 200 : 202)
    }
    expect(readFileSync(join(app.machine.workspace, 'made.log'), 'utf8')).toBe('build\nlint\n')
  })

  test('is repeated after a yes when its run has a name', async () => {
    const request = { tool: 'write_file', input: { path: 'r.txt', content: 'x' }, run: 'named' }
    const asked: Asked = await app.send('POST /api/calls', request)
    const { json }: Shown = await app.send(`GET /api/approvals/${asked.json.call}`)
    await app.send(`POST /api/approvals/${json.id}/answer`, { answer: 'once', digest: json.digest })
    expect((await app.send('POST /api/calls', request)).status).toBe(200)
  })

  test('is not approved by a token that may only run, nor with a digest of something else', async () => {
    const { id, digest, file } = await ask('b.txt')
    const path = `POST /api/approvals/${id}/answer`
    expect((await app.send(path, { answer: 'once', digest }, 'read', 'run', 'admin')).status).toBe(403)
    expect((await app.send(path, { answer: 'once', digest: 'other' })).json).toMatchObject({
      status: 409,
      code: 'stale',
    })
    expect(existsSync(file)).toBe(false)
  })

  test('is refused from then on after a no for good, also if nobody continues it', async () => {
    const { id, digest } = await ask('never.txt')
    const answered = await app.send(`POST /api/approvals/${id}/answer`, {
      answer: 'deny-permanently',
      digest,
    })
    expect(answered.status).toBe(200)
    const again = await app.send('POST /api/calls', {
      tool: 'write_file',
      input: { path: 'never.txt', content: 'x' },
    })
    expect(again).toMatchObject({ status: 403, json: { error_code: 'tool_permission_denied' } })
    const done = await app.send(`POST /api/approvals/${id}/continue`, {})
    expect(done.json).toMatchObject({ error: expect.stringMatching(/^Denied by /) })
    expect(app.machine.runtime.grants.list()).toHaveLength(1)
  })

  test('keeps the first answer', async () => {
    const { id, digest, file } = await ask('c.txt')
    const path = `POST /api/approvals/${id}/answer`
    expect((await app.send(path, { answer: 'deny', digest, message: 'not here' })).status).toBe(200)
    expect((await app.send(path, { answer: 'once', digest })).status).toBe(409)
    expect((await app.send(`POST /api/approvals/${id}/continue`, {})).status).toBe(403)
    expect(existsSync(file)).toBe(false)
  })

  test('is stale when the file has changed since it was asked', async () => {
    const { id, digest } = await ask('d.txt')
    await app.send(`POST /api/approvals/${id}/answer`, { answer: 'once', digest })
    app.machine.write('d.txt', 'somebody else')
    const late = await app.send(`POST /api/approvals/${id}/continue`, {})
    expect([late.status, late.json]).toMatchObject([409, { code: 'stale' }])
  })

  test('cannot be remembered as something that was not offered', async () => {
    const { id, digest } = await ask('e.txt')
    const wide = { answer: 'permanent', digest, grant: 'everything' }
    expect((await app.send(`POST /api/approvals/${id}/answer`, wide)).status).toBe(400)
    expect((await app.send('GET /api/approvals/nothing')).status).toBe(404)
  })
})

test('a question that nobody answered in time is gone', async () => {
  const hasty = await openTestApp({ config: '[permissions]\napproval_timeout = "1ms"\n' })
  const asked: Asked = await hasty.send('POST /api/calls', {
    tool: 'write_file',
    input: { path: 'a.txt', content: 'x' },
  })
  const late = await hasty.send(`POST /api/approvals/${asked.json.question}/answer`, {
    answer: 'once',
    digest: '',
  })
  expect(late).toMatchObject({ status: 410, json: { code: 'expired' } })
  await hasty.close()
})
