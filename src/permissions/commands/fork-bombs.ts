/** Functions that start themselves again in the background or through a pipe. Others end at the limit of processes. */
import { note, type Report } from './state.ts'

export function checkForkBombs(report: Report): void {
  const own = report.calls.filter(call => call.from === call.to && report.functions.has(call.to))
  for (const { to, forked } of own) {
    if (forked || own.filter(call => call.to === to).length > 1)
      note(report, 'forbidden', 'This is a fork bomb: a function starts itself again and again.')
    else note(report, 'dangerous', `The function \`${to}\` calls itself without end.`)
  }
}
