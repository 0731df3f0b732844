import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { toToolError } from '../../core/errors.ts'
import type { Remote } from '../../server/listen.ts'
import { openServer } from '../../server/open-server.ts'
import { type Command, type CommandContext, flag, textOption, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { logLines } from '../log-lines.ts'
import { createNotifier } from '../notify.ts'
import { openBrowser } from '../open-browser.ts'
import { loadForCommand, loadOptions } from '../open-runtime.ts'
import { VERSION } from '../version.ts'

export const serve: Command = {
  help: `
Serve the dashboard and the HTTP API of this workspace on a loopback address, and work on its queued runs.

  kogu serve
  kogu serve --port 4000
  curl -H "Authorization: Bearer $(kogu tokens create me --scope read)" http://127.0.0.1:4000/api/tools

Prints a one-time link that signs a browser in. The API describes itself at /api/openapi.json.

Options
  --port N          defaults to a free port
  --host ADDRESS    defaults to 127.0.0.1
  --log             print a JSON line on standard error for every request and run
  --open            also open the link in the browser
  --allow-remote    accept connections from other machines; needs one of:
  --tls-cert FILE --tls-key FILE    a certificate and its key, in PEM
  --proxy           a proxy in front of Kogu does TLS and passes the Host header on

Put the host names that other machines use into [server] allowed_hosts.
`,
  options: {
    port: { type: 'string' },
    host: { type: 'string' },
    log: { type: 'boolean' },
    open: { type: 'boolean' },
    'allow-remote': { type: 'boolean' },
    'tls-cert': { type: 'string' },
    'tls-key': { type: 'string' },
    proxy: { type: 'boolean' },
  },
  words: 0,
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
      remote: readRemote(context),
      reload: () => loadConfig(loadOptions(context)),
      log: logLines(context),
      onQuestion: createNotifier(context, loaded),
    })
    const link = server.createLink()
    if (output.json) output.object({ url: server.url, open: link })
    else {
      output.data(link)
      output.note(
        `Serving ${loaded.workspace.root} at ${server.url}. The link above signs one browser in. Ctrl-C stops.`,
      )
    }
    if (flag(values, 'open')) await openBrowser(environment, loaded.workspace.root, link)
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

/** Other machines reach it over TLS or not at all. */
function readRemote({ values, cwd }: CommandContext): Remote | undefined {
  const certificate = textOption(values, 'tls-cert')
  const key = textOption(values, 'tls-key')
  const proxy = flag(values, 'proxy')
  const isGiven = certificate !== undefined || key !== undefined || proxy
  if (!flag(values, 'allow-remote')) {
    if (isGiven) throw new UsageError('--tls-cert, --tls-key and --proxy need --allow-remote.')
    return undefined
  }
  if (proxy && certificate === undefined && key === undefined) return { kind: 'proxy' }
  if (proxy || certificate === undefined || key === undefined) {
    throw new UsageError(
      '--allow-remote needs TLS.',
      'Use --tls-cert FILE --tls-key FILE, or --proxy if a proxy in front of Kogu does TLS.',
    )
  }
  const read = (file: string): string => readFileSync(resolve(cwd, file), 'utf8')
  return { kind: 'tls', certificate: read(certificate), key: read(key) }
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new UsageError(`--port takes a number up to 65535, not '${text}'.`)
  return Number(text)
}
