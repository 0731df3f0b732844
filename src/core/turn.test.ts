import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTestRuntime, testCall, toolNamed } from './testing.ts'
import { callTools } from './turn.ts'

test('neighbours that may run side by side do, whatever their risk; others alone; results in the order of the calls', async () => {
  const log: string[] = []
  const run = async (input: { text: string }) => {
    log.push(`+${input.text}`)
    // Long enough for whoever runs beside it to begin.
    await setImmediate()
    await setImmediate()
    log.push(`-${input.text}`)
    return { text: input.text }
  }
  const { runtime } = await createTestRuntime({
    tools: [toolNamed('read', { run, parallel: true, risk: 'high' }), toolNamed('write', { run })],
  })
  const calls = ['read a', 'read b', 'write c', 'write d', 'read e'].map(line => {
    const [tool = '', text] = line.split(' ')
    return testCall(tool, { text })
  })
  const results = await callTools(runtime, calls)
  expect(results.map(result => result.text)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(log).toEqual(['+a', '+b', '-a', '-b', '+c', '-c', '+d', '-d', '+e', '-e'])
})
