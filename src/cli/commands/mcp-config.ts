import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stringify } from 'smol-toml'
import { ConfigError } from '../../config/config-error.ts'
import { writeWhole } from '../../core/write-whole.ts'
import { openMcpRecords } from '../../store/mcp-records.ts'
import { type CommandContext, flag, textOption, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { forgetServer, manageServers } from './mcp-servers.ts'

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/

/** `kogu mcp add NAME -- COMMAND …`, `kogu mcp add NAME --url URL`: writes the person's own configuration, and trusts it. */
export async function addServer(context: CommandContext, rest: readonly string[]): Promise<number> {
  refuseInside(context)
  const { values, output } = context
  const [name, ...command] = rest
  const url = textOption(values, 'url')
  if (name === undefined) throw new UsageError('Which name?', 'kogu mcp add NAME -- COMMAND ARGUMENTS …')
  if (!NAME.test(name)) {
    throw new UsageError(`'${name}' cannot be a name.`, 'Use up to 32 lower-case letters, digits and dashes.')
  }
  if ((url === undefined) === (command.length === 0)) {
    throw new UsageError('Either a command after --, or --url URL.')
  }
  const path = configPath(context)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (findTable(text, name) !== undefined)
    throw new UsageError(`There is a server '${name}' in ${path} already.`)
  const server = {
    ...(url === undefined ? { command } : { url }),
    ...(Array.isArray(values.env) ? { env: readPairs(values.env.map(String), '--env') } : {}),
    ...(Array.isArray(values.header) ? { headers: readPairs(values.header.map(String), '--header') } : {}),
    ...(Array.isArray(values.host) ? { hosts: values.host.map(String) } : {}),
    ...(Array.isArray(values.write) ? { write: values.write.map(String) } : {}),
    ...(flag(values, 'no-sandbox') ? { sandbox: false } : {}),
  }
  const added = stringify({ mcp: { [name]: server } }).replace(/^\[mcp\]\n/, '')
  write(path, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${text === '' ? '' : '\n'}${added}`)
  output.note(`Added to ${path}:\n${added.trimEnd()}`)
  try {
    // The person has typed it, so that there is nothing to ask.
    return await manageServers({ ...context, values: { ...values, yes: true } }, 'trust', [name])
  } catch (error) {
    // A file that cannot be read would stop every command from now on.
    if (error instanceof ConfigError) {
      write(path, text)
      output.note(`Taken out again: ${path} is as it was.`)
    }
    throw error
  }
}

/** Takes it out of the person's configuration, and takes back the trust in it. */
export async function removeServer(context: CommandContext, rest: readonly string[]): Promise<number> {
  refuseInside(context)
  const [name = ''] = rest
  const path = configPath(context)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const found = findTable(text, name)
  if (found === undefined)
    throw new UsageError(
      `There is no table [mcp.${name}] in ${path}.`,
      'What another file names is removed there: kogu config list shows which one.',
    )
  try {
    await forgetServer(context, name)
  } catch (error) {
    // What is wrong in the file may be this very table.
    if (!(error instanceof ConfigError)) throw error
    await openMcpRecords(context.environment.directories.state).update(name, () => undefined)
  }
  write(path, text.slice(0, found.start) + text.slice(found.end))
  context.output.note(`Removed from ${path}:\n${text.slice(found.start, found.end).trimEnd()}`)
  return EXIT.ok
}

function configPath({ environment }: CommandContext): string {
  return join(environment.directories.config, 'config.toml')
}

/** From the header of the table to the next one that is not a part of it. */
function findTable(text: string, name: string): { start: number; end: number } | undefined {
  if (!NAME.test(name)) return undefined
  const lines = text.split('\n')
  const isOwn = (line: string): boolean =>
    new RegExp(`^\\s*\\[\\s*mcp\\s*\\.\\s*"?${name}"?\\s*(\\.[^\\]]*)?\\]`).test(line)
  const first = lines.findIndex(isOwn)
  if (first === -1) return undefined
  const after = lines.findIndex((line, index) => index > first && /^\s*\[/.test(line) && !isOwn(line))
  const end = after === -1 ? lines.length : after
  const offset = (line: number): number => lines.slice(0, line).join('\n').length + (line === 0 ? 0 : 1)
  return { start: offset(first), end: Math.min(offset(end), text.length) }
}

/** `NAME=VALUE`, or `NAME=$VARIABLE` for a secret: a configuration says where it is, and does not hold it. */
function readPairs(pairs: readonly string[], option: string): Record<string, string | { env: string }> {
  const read = pairs.map(pair => {
    const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (name === undefined)
      throw new UsageError(`${option} takes NAME=VALUE or NAME='$VARIABLE', not '${pair}'.`)
    const [, variable] = /^\$([A-Za-z_]\w*)$/.exec(value) ?? []
    return [name, variable === undefined ? value : { env: variable }]
  })
  return Object.fromEntries(read)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeWhole(path, text)
}

function refuseInside({ environment }: CommandContext): void {
  if (environment.insideCall !== undefined) throw new UsageError('Not from inside a Kogu call.')
}
