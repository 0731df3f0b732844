import { dirname, join } from 'node:path'
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
Use Kogu's tools from any agent over MCP, and add MCP servers to Kogu.

  kogu mcp                              serve on standard input and output; the client starts it
  kogu mcp --cwd ~/project --mode accept-edits
  kogu mcp --http --port 4010           serve on http://127.0.0.1, with a token
  kogu mcp --names claude               offer Read, Edit, Bash, … instead of read_file, edit_file, run_command, …

  kogu mcp install claude|codex|gemini|opencode|cursor|vscode      show the client's configuration; --yes writes it

  kogu mcp list                         list servers: trust, last start, tools, tokens
  kogu mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  kogu mcp add docs --url https://mcp.example.com/mcp
  kogu mcp test NAME | tools NAME       start it; list its tools, and those that wait for approval
  kogu mcp trust NAME                   show its configuration and trust exactly that; a package is installed once
  kogu mcp approve NAME [TOOL …]        show new and changed tools, and approve them
  kogu mcp remove NAME

If a call needs an approval, the client asks you. A client that cannot ask gets the id of the question: answer it with
kogu approvals approve ID, then let the client repeat the call.

Options
  --http               serve on http://127.0.0.1 instead; every request needs the token in the state folder
  --port N             with --http: defaults to a free port
  --names SET          kogu (default) or claude
  --client-approves    the client already asks before every call, so Kogu asks only about dangerous commands;
                       denials and hard limits stay
  --run ID             use this run: files read and answers given in it count
  --mode MODE          ask (default), accept-edits, read-only, auto
  --url URL            add: address of a remote server
  --env NAME=VALUE     add: an environment variable of the server; NAME='$VARIABLE' reads a secret from your own
                       environment. Repeatable, as are the next three
  --header NAME=VALUE  add: a header for a remote server; secrets as with --env
  --host HOST          add: a host it may contact from the sandbox
  --write FOLDER       add: a folder it may change; changes there are not recorded
  --no-sandbox         add: start it without a sandbox
  --pin HASH           approve: exactly what kogu mcp tools showed; for use without a terminal
  --yes                trust: do not ask; install: write the file
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
    mayApprove: environment.insideCall === undefined,
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
  { values, output, signal }: CommandContext,
  runtime: Runtime,
  common: Omit<HttpOptions, 'port' | 'token'>,
): Promise<void> {
  const { serveHttp } = await import('../../mcp/serve-http.ts')
  const { openToken } = await import('../../store/token-file.ts')
  const port = countOption(values, 'port') ?? 0
  const { path, token } = openToken(join(dirname(runtime.places.sealKey), 'mcp-token'))
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
