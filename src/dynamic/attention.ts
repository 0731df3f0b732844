import type { DynamicTool } from './definition.ts'
import { metricsOf } from './store.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const UNUSED_MS = 30 * DAY_MS
const LEAST_CONFIDENCE = 0.3
const LEAST_SUCCESS = 0.95
const MOST_FAILURES = 5
const SLOW_MS = 10_000
const MOST_NEW = 10
const NEARLY_FULL = 0.8

/** What a person should look at: tools that fail, are slow or nobody uses, and how many there are. Pure. */
export function needsAttention(tools: readonly DynamicTool[], maxTools: number, now: Date): string[] {
  const isRecent = (time: string): boolean => now.getTime() - Date.parse(time) < DAY_MS
  const made = tools.filter(({ createdAt }) => isRecent(createdAt)).length
  return [
    ...(tools.length >= maxTools * NEARLY_FULL ? [`${tools.length} of at most ${maxTools} tools.`] : []),
    ...(made > MOST_NEW ? [`${made} tools were made within a day.`] : []),
    ...tools.flatMap(tool => aboutOne(tool, now).map(words => `${tool.name}: ${words}`)),
  ]
}

function aboutOne(tool: DynamicTool, now: Date): string[] {
  const { successRate, medianMs } = metricsOf(tool)
  const failures = tool.runs.filter(({ ok }) => !ok).length
  const usedAt = Date.parse(tool.lastUsedAt ?? tool.createdAt)
  const isFailing = successRate !== null && successRate < LEAST_SUCCESS && failures > MOST_FAILURES
  return [
    ...(isFailing ? [`${failures} of its last ${tool.runs.length} runs failed.`] : []),
    ...(medianMs !== null && medianMs > SLOW_MS ? [`it takes ${Math.round(medianMs / 1000)} s.`] : []),
    ...(tool.confidenceScore < LEAST_CONFIDENCE ? ['its confidence is low. Mend or delete it.'] : []),
    ...(now.getTime() - usedAt > UNUSED_MS ? ['it was not used for 30 days. Delete it?'] : []),
  ]
}
