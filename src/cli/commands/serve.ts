import { toToolError } from '../../core/errors.ts'
import { openServer } from '../../server/open-server.ts'
import { type Command, flag, textOption, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { logLines } from '../log-lines.ts'
import { createNotifier } from '../notify.ts'
import { loadForCommand } from '../open-runtime.ts'
import { VERSION } from '../version.ts'

export const serve: Command = {
  help: `
Serve the HTTP API of this workspace on a loopback address, and work on its queued runs.

  kogu serve
  kogu serve --port 4000
  curl -H "Authorization: Bearer $(kogu tokens create me --scope read)" http://127.0.0.1:4000/api/tools

Prints a one-time link that signs a browser in. The API describes itself at /api/openapi.json.

Options
  --port N          defaults to a free port
  --host ADDRESS    defaults to 127.0.0.1
  --log             a JSON line on standard error for every request and run
  --allow-remote    listen on an address that other machines can reach, behind a proxy with TLS
`,
  options: {
    port: { type: 'string' },
    host: { type: 'string' },
    log: { type: 'boolean' },
    'allow-remote': { type: 'boolean' },
  },
  async run(context) {
    const { output, environment, values, signal } = context
    if (environment.insideCall !== undefined)
      throw new UsageError('This is not available inside a Kogu call.')
    const loaded = loadForCommand(context)
    const { config } = loaded
    const server = await openServer({
      loaded,
      environment,
      version: VERSION,
      host: textOption(values, 'host') ?? config.server.host,
      port: readPort(textOption(values, 'port')) ?? config.server.port,
      allowRemote: flag(values, 'allow-remote'),
      log: logLines(context),
      onQuestion: createNotifier(context, loaded),
    })
    if (output.json) output.object({ url: server.url, open: server.createLink() })
    else {
      output.data(server.createLink())
      output.note(
        `Serving ${loaded.workspace.root} at ${server.url}. The link above signs one browser in. Ctrl-C stops.`,
      )
    }
    // Everything but agents works without a database.
    await server.start().catch(error => output.problem(toToolError(error).message))
    await new Promise<void>(resolve => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await server.close()
    return EXIT.ok
  },
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new UsageError(`--port takes a number up to 65535, not '${text}'.`)
  return Number(text)
}
