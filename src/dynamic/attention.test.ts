import { expect, test } from 'vitest'
import { needsAttention } from './attention.ts'
import type { DynamicTool } from './definition.ts'

const NOW = new Date('2026-03-01T00:00:00Z')
/** Only what attention looks at. */
const tool = (name: string, more: object = {}): DynamicTool =>
  ({
    name,
    createdAt: '2026-02-20T00:00:00Z',
    confidenceScore: 0.5,
    runs: [],
    ...more,
  }) as unknown as DynamicTool
const runs = (ok: boolean, count: number, ms = 1) =>
  Array.from({ length: count }, () => ({ at: '2026-02-20T00:00:00Z', ok, ms }))

test('a person is told which tools fail, are slow, are not trusted or not used, and when there are many', () => {
  expect(
    needsAttention(
      [
        tool('fine', { runs: runs(true, 20) }),
        tool('fails', { runs: [...runs(true, 90), ...runs(false, 6)] }),
        tool('failed_once', { runs: [...runs(true, 3), ...runs(false, 1)] }),
        tool('slow', { runs: runs(true, 3, 12_000) }),
        tool('doubted', { confidenceScore: 0.2 }),
        tool('old', { createdAt: '2025-12-01T00:00:00Z', lastUsedAt: '2026-01-01T00:00:00Z' }),
        tool('old_but_used', { createdAt: '2025-12-01T00:00:00Z', lastUsedAt: '2026-02-28T00:00:00Z' }),
      ],
      8,
      NOW,
    ),
  ).toEqual([
    '7 of at most 8 tools.',
    'fails: 6 of its last 96 runs failed.',
    'slow: it takes 12 s.',
    'doubted: its confidence is low. Mend or delete it.',
    'old: it was not used for 30 days. Delete it?',
  ])
  const fresh = Array.from({ length: 11 }, (_, n) => tool(`t${n}`, { createdAt: '2026-02-28T12:00:00Z' }))
  expect(needsAttention(fresh, 100, NOW)).toEqual(['11 tools were made within a day.'])
})
