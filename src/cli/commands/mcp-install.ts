import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse, stringify } from 'smol-toml'
import { createRedactor } from '../../core/redact.ts'
import { summarizeDiff } from '../../core/unified-diff.ts'
import { toBlock } from '../../core/visible.ts'
import { writeWhole } from '../../core/write-whole.ts'
import { CLIENT_FILES, type ClientFile } from '../../providers/mcp/client-files.ts'
import { type CommandContext, flag, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand } from '../open-runtime.ts'
import { readNames } from './mcp.ts'

interface Client extends ClientFile {
  entry(command: readonly string[]): Record<string, unknown>
}

const plain: Client['entry'] = ([command = '', ...args]) => ({ command, args })
const typed: Client['entry'] = command => ({ type: 'stdio', ...plain(command) })

/** Where each client looks for servers, and how it writes one. */
const CLIENTS: Readonly<Record<string, Client>> = {
  claude: { ...CLIENT_FILES.claude, entry: typed },
  codex: { ...CLIENT_FILES.codex, entry: plain },
  gemini: { ...CLIENT_FILES.gemini, entry: plain },
  opencode: {
    ...CLIENT_FILES.opencode,
    entry: command => ({ type: 'local', command, enabled: true }),
  },
  cursor: { ...CLIENT_FILES.cursor, entry: plain },
  vscode: { ...CLIENT_FILES.vscode, entry: typed },
}

const CLIENT_NAMES = Object.keys(CLIENTS)

/** `kogu mcp install CLIENT`: shows what it would write into the client's configuration, and writes it with --yes. */
export function installInClient(context: CommandContext, rest: readonly string[]): number {
  const { environment, output, values } = context
  if (environment.insideCall !== undefined) throw new UsageError('This is not available inside a Kogu call.')
  const [name = ''] = rest
  const client = Object.hasOwn(CLIENTS, name) ? CLIENTS[name] : undefined
  if (client === undefined)
    throw new UsageError(
      name === '' ? 'Which client?' : `Unknown client '${name}'.`,
      `Use one of: ${CLIENT_NAMES.join(', ')}.`,
    )
  const { root } = loadForCommand(context).workspace
  // People keep their own settings in a repository and link to them. What a project links to may be anything: there, the link goes.
  const path = client.path.startsWith('~/')
    ? followLink(join(environment.home, client.path.slice(2)))
    : join(root, client.path)
  const names = readNames(values)
  const approves = flag(values, 'client-approves') ? ['--client-approves'] : []
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const after = withServer(path, before, client, [...commandFor(root), '--names', names, ...approves])
  // A client may keep its keys in the same file.
  const shown = createRedactor().perToken.text(
    summarizeDiff(before, after, path.replace(/^\//, '')).diff ?? after,
  )
  if (output.json) output.object({ path, diff: shown, written: flag(values, 'yes') })
  else if (before === after) output.note(`${path} already has this entry.`)
  else output.data(toBlock(shown, { margin: '' }))
  if (!flag(values, 'yes')) {
    const given = [...(values.names === undefined ? [] : ['--names', names]), ...approves]
    output.note(
      `Nothing was written. To write it: ${['kogu mcp install', name, ...given, '--yes'].join(' ')}`,
    )
    return EXIT.ok
  }
  mkdirSync(dirname(path), { recursive: true })
  // So it stays as private as it was.
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0o666
  writeWhole(path, after, { mode: mode & 0o777 })
  output.note(`Written: ${path}. Restart the client to load it.`)
  return EXIT.ok
}

/** This very program, by its full path: clients look up names in other places than a shell. */
function commandFor(root: string): string[] {
  const [node = '', program = ''] = process.argv
  return [node, program, 'mcp', '--cwd', root]
}

function followLink(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

function withServer(path: string, text: string, client: Client, command: readonly string[]): string {
  const isToml = path.endsWith('.toml')
  const entry = client.entry(command)
  let settings: Record<string, unknown>
  try {
    const parsed: unknown = text.trim() === '' ? {} : isToml ? parse(text) : JSON.parse(text)
    settings = toTable(parsed)
  } catch {
    throw new UsageError(
      `${path} cannot be parsed, so nothing was changed.`,
      `Kogu cannot edit JSON with comments. Add this by hand under "${client.key}": "kogu": ${JSON.stringify(entry)}`,
    )
  }
  if (!isToml) {
    const servers = { ...toTable(settings[client.key]), kogu: entry }
    return `${JSON.stringify({ ...settings, [client.key]: servers }, null, 2)}\n`
  }
  // Appended, so that comments and order stay; a table that is there already is left to the person.
  if (toTable(settings[client.key]).kogu !== undefined) {
    throw new UsageError(`${path} has a server 'kogu' already.`, 'Change it by hand, or remove it first.')
  }
  const added = stringify({ [client.key]: { kogu: entry } }).replace(/^\[[a-z_]+\]\n/, '')
  const after = `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${text === '' ? '' : '\n'}${added}`
  try {
    parse(after)
  } catch {
    // `mcp_servers = { … }` takes no table behind it, and the client would not start with such a file.
    throw new UsageError(
      `${path} has its servers in one line, to which Kogu cannot add one, so nothing was changed.`,
      `Add this by hand:\n${stringify({ kogu: entry })}`,
    )
  }
  return after
}

function toTable(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
