/** Functions that start themselves again in the background or through a pipe, directly or through each other. */
import { note, type Report } from './state.ts'

const MAX_FUNCTIONS = 40

export function checkForkBombs(report: Report): void {
  const calls = Map.groupBy(
    report.calls.filter(call => report.functions.has(call.to)),
    call => call.from,
  )
  for (const name of [...report.functions].slice(0, MAX_FUNCTIONS)) {
    const cycle = findCycle(name, calls)
    if (cycle === null) continue
    const text =
      cycle === 'forked'
        ? 'This is a fork bomb: a function starts itself again and again.'
        : `The function \`${name}\` calls itself without end.`
    note(report, cycle === 'forked' ? 'forbidden' : 'dangerous', text)
  }
}

/** Whether the function reaches itself, and whether a fork lies on the way or it does so twice. */
function findCycle(name: string, calls: Map<string, Report['calls']>): 'forked' | 'plain' | null {
  const seen = new Set<string>()
  const queue = [{ at: name, forked: false }]
  let result: 'plain' | null = null
  let own = 0
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { at, forked } = next
    for (const call of calls.get(at) ?? []) {
      const fork = forked || call.forked
      if (call.to === name) {
        own += 1
        if (fork || own > 1) return 'forked'
        result = 'plain'
      }
      const key = `${call.to} ${fork}`
      if (call.to === name || seen.has(key)) continue
      seen.add(key)
      queue.push({ at: call.to, forked: fork })
    }
  }
  return result
}
