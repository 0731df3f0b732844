import { expect, test } from 'vitest'
import { type Model, ModelError, type ModelRequest, NO_USAGE, type Usage } from './agents/model.ts'
import { askReviewer } from './ask-reviewer.ts'
import { createTestRuntime, toolNamed } from './core/testing.ts'

const MILLION = 1_000_000

/** Looks at a file as long as it may, at one cent a request. */
function curious(): { model: Model; requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  const model: Model = {
    ...{ id: 'm', provider: 'p', name: 'm', price: { input: 1, cached: 0, cacheWrite: 0, output: 0 } },
    capabilities: { context: undefined, maxOutput: undefined, tools: true, images: false, temperature: true },
    async respond(request) {
      requests.push({ ...request, messages: [...request.messages] })
      const usage = { input: MILLION / 100, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 }
      const use = {
        type: 'tool_use' as const,
        id: `u${requests.length}`,
        name: 'read_file',
        input: { text: 'x' },
      }
      return request.tools.length > 0
        ? { content: [use], stopReason: 'tool_use', usage }
        : { content: [{ type: 'text', text: 'a vote' }], stopReason: 'end_turn', usage }
    },
  }
  return { model, requests }
}

const prompt = { system: '', user: 'Q' }

async function ask(lookups: number, maxCostUsd?: number) {
  const { runtime } = await createTestRuntime({ tools: [toolNamed('read_file')] })
  const { model, requests } = curious()
  const signal = new AbortController().signal
  const answer = askReviewer(model, prompt, { name: 'r', signal, maxCostUsd, lookups, calls: runtime })
  return { answer, requests }
}

test('it looks as often as it may, and then has to vote without tools', async () => {
  const { answer, requests } = await ask(2)
  expect(await answer).toEqual({ text: 'a vote', costUsd: expect.closeTo(0.03) })
  expect(requests.map(({ tools }) => tools.length)).toEqual([1, 1, 0])
})

test('one that has spent its share without a vote is stopped', async () => {
  const { answer, requests } = await ask(10, 0.02)
  await expect(answer).rejects.toThrow('it has cost $0.0200 without a vote; the limit is $0.02')
  expect(requests).toHaveLength(2)
})

test('without lookups it gets no tools at all', async () => {
  const { answer, requests } = await ask(0)
  expect((await answer).text).toBe('a vote')
  expect(requests).toHaveLength(1)
})

test('a limit of money that cannot be kept, and money for an answer that broke off, are not passed over', async () => {
  const { model } = curious()
  const limits = { name: 'r', signal: new AbortController().signal, lookups: 0, calls: undefined }
  const unknown = askReviewer({ ...model, price: null }, prompt, { ...limits, maxCostUsd: 1 })
  await expect(unknown).rejects.toThrow('its price is unknown, so quorum.max_cost cannot be enforced')
  const broken = new ModelError('unavailable', 'It broke off.')
  broken.usage = { ...NO_USAGE, input: MILLION }
  const costs: (number | null)[] = []
  const failing = { ...model, respond: () => Promise.reject(broken) }
  const spent = (_: Usage, costUsd: number | null): void => void costs.push(costUsd)
  await expect(askReviewer(failing, prompt, { ...limits, maxCostUsd: undefined, spent })).rejects.toBe(broken)
  expect(costs).toEqual([1])
})
