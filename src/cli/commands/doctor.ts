import { toLine } from '../../core/visible.ts'
import { type Check, type DoctorContext, diagnose, repair } from '../../doctor.ts'
import { type Command, type CommandContext, flag, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadOptions } from '../open-runtime.ts'
import { table } from '../output.ts'
import { VERSION } from '../version.ts'

export const doctor: Command = {
  help: `
Check that Kogu has everything it needs. Changes nothing, except with --fix.

  kogu doctor
  kogu doctor --json
  kogu doctor --strict        warnings count as failures
  kogu doctor --fix           clean up after killed processes, update the database's tables, make your configuration
                              writable only by you; then check again

Exit codes: 0 ok or warnings, 1 a check failed
`,
  options: { strict: { type: 'boolean' }, fix: { type: 'boolean' } },
  words: 0,
  async run(context) {
    const wanted = { load: loadOptions(context), version: VERSION }
    const fixed = flag(context.values, 'fix') ? await fixAll(context, wanted) : []
    const { overall, checks } = await diagnose(wanted)
    const failed = checks.filter(check => check.status === 'fail').length
    const warned = checks.filter(check => check.status === 'warn').length
    if (context.output.json) context.output.object({ schema: 'kogu.doctor/1', overall, checks, fixed })
    else print(context, checks, failed, warned)
    return failed > 0 || (flag(context.values, 'strict') && warned > 0) ? EXIT.failed : EXIT.ok
  },
}

async function fixAll(
  { environment, output }: CommandContext,
  wanted: DoctorContext,
): Promise<{ id: string; done: string }[]> {
  if (environment.insideCall !== undefined) throw new UsageError('This is not available inside a Kogu call.')
  const fixed = await repair(wanted)
  for (const { id, done } of fixed) output.note(`fixed  ${id}  ${toLine(done)}`)
  if (fixed.length === 0) output.note('There is nothing that Kogu can fix by itself.')
  return fixed
}

const STYLE = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function print({ output }: CommandContext, checks: readonly Check[], failed: number, warned: number): void {
  const rows = checks.map(({ id, status, summary, remedy }) => [
    output.style(STYLE[status], status.padEnd(4)),
    id,
    toLine(remedy === undefined ? summary : `${summary}      fix: ${remedy}`),
  ])
  const counts = `${failed} failure${failed === 1 ? '' : 's'}, ${warned} warning${warned === 1 ? '' : 's'}`
  output.data(`${table(rows)}\n${counts}`)
}
