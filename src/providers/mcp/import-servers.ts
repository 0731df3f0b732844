import { parse, stringify } from 'smol-toml'
import * as z from 'zod'
import { ToolError } from '../../core/errors.ts'
import { CLIENT_FILES } from './client-files.ts'

/** A server of another client, as it would be in Kogu's configuration. */
export interface ImportedServer {
  readonly name: string
  /** What it runs or contacts, without secrets. */
  readonly about: string
  readonly toml: string
  /** Values that were left out because they look like secrets: where each is looked for instead. */
  readonly leftOut: readonly string[]
}

const values = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))

const entry = z.looseObject({
  command: z.union([z.string().min(1), z.array(z.string()).min(1)]).optional(),
  args: z.array(z.string()).default([]),
  env: values.optional(),
  environment: values.optional(),
  url: z.string().optional(),
  serverUrl: z.string().optional(),
  httpUrl: z.string().optional(),
  headers: values.optional(),
  cwd: z.string().min(1).optional(),
})

type Entry = z.infer<typeof entry>

/**
 * Servers from the configuration of Claude, Codex, Cursor, Gemini, opencode or VS Code, as JSON or TOML. Values that look
 * like secrets do not come along: a configuration file says where a secret is. `redact` masks secrets in a text.
 */
export function importServers(text: string, redact: Redact): ImportedServer[] {
  const servers = serversIn(readAny(text))
  return Object.entries(servers).flatMap(([name, value]) => {
    const read = entry.safeParse(value)
    if (!read.success) return []
    const imported = toImported(toName(name), read.data, redact)
    return imported === undefined ? [] : [imported]
  })
}

type Redact = <T>(value: T) => T

function toImported(name: string, given: Entry, redact: Redact): ImportedServer | undefined {
  const leftOut: string[] = []
  const url = given.url ?? given.serverUrl ?? given.httpUrl
  const words = [given.command ?? [], given.args].flat()
  if ((url === undefined) === (words.length === 0)) return undefined
  // As a list: a word behind `--token` is a secret whatever it looks like.
  const command = redact(words)
  leftOut.push(...command.filter((word, index) => word !== words[index]))
  const refer = (given: Readonly<Record<string, string>>, prefix: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(given).map(([key, value]) => {
        const named = /^\$\{?(?:env:)?([A-Za-z_]\w*)\}?$/.exec(value)?.[1]
        const isSecret = SECRET_NAME.test(key) || redact(value) !== value || /\$\{/.test(value)
        const variable =
          named ?? (isSecret ? `${prefix}${key.replaceAll(/\W/g, '_').toUpperCase()}` : undefined)
        if (variable === undefined) return [key, value]
        if (named === undefined) leftOut.push(`${key} → ${variable}`)
        return [key, { env: variable }]
      }),
    )
  const env = refer({ ...given.environment, ...given.env }, '')
  const headers = refer(given.headers ?? {}, `${name.replaceAll('-', '_').toUpperCase()}_`)
  const server = {
    ...(url === undefined ? { command } : { url: redact(url) }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(given.cwd === undefined ? {} : { cwd: given.cwd }),
  }
  const about = url === undefined ? command.join(' ') : redact(url)
  return { name, about, toml: stringify({ mcp: { [name]: server } }), leftOut }
}

const SECRET_NAME = /token|key|secret|passw|credential|auth|cookie/i

/** `[mcp.NAME]` takes lower-case letters, digits and dashes. */
function toName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 32)
    .replace(/-$/, '')
  return plain === '' ? 'server' : plain
}

/** Below the key of any client, or the servers themselves. */
function serversIn(value: unknown): Readonly<Record<string, unknown>> {
  const whole = z.record(z.string(), z.unknown()).safeParse(value)
  if (!whole.success) throw new ToolError('invalid_input', 'It holds no servers.')
  for (const { key } of Object.values(CLIENT_FILES)) {
    const below = z.record(z.string(), z.unknown()).safeParse(whole.data[key])
    if (below.success) return below.data
  }
  return 'command' in whole.data || 'url' in whole.data ? { server: whole.data } : whole.data
}

function readAny(text: string): unknown {
  try {
    return JSON.parse(withoutComments(text))
  } catch {
    try {
      return parse(text)
    } catch {
      throw new ToolError('invalid_input', 'It is neither JSON nor TOML.')
    }
  }
}

/** VS Code's files have comments and commas at the end. Texts in quotes stay as they are. */
function withoutComments(text: string): string {
  const plain = text.replaceAll(
    /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, quoted?: string) => quoted ?? '',
  )
  return plain.replaceAll(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (_, quoted?: string) => quoted ?? '')
}
