import { resolve } from 'node:path'
import { parseDuration } from '../../core/duration.ts'
import { type Command, type CommandContext, flag, textOption, UsageError, unknownVerb } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand } from '../open-runtime.ts'
import { withDatabase } from '../run-session.ts'

const VERBS = ['backup', 'restore', 'prune'] as const

export const data: Command = {
  help: `
Back up, restore and prune the database of agents' runs.

  kogu data backup runs.jsonl.gz
  kogu data restore runs.jsonl.gz
  kogu data prune --older-than 90d --yes

  kogu data backup FILE       every row of every table as gzipped JSON lines; FILE must not exist
  kogu data restore FILE      into a database without runs
  kogu data prune             runs that ended long ago: [retention] runs in the configuration, or --older-than

Undo records, the audit log and permissions are files, not part of the database.
`,
  options: { 'older-than': { type: 'string' }, yes: { type: 'boolean', short: 'y' } },
  async run(context) {
    const [verb, file, ...extra] = context.positionals
    if (verb === undefined || extra.length > 0)
      throw new UsageError('Use: kogu data backup | restore | prune')
    if (verb === 'prune') return pruneRuns(context)
    if (verb !== 'backup' && verb !== 'restore') throw unknownVerb('data', verb, VERBS)
    if (file === undefined) throw new UsageError('Which file?', `kogu data ${verb} FILE`)
    const path = resolve(context.cwd, file)
    return withDatabase(context, async database => {
      const { backup, restore } = await import('../../store/runs/backup.ts')
      const rows = await (verb === 'backup' ? backup(database, path) : restore(database, path))
      if (context.output.json) context.output.object({ file: path, rows })
      else
        context.output.note(verb === 'backup' ? `Wrote ${rows} rows to ${path}.` : `Restored ${rows} rows.`)
      return EXIT.ok
    })
  },
}

async function pruneRuns(context: CommandContext): Promise<number> {
  const { values, output } = context
  const text = textOption(values, 'older-than')
  const age = text === undefined ? loadForCommand(context).config.retention.runs : parseDuration(text)
  if (age === undefined) throw new UsageError('--older-than takes a time such as 30d.')
  if (!flag(values, 'yes')) throw new UsageError('This deletes runs for good.', 'Add --yes.')
  return withDatabase(context, async database => {
    const { prune } = await import('../../store/runs/backup.ts')
    const deleted = await prune(database, new Date(Date.now() - age))
    if (output.json) output.object({ deleted })
    else output.note(`Deleted ${deleted} runs.`)
    return EXIT.ok
  })
}
