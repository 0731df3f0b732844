import { join } from 'node:path'
import { type Approver, laterApprover, noApprover } from '../../core/approval.ts'
import type { HttpOptions } from '../../mcp/serve-http.ts'
import type { Runtime } from '../../runtime.ts'
import {
  type Command,
  type CommandContext,
  countOption,
  flag,
  textOption,
  UsageError,
  unknownVerb,
} from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand } from '../open-runtime.ts'
import { VERSION } from '../version.ts'

const VERBS = ['install', 'list', 'add', 'remove', 'test', 'tools', 'trust', 'approve']

export const mcp: Command = {
  help: `
Offer the tools of this workspace to any agent, as an MCP server; manage the servers whose tools Kogu offers.

  kogu mcp                              the client starts it; it ends with the client
  kogu mcp --cwd ~/project --mode accept-edits
  kogu mcp --http --port 4010           on a loopback address, with a token
  kogu mcp --names claude               offer Read, Edit, Bash, … instead of read_file, edit_file, run_command, …

  kogu mcp install claude|codex|gemini|opencode|cursor|vscode      show what to write for the client; --yes writes it

  kogu mcp list                         servers of the configuration, with their health and what they cost
  kogu mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  kogu mcp add docs --url https://mcp.example.com/mcp
  kogu mcp test NAME | tools NAME       start it and list its tools; show what was approved and what is held
  kogu mcp trust NAME                   show it and ask; what is trusted is what was shown. A package is fetched once, at a
                                        fixed version
  kogu mcp approve NAME [TOOL …]        show tools that are new or have changed, and approve them
  kogu mcp remove NAME

A call that needs a yes is asked about by the client, where it can ask. Otherwise it is refused for now with the id of the
question: answer it with kogu approvals approve ID, and let the client repeat the call.

Options
  --http               serve on http://127.0.0.1 instead; every request needs the token in the state folder
  --port N             with --http: defaults to a free port
  --names SET          kogu (default) or claude
  --client-approves    the client asks its person before every call, so that Kogu does not ask again; dangerous
                       commands are asked about all the same, and nothing that is refused is let through
  --run ID             belong to this run, so that what was read and answered in it counts
  --mode MODE          ask (default), accept-edits, read-only, auto
  --url URL            add: a server that runs elsewhere
  --env NAME=VALUE     add: a variable of the server; NAME='$VARIABLE' for a secret, which is read from your
                       environment. May be repeated, as may the next three
  --header NAME=VALUE  add: a header for a server that runs elsewhere, in the same way
  --host HOST          add: a host that it may contact from the sandbox
  --write FOLDER       add: a folder that it may change from the sandbox, without a record
  --no-sandbox         add: start it without a sandbox
  --pin HASH           approve: what kogu mcp tools has shown, where no terminal can ask
  --yes                trust: do not ask, it was read; install: write it
`,
  options: {
    names: { type: 'string' },
    http: { type: 'boolean' },
    port: { type: 'string' },
    'client-approves': { type: 'boolean' },
    run: { type: 'string' },
    mode: { type: 'string' },
    url: { type: 'string' },
    env: { type: 'string', multiple: true },
    header: { type: 'string', multiple: true },
    host: { type: 'string', multiple: true },
    write: { type: 'string', multiple: true },
    'no-sandbox': { type: 'boolean' },
    pin: { type: 'string' },
    yes: { type: 'boolean' },
  },
  async run(context) {
    const [verb] = context.positionals
    const [, ...rest] = context.positionals
    if (verb === undefined) return serve(context)
    if (!VERBS.includes(verb)) throw unknownVerb('mcp', verb, VERBS)
    if (verb === 'install') return (await import('./mcp-install.ts')).installInClient(context, rest)
    if (verb === 'add') return (await import('./mcp-config.ts')).addServer(context, rest)
    if (verb === 'remove') return (await import('./mcp-config.ts')).removeServer(context, rest)
    return (await import('./mcp-servers.ts')).manageServers(context, verb, rest)
  },
}

async function serve(context: CommandContext): Promise<number> {
  if (!flag(context.values, 'http') && textOption(context.values, 'port') !== undefined) {
    throw new UsageError('--port belongs to --http.')
  }
  const { values, output, signal, stdin, environment } = context
  const names = readNames(values)
  const run = textOption(values, 'run')
  const loaded = loadForCommand(context)
  const { createRuntime } = await import('../../runtime.ts')
  const { serveStdio } = await import('../../mcp/serve-stdio.ts')
  const runtime = await createRuntime({ loaded, environment, approver: approverFor(context) })
  const common: Omit<HttpOptions, 'port' | 'token'> = {
    version: VERSION,
    names,
    budget: loaded.config.tools.budget,
    onError: (message: string) => output.note(message),
    ...(run === undefined ? {} : { run }),
  }
  try {
    if (flag(values, 'http')) await serveOnPort(context, runtime, common)
    else await serveStdio(runtime, { ...common, signal, stdin })
    return EXIT.ok
  } finally {
    await runtime.close()
  }
}

/** The names under which clients see the tools. */
export function readNames(values: CommandContext['values']): 'kogu' | 'claude' {
  const names = textOption(values, 'names') ?? 'kogu'
  if (names === 'kogu' || names === 'claude') return names
  throw new UsageError(`--names takes kogu or claude, not '${names}'.`)
}

async function serveOnPort(
  { values, output, signal, environment }: CommandContext,
  runtime: Runtime,
  common: Omit<HttpOptions, 'port' | 'token'>,
): Promise<void> {
  const { serveHttp } = await import('../../mcp/serve-http.ts')
  const { openToken } = await import('../../store/token-file.ts')
  const port = countOption(values, 'port') ?? 0
  const { path, token } = openToken(join(environment.directories.state, 'mcp-token'))
  const door = await serveHttp(runtime, { ...common, port, token })
  if (output.json) output.object({ url: door.url, token_file: path })
  else output.data(door.url)
  output.note(`Every request needs the header: Authorization: Bearer $(cat ${path})`)
  await new Promise<void>(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await door.close()
}

function approverFor({ environment, values }: CommandContext): Approver {
  if (environment.insideCall !== undefined) {
    // Otherwise a command that an agent runs could approve what the agent may not do.
    return noApprover('this Kogu was started from inside a Kogu call, which never approves')
  }
  if (!flag(values, 'client-approves')) return laterApprover
  return {
    ask: async question =>
      question.isDangerous
        ? { kind: 'pending' }
        : { kind: 'once', user: 'the MCP client (--client-approves)' },
  }
}
