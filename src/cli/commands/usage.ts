import { parseDuration } from '../../core/duration.ts'
import { localZone } from '../../core/local-day.ts'
import type { UsageGroup } from '../../store/tables/usage.ts'
import { type Command, textOption, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { table } from '../output.ts'
import { withDatabase } from '../run-session.ts'

const GROUPS: readonly UsageGroup[] = ['model', 'day', 'panel', 'agent', 'run']

export const usage: Command = {
  help: `
What agents' runs have used: tokens and money, by model, day, panel, agent or run.

  kogu usage
  kogu usage --by day --since 30d --json

Options
  --by model|day|panel|agent|run    (default: model) panel: what the run was started as · agent: sub-agents apart
  --since 7d                        (default: 30d)

Tokens are counted once: input, read from the vendor's cache, written to it, output and reasoning add up to the vendor's
total. An unknown price is shown as unknown, never as zero. Days are those of this machine, as for limits.budget.
`,
  options: { by: { type: 'string' }, since: { type: 'string' } },
  words: 0,
  async run(context) {
    const { values, output } = context
    const wanted = textOption(values, 'by') ?? 'model'
    const by = GROUPS.find(group => group === wanted)
    if (by === undefined) throw new UsageError(`--by takes ${GROUPS.join(', ')}, not '${wanted}'.`)
    const span = parseDuration(textOption(values, 'since') ?? '30d')
    if (span === undefined) throw new UsageError('--since takes a time such as 24h, 7d or 30d.')
    return withDatabase(context, async database => {
      const { sumUsage } = await import('../../store/tables/usage.ts')
      const rows = await sumUsage(database, { by, since: new Date(Date.now() - span), zone: localZone() })
      if (output.json) output.object(rows)
      else if (rows.length === 0) output.note('Nothing was used in this time.')
      else {
        const head = [by, 'requests', 'input', 'cached', 'cache write', 'output', 'reasoning', 'cost']
        output.data(
          table([
            head,
            ...rows.map(row => [
              row.key,
              ...[row.requests, row.input, row.cached, row.cacheWrite, row.output, row.reasoning].map(String),
              costText(row),
            ]),
          ]),
        )
      }
      return EXIT.ok
    })
  },
}

function costText({
  costUsd,
  unknown,
  requests,
}: {
  costUsd: number
  unknown: number
  requests: number
}): string {
  if (unknown === requests) return 'unknown'
  return `$${costUsd.toFixed(4)}${unknown === 0 ? '' : ` and ${unknown} requests of unknown price`}`
}
