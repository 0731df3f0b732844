import { laterApprover } from '../../core/approval.ts'
import { type Command, textOption, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { logLines } from '../log-lines.ts'
import { loadForCommand, loadOptions } from '../open-runtime.ts'

export const worker: Command = {
  help: `
Work on the queued runs of this workspace, beside kogu serve and other workers.

  kogu worker --database postgresql://kogu@db.example/kogu
  kogu worker                                              uses the embedded database of this machine

A worker takes only runs of the folder it was started in. [server] max_runs limits one worker, max_runs_per_agent all
workers together.
After Ctrl-C it takes no new runs, waits a few seconds for the current ones, and leaves the rest to other workers.

Options
  --database URL    defaults to DATABASE_URL, then to the embedded one
  --log             print a JSON line on standard error for every event
`,
  options: { database: { type: 'string' }, log: { type: 'boolean' } },
  words: 0,
  async run(context) {
    const { environment, output, values, signal } = context
    if (environment.insideCall !== undefined)
      throw new UsageError('This is not available inside a Kogu call.')
    const loaded = loadForCommand(context)
    const url = textOption(values, 'database')
    const variables = { ...environment.variables, ...(url === undefined ? {} : { DATABASE_URL: url }) }
    const own = { ...environment, variables }
    const [
      { createRuntime },
      { openRunDatabase },
      { openRuns },
      { startWorker },
      { followConfig },
      { loadConfig },
    ] = await Promise.all([
      import('../../runtime.ts'),
      import('../../run-database.ts'),
      import('../../runs.ts'),
      import('../../server/worker.ts'),
      import('../../server/follow-config.ts'),
      import('../../config/load.ts'),
    ])
    const runtime = await createRuntime({ loaded, environment: own, approver: laterApprover })
    const database = await openRunDatabase(own)
    const config = followConfig({
      ...{ runtime, loaded, environment: own, log: logLines(context) },
      load: () => loadConfig(loadOptions(context)),
    })
    try {
      const runs = await openRuns({ loaded, environment: own, runtime, database })
      const { max_runs, max_runs_per_agent } = loaded.config.server
      const working = await startWorker({
        ...{ runtime, runs, database, log: logLines(context) },
        most: max_runs,
        mostPerAgent: max_runs_per_agent,
      })
      output.note(`Working on the runs of ${loaded.workspace.root}. Ctrl-C stops.`)
      if (!signal.aborted)
        await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
      await working.close()
      await runs.close()
    } finally {
      await config.close()
      await database.close()
      await runtime.close()
    }
    return EXIT.ok
  },
}
