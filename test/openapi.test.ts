import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Validator } from '@seriousme/openapi-schema-validator'
import { generateSource } from 'oazapfts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Listening, listen } from '../src/server/listen.ts'
import { openTestApp, type TestApp } from './support/app.ts'

let app: TestApp
let listening: Listening
let folder: string

beforeAll(async () => {
  app = await openTestApp()
  listening = await listen(app.api, { host: '127.0.0.1', port: 0, remote: undefined })
  folder = mkdtempSync(join(tmpdir(), 'kogu-client-'))
})
afterAll(async () => {
  await listening.close(0)
  await app.close()
  rmSync(folder, { recursive: true })
})

async function readDocument(): Promise<Record<string, unknown>> {
  return (await (await fetch(`${listening.url}/api/openapi.json`)).json()) as Record<string, unknown>
}

test('the document is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(await readDocument())
  expect(result).toMatchObject({ valid: true })
})

test('a client that was generated from it calls tools and gets problems', async () => {
  const file = join(folder, 'openapi.json')
  writeFileSync(file, JSON.stringify(await readDocument()))
  const source = stripTypeScriptTypes(await generateSource(file), { mode: 'transform' })
  // The file lies outside of the project, where its one import is not found by name.
  const runtime = import.meta.resolve('@oazapfts/runtime')
  writeFileSync(
    join(folder, 'client.mjs'),
    source.replaceAll(/from (["'])@oazapfts\/runtime\1/g, `from '${runtime}'`),
  )
  const client = (await import(pathToFileURL(join(folder, 'client.mjs')).href)) as Client
  client.defaults.baseUrl = listening.url
  client.defaults.headers = { authorization: `Bearer ${app.token('read', 'run')}` }

  const tools = await client.getApiTools()
  expect(tools).toMatchObject({ status: 200 })
  app.machine.write('a.txt', 'hello')
  const read = await client.postApiCalls({ tool: 'read_file', input: { path: 'a.txt' } })
  expect(read).toMatchObject({ status: 200, data: { ok: true, tool: 'read_file' } })
  const unknown = await client.postApiCalls({ tool: 'nothing' })
  expect(unknown).toMatchObject({ status: 404, data: { error_code: 'not_found' } })
  const forbidden = await client.deleteApiGrantsById('g-1')
  expect(forbidden).toMatchObject({ status: 403 })
})

/** The parts of the generated module that are used here. */
interface Client {
  readonly defaults: { baseUrl: string; headers: Record<string, string> }
  getApiTools(): Promise<unknown>
  postApiCalls(body: object): Promise<unknown>
  deleteApiGrantsById(id: string): Promise<unknown>
}
