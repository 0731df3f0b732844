import { join } from 'node:path'
import { stringify } from 'smol-toml'
import { appendToFile, type ChangedFile, isSetInFile, unsetInFile } from '../../config/change-file.ts'
import { ConfigError } from '../../config/config-error.ts'
import { joinKey } from '../../config/positions.ts'
import { forgetMcpServer } from '../../store/mcp-records.ts'
import { type CommandContext, flag, textOption, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { manageServers, recordRemoval } from './mcp-servers.ts'

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/

/** `kogu mcp add NAME -- COMMAND …`, `kogu mcp add NAME --url URL`: writes the person's own configuration, and trusts it. */
export async function addServer(context: CommandContext, rest: readonly string[]): Promise<number> {
  refuseInside(context)
  const { values, output } = context
  const [name, ...command] = rest
  const url = textOption(values, 'url')
  if (name === undefined) throw new UsageError('Which name?', 'kogu mcp add NAME -- COMMAND ARGUMENTS …')
  if (!NAME.test(name)) {
    throw new UsageError(
      `'${name}' is not a valid server name.`,
      'Use up to 32 lower-case letters, digits and dashes.',
    )
  }
  if ((url === undefined) === (command.length === 0)) {
    throw new UsageError('Give either a command after --, or --url URL.')
  }
  refuseWithout(context, url)
  const file = ownFile(context)
  if (isSetInFile(file, ['mcp', name]))
    throw new UsageError(`There is a server '${name}' in ${file.path} already.`)
  const server = {
    ...(url === undefined ? { command } : { url }),
    ...(Array.isArray(values.env) ? { env: readPairs(values.env.map(String), '--env') } : {}),
    ...(Array.isArray(values.header) ? { headers: readPairs(values.header.map(String), '--header') } : {}),
    ...(Array.isArray(values.host) ? { hosts: values.host.map(String) } : {}),
    ...(Array.isArray(values.write) ? { write: values.write.map(String) } : {}),
    ...(flag(values, 'no-sandbox') ? { sandbox: false } : {}),
  }
  const added = stringify({ mcp: { [name]: server } }).replace(/^\[mcp\]\n/, '')
  appendToFile(file, added)
  output.note(`Added to ${file.path}:\n${added.trimEnd()}`)
  try {
    return await manageServers(context, 'add', [name])
  } catch (error) {
    // With what a file of the project says about it, it may be none; that would stop every command from now on.
    if (error instanceof ConfigError) {
      unsetInFile(file, joinKey(['mcp', name]))
      output.note(`Removed it from ${file.path} again.`)
    }
    throw error
  }
}

/** What would have no effect is a mistake: a token that is never sent, a host that is not let through. */
function refuseWithout({ values }: CommandContext, url: string | undefined): void {
  const idle = url === undefined ? ['header'] : ['env', 'host', 'write', 'no-sandbox']
  const given = idle.find(option => values[option] !== undefined)
  if (given === undefined) return
  const other = url === undefined ? 'a server that runs elsewhere (--url)' : 'a server that Kogu starts'
  throw new UsageError(`--${given} is for ${other}: it would have no effect here.`)
}

/** Takes it out of the person's configuration, and takes back the trust in it. */
export async function removeServer(context: CommandContext, rest: readonly string[]): Promise<number> {
  refuseInside(context)
  const [name = ''] = rest
  const file = ownFile(context)
  if (!NAME.test(name) || !isSetInFile(file, ['mcp', name]))
    throw new UsageError(
      `There is no table [mcp.${name}] in ${file.path}.`,
      'If another file or [[tools.mcp.servers]] defines it, remove it there: kogu config list shows where.',
    )
  // First, and everywhere: the same lines, written again by whomever, start nothing.
  await forgetMcpServer(context.environment.directories.state, name)
  unsetInFile(file, joinKey(['mcp', name]))
  context.output.note(`Removed [mcp.${name}] from ${file.path}, and the trust in it.`)
  await recordRemoval(context, name)
  return EXIT.ok
}

function ownFile({ environment }: CommandContext): ChangedFile {
  return { path: join(environment.directories.config, 'config.toml'), layer: 'user' }
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

function refuseInside({ environment }: CommandContext): void {
  if (environment.insideCall !== undefined) throw new UsageError('This is not available inside a Kogu call.')
}
