import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../test/support/app.ts'

let app: TestApp
const bodies: string[] = []
const collector = createServer((request, response) => {
  let text = ''
  request.on('data', chunk => {
    text += String(chunk)
  })
  request.on('end', () => {
    bodies.push(text)
    response.end('{}')
  })
})

beforeAll(async () => {
  await new Promise<void>(resolve => collector.listen(0, '127.0.0.1', resolve))
  const { port } = collector.address() as AddressInfo
  app = await openTestApp({
    database: true,
    config: `[server]\notlp_endpoint = "http://127.0.0.1:${port}"\n`,
  })
}, 60_000)
afterAll(async () => {
  await app.close()
  collector.close()
})

interface Sent {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly { key: string; value: { stringValue?: string; intValue?: string } }[]
}

function spans(): Sent[] {
  return bodies.flatMap(body => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans as Sent[])
}

test('a run becomes a trace of its steps, calls and decisions, without anything that was said', async () => {
  app.machine.write('secret.txt', 'the content of the file')
  app.machine.write(
    'reads.toml',
    '[[answer]]\ntext = "words of the model"\n[[answer.call]]\ntool = "read_file"\ninput = { path = "secret.txt" }\n[[answer]]\ntext = "Done."\n',
  )
  const model = `rehearsal:${join(app.machine.workspace, 'reads.toml')}`
  const { json }: { json: { id: string } } = await app.send('POST /api/runs', { task: 'Read it.', model })
  const { hub } = await app.services()
  while (!spans().some(({ name }) => name === 'invoke_agent'))
    await hub.wait(hub.newest, AbortSignal.timeout(50))
  const sent = spans()
  const root = sent.find(({ name }) => name === 'invoke_agent')
  const call = sent.find(({ name }) => name === 'execute_tool read_file')
  const decision = sent.find(({ name }) => name === 'kogu.decide')
  expect(sent.filter(({ name }) => name.startsWith('chat '))).toHaveLength(2)
  expect(new Set(sent.map(({ traceId }) => traceId))).toEqual(new Set([json.id.replaceAll('-', '')]))
  expect(call?.parentSpanId).toBe(root?.spanId)
  expect(decision?.parentSpanId).toBe(call?.spanId)
  expect(decision?.attributes).toContainEqual({
    key: 'kogu.decision.outcome',
    value: { stringValue: 'allow' },
  })
  for (const said of ['the content of the file', 'words of the model', 'Read it.'])
    expect(bodies.join()).not.toContain(said)
}, 60_000)
