import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openModels } from '../../src/models.ts'
import { readPlainFile } from '../../src/store/saved-text.ts'
import { openTestApp, type TestApp } from '../support/app.ts'

// A request that names a file names one of the workspace that a tool could read. Anything else is not even opened.

const SCRIPT = '[[answer]]\ntext = "Hello."\n'
let app: TestApp
let outside: string
beforeAll(async () => {
  const rule = '[[permissions.rules]]\nid = "closed"\ndecision = "deny"\npath = "closed/**"\n'
  app = await openTestApp({ database: true, config: rule })
  outside = join(mkdtempSync(join(tmpdir(), 'kogu-outside-')), 'script.toml')
  writeFileSync(outside, SCRIPT)
  const { workspace } = app.machine
  app.machine.write('talks.toml', SCRIPT)
  app.machine.write('closed/talks.toml', SCRIPT)
  app.machine.write('.env', SCRIPT)
  symlinkSync(outside, join(workspace, 'leads-out.toml'))
  symlinkSync('/dev', join(workspace, 'devices'))
  spawnSync('mkfifo', [join(workspace, 'pipe.toml')])
}, 60_000)
afterAll(() => app.close())

interface Body {
  requestBody?: { content: { 'application/json': { schema: { properties?: object; $ref?: string } } } }
}

/** Every route whose body names a model, with what else it needs. */
async function namingModels(): Promise<[string, object][]> {
  const { json }: { json: { paths: Record<string, Record<string, Body>> } } =
    await app.send('GET /api/openapi.json')
  const found = Object.entries(json.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) =>
      'model' in (requestBody?.content['application/json'].schema.properties ?? {})
        ? [`${method.toUpperCase()} ${path}`]
        : [],
    ),
  )
  const made: { json: { id: string } } = await app.send('POST /api/agents', { name: 'talking' })
  return found.map(request => [
    request.replace('{id}', made.json.id).replace('{name}', 'none'),
    request === 'POST /api/agents' ? { name: 'other' } : request === 'POST /api/runs' ? { task: 'Go.' } : {},
  ])
}

test('every route that names a model opens no file that a tool could not read', async () => {
  const routes = await namingModels()
  expect(routes.map(([request]) => request)).toEqual(
    expect.arrayContaining(['POST /api/runs', 'POST /api/agents', 'POST /api/models/test']),
  )
  const refused = [
    ...['/dev/ptmx', '/dev/zero', '/etc/passwd', '/proc/self/environ', outside, 'devices/ptmx'],
    ...['leads-out.toml', 'closed/talks.toml', '.env', '../script.toml', 'pipe.toml', 'talks.toml\0'],
  ]
  const wrong: string[] = []
  for (const [request, more] of routes)
    for (const file of refused) {
      const { status } = await app.send(request, { ...more, model: `rehearsal:${file}` })
      const expected = /pipe|\0/.test(file) ? [400, 404] : [403]
      if (!expected.includes(status)) wrong.push(`${status} ${request} ${file}`)
    }
  expect(wrong).toEqual([])
  const own = await app.send('POST /api/runs', { task: 'Go.', model: 'rehearsal:talks.toml' })
  expect(own.status).toBe(202)
})

describe('a file is read as it is and only when it is plain', () => {
  test.each(['/dev/ptmx', '/dev/zero', 'pipe.toml', 'leads-out.toml', '.'])(
    '%s is refused unopened',
    file => {
      const path = file.startsWith('/') ? file : join(app.machine.workspace, file)
      expect(() => readPlainFile(path)).toThrow('is not a plain file')
      const models = openModels(app.machine.loaded, app.machine.environment)
      expect(() => models.find(`rehearsal:${path}`)).toThrow('is not a plain file')
    },
  )

  test('a panel or a pipeline is not read through a folder that a repository brought as a link', async () => {
    const other = await openTestApp()
    try {
      const away = mkdtempSync(join(tmpdir(), 'kogu-away-'))
      writeFileSync(join(away, 'secret.toml'), 'prompt = "secret"\n')
      mkdirSync(join(other.machine.workspace, '.kogu'), { recursive: true })
      for (const kind of ['panels', 'pipelines']) {
        symlinkSync(away, join(other.machine.workspace, '.kogu', kind))
        const { status, json } = await other.send(`GET /api/${kind}/secret`)
        expect([status >= 400, JSON.stringify(json)]).toEqual([true, expect.not.stringContaining('prompt')])
      }
    } finally {
      await other.close()
    }
  })
})
