import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../test/support/app.ts'

let app: TestApp
let file: string
beforeAll(async () => {
  app = await openTestApp({ config: 'mode = "accept-edits"\n' })
  file = join(app.machine.home, '.config/kogu/config.toml')
})
afterAll(() => app.close())

const RULE =
  '[[permissions.rules]]\nid = "hands-off"\ndecision = "deny"\ntool = "write_file"\npath = "made/**"\n'

/** A new file each time: replacing one that was not read is another question. */
const write = (name: string) =>
  app.send('POST /api/calls', { tool: 'write_file', input: { path: `made/${name}.txt`, content: 'x' } })

test('a rule that somebody writes beside the server holds for the next request, and goes with its line', async () => {
  expect(await write('one')).toMatchObject({ status: 200 })
  writeFileSync(file, `mode = "accept-edits"\n${RULE}`)
  expect(await write('two')).toMatchObject({
    status: 403,
    json: { detail: expect.stringContaining('hands-off') },
  })
  expect(await app.send('GET /api/rules')).toMatchObject({ json: [{ id: 'hands-off' }] })
  writeFileSync(file, 'mode = "accept-edits"\n')
  expect(await write('three')).toMatchObject({ status: 200 })
})

test('a file that cannot be used changes nothing, and the server says so until it is mended', async () => {
  writeFileSync(file, `mode = "accept-edits"\n${RULE}`)
  expect(await write('four')).toMatchObject({ status: 403 })
  for (const broken of [`${RULE}[[permissions.rules`, '[permissions]\nrulez = 1\n']) {
    writeFileSync(file, broken)
    expect(await write('five')).toMatchObject({ status: 403 })
    expect(await app.send('GET /api/config')).toMatchObject({
      json: { problem: expect.stringContaining('config.toml') },
    })
  }
  // Nothing was said about the rule: it is gone because the person took the whole file away.
  rmSync(file)
  expect(await app.send('GET /api/config')).toMatchObject({ json: { problem: null, mode: 'ask' } })
  expect(await write('six')).toMatchObject({ status: 202 })
})

test('what the project allows counts as soon as it is trusted, and no longer than that', async () => {
  app.machine.write(
    '.kogu/config.toml',
    '[[permissions.rules]]\nid = "ours"\ndecision = "allow"\ntool = "write_file"\npath = "made/**"\n',
  )
  expect(await write('seven')).toMatchObject({ status: 202 })
  const { json: seen }: { json: { digest: string } } = await app.send('GET /api/trust')
  await app.send('POST /api/trust', { digest: seen.digest, trusted: true })
  expect(await write('eight')).toMatchObject({ status: 200, json: { decision: { ref: { id: 'ours' } } } })
  await app.send('POST /api/trust', { digest: seen.digest, trusted: false })
  expect(await write('nine')).toMatchObject({ status: 202 })
})

test('rules that are saved over HTTP hold at once', async () => {
  const { json }: { json: { hash: string | null } } = await app.send('GET /api/config/files/user')
  await app.send('PUT /api/config/files/user', { text: RULE, base: json.hash })
  expect(await write('ten')).toMatchObject({ status: 403 })
})
