import { expect, test } from 'vitest'
import { openTestApp } from '../../../test/support/app.ts'

test('a question that was asked before the database was open is told once it is', async () => {
  const told = Promise.withResolvers<string>()
  const app = await openTestApp({ database: true, onQuestion: ({ id }) => told.resolve(id) })
  const call = { tool: 'write_file', input: { path: 'a.txt', content: 'x' } }
  const { json }: { json: { question: string } } = await app.send('POST /api/calls', call)
  await app.services()
  expect(await told.promise).toBe(json.question)
  await app.close()
}, 60_000)
