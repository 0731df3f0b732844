import { toLine } from '../../core/visible.ts'
import { type Check, diagnose } from '../../doctor.ts'
import { type Command, type CommandContext, flag } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadOptions } from '../open-runtime.ts'
import { table } from '../output.ts'
import { VERSION } from '../version.ts'

export const doctor: Command = {
  help: `
Check that everything Kogu needs is there. Changes nothing.

  kogu doctor
  kogu doctor --json
  kogu doctor --strict        warnings count as failures

Exit codes: 0 ok or warnings, 1 a check failed
`,
  options: { strict: { type: 'boolean' } },
  async run(context) {
    const { overall, checks } = await diagnose({ load: loadOptions(context), version: VERSION })
    const failed = checks.filter(check => check.status === 'fail').length
    const warned = checks.filter(check => check.status === 'warn').length
    if (context.output.json) context.output.object({ schema: 'kogu.doctor/1', overall, checks })
    else print(context, checks, failed, warned)
    return failed > 0 || (flag(context.values, 'strict') && warned > 0) ? EXIT.failed : EXIT.ok
  },
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
