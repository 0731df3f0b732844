import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, createApi } from './api.ts'
import { dashboardRoutes } from './dashboard.ts'
import { HttpProblem, sendProblem } from './problem.ts'

const box = mkdtempSync(join(tmpdir(), 'kogu-page-'))
const folder = join(box, 'dashboard')
let api: Api

beforeAll(() => {
  mkdirSync(join(folder, 'assets'), { recursive: true })
  writeFileSync(join(folder, 'index.html'), '<!doctype html>')
  writeFileSync(join(folder, 'assets/index-abc.js'), 'export {}')
  writeFileSync(join(box, 'secret.txt'), 'secret')
  api = createApi()
  api.onError((error, context) => sendProblem(context, error))
  api.notFound(context => sendProblem(context, new HttpProblem(404, 'not_found', 'Nothing.')))
  dashboardRoutes(api, folder)
})
afterAll(() => rmSync(box, { recursive: true }))

const get = async (path: string) => {
  const response = await api.request(`http://127.0.0.1:4000${path}`)
  const headers = response.headers
  return {
    status: response.status,
    cache: headers.get('cache-control'),
    type: headers.get('content-type'),
    text: await response.text(),
  }
}

test('every address of a screen shows the page, which is never kept', async () => {
  for (const path of ['/', '/runs', '/runs/0199?tab=calls', '/panels/a.b', '/index.html'])
    expect(await get(path)).toMatchObject({ status: 200, cache: 'no-store', text: '<!doctype html>' })
})

test('assets are kept for good, because their names change with their content', async () => {
  const asset = await get('/assets/index-abc.js')
  expect(asset).toMatchObject({ status: 200, type: 'text/javascript; charset=utf-8', text: 'export {}' })
  expect(asset.cache).toContain('immutable')
})

test('nothing outside of the folder is sent, however the path is written', async () => {
  for (const path of [
    '/../secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/%2e%2e/%2e%2e/secret.txt',
    '/..\\secret.txt',
  ])
    expect((await get(path)).text).not.toBe('secret')
  for (const path of ['/assets/..%2f..%2fsecret.txt', '/assets/gone-xyz.js', '/api/unknown'])
    expect((await get(path)).status).toBe(404)
})
