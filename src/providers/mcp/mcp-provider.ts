import { ProviderUnavailable, ToolError, toToolError } from '../../core/errors.ts'
import { type OnTools, PRIORITY, type Provider } from '../../core/provider.ts'
import { toShellLine } from '../../core/shell-words.ts'
import type { AnyTool, ToolContext, ToolOutput } from '../../core/tool.ts'
import type { LayerCall } from './call-on-layer.ts'
import { type Connection, connect, type OpenedTransport } from './connection.ts'
import { argumentsOf } from './install-server.ts'
import { type Comparison, compareWithPins, describeHeld, type McpRecord, type McpRecords } from './record.ts'
import { configHash, type McpServerConfig, recordKey } from './server-config.ts'
import { type CallServer, toTool, type WayToServer } from './to-tool.ts'
import { pinOf, readDefinitions, type ToolDefinition } from './tool-definition.ts'
import { compileNames, isWanted } from './wanted-tools.ts'

export interface McpProviderParts {
  readonly server: McpServerConfig
  readonly version: string
  readonly records: McpRecords
  /** Starts it at once, instead of with the first call. */
  readonly isEager?: boolean
  /** Starts the server, or prepares to contact it. */
  open(record: McpRecord): Promise<OpenedTransport>
  /** One call of a server whose calls may change the workspace. */
  callOnLayer(call: LayerCall, context: ToolContext): Promise<ToolOutput>
}

/** Between a server's word that its list has changed and a look at it: servers say it many times in a row. */
const DEBOUNCE_MS = 200
/** Before one call, at a server that changes its tools again while it says which it has. */
const MOST_LOOKS = 3

/**
 * The tools of one MCP server. Those that were approved are offered at once, from the record; the server itself is
 * started with the first call, and again after it has ended. What it offers that nobody has approved is held.
 */
export function createMcpProvider(parts: McpProviderParts): Provider {
  const { server, records } = parts
  const state: State = {
    offered: () => undefined,
    signal: AbortSignal.abort(),
    failed: false,
    changes: 0,
    seen: 0,
    current: new Map(),
  }

  const refresh = async (connection: Connection): Promise<void> => {
    clearTimeout(state.debounce)
    const { changes } = state
    const { tools, problems } = readDefinitions(await connection.listTools())
    const wanted = tools.filter(isWanted(server))
    const found: { record?: McpRecord; compared?: Comparison } = {}
    // Compared only now, and with what is on record at that moment: a server that takes its time with the list must not
    // outlast the trust in it, and of two processes that see a first list, one sees the second.
    await records.update(recordKey(server), record => {
      if (changes < state.seen || record?.config !== configHash(server)) return record
      const compared = compareWithPins(record, wanted, server.pin)
      const isFirst = Object.keys(record.pins).length === 0 && compared.approved.length > 0
      Object.assign(found, { record, compared })
      return {
        ...record,
        era: connection.era,
        last: { at: new Date().toISOString(), off: namesOff(server, tools) },
        held: compared.held,
        ...(isFirst ? { pins: Object.fromEntries(compared.approved.map(tool => [tool.name, tool])) } : {}),
      }
    })
    // Somebody has asked later and was answered sooner.
    if (changes < state.seen) return
    const { record = trustedRecord(records, server), compared } = found
    if (compared === undefined) throw new Error('it was trusted again while it listed its tools')
    state.current = new Map(compared.approved.map(tool => [tool.name, pinOf(tool)]))
    state.seen = changes
    const heldProblems = Object.values(compared.held).map(tool => describeHeld(record, server.name, tool))
    offer(compared.approved, [...problems, ...heldProblems, ...unmatched(server, tools)])
  }

  const open = async (): Promise<Connection> => {
    const record = trustedRecord(records, server)
    try {
      return await start(record)
    } catch (error) {
      // Ended by whoever did not want to wait: that says nothing about the server.
      if (state.signal.aborted) throw error
      // Without what it wrote, which may hold anything.
      const [problem = ''] = toToolError(error).message.slice(0, 500).split(', and wrote: ')
      const last = { at: new Date().toISOString(), problem }
      await records.update(recordKey(server), now => now && { ...now, last }).catch(() => undefined)
      throw error
    }
  }

  const start = async (record: McpRecord): Promise<Connection> => {
    const connection = await connect({
      server,
      version: parts.version,
      knownEra: record.era,
      open: () => parts.open(record),
      signal: state.signal,
      onToolsChanged: () => {
        clearTimeout(state.debounce)
        state.changes += 1
        state.debounce = setTimeout(() => void refresh(connection).catch(() => undefined), DEBOUNCE_MS)
      },
    })
    try {
      await refresh(connection)
      return connection
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  const connected = async (): Promise<Connection> => {
    const known = await state.connection?.catch(() => undefined)
    if (known?.isOpen === true) return known
    // One start for all calls that come at the same time.
    state.connection = state.starting ??= open().finally(() => {
      delete state.starting
    })
    return state.connection
  }

  const call: CallServer = async (tool, input, context) => {
    if (server.workspace === 'layer') {
      const record = trustedRecord(records, server)
      return parts.callOnLayer({ server, version: parts.version, record, tool, input }, context)
    }
    let connection: Connection
    try {
      // Another process may have taken the trust back.
      trustedRecord(records, server)
      connection = await connected()
      // It has said that its tools are others now: nothing is called that it may mean otherwise.
      for (let looks = 0; state.seen !== state.changes; looks += 1) {
        if (looks === MOST_LOOKS) throw new Error('its tools do not stop changing')
        await refresh(connection)
      }
    } catch (error) {
      state.failed = true
      throw new ProviderUnavailable(toToolError(error).message)
    }
    // What was offered may have been replaced meanwhile, by the server or by a person who took the approval back.
    const now = state.current.get(tool.name)
    if (now !== pinOf(tool)) {
      const isGone = !Object.hasOwn(trustedRecord(records, server).held, tool.name)
      const what = isGone ? 'no longer offers this tool' : 'has changed this tool since it was approved'
      throw new ToolError('conflict', `The MCP server '${server.name}' ${what}.`, {
        hint: `See: kogu mcp tools ${server.name}`,
      })
    }
    return connection.call(tool, input, context)
  }

  const offer = (definitions: readonly ToolDefinition[], problems: readonly string[]): void => {
    const line = (): string => toShellLine(argumentsOf(server, trustedRecord(records, server)))
    const made = definitions.map(definition => makeTool(server, definition, { call, line }))
    const tools = made.filter(tool => typeof tool !== 'string')
    state.offered(tools, [...problems, ...made.filter(tool => typeof tool === 'string')])
  }

  return {
    id: `mcp:${server.name}`,
    displayName: `MCP server ${server.name}${server.command === undefined || server.sandbox ? '' : ', without a sandbox'}`,
    priority: PRIORITY.mcp,
    async start(signal, onTools) {
      state.offered = (tools, problems) => {
        if (!signal.aborted) onTools(tools, problems)
      }
      state.signal = signal
      const record = trustedRecord(records, server)
      const known = Object.values(record.pins).filter(isWanted(server))
      // After a failure it has to show that it works before its tools are offered again.
      if (known.length > 0 && !state.failed && parts.isEager !== true) {
        const held = Object.values(record.held).map(tool => describeHeld(record, server.name, tool))
        return offer(
          known.filter(({ name }) => !Object.hasOwn(record.held, name)),
          held,
        )
      }
      await connected()
      state.failed = false
    },
    async close() {
      clearTimeout(state.debounce)
      const connection = await state.connection?.catch(() => undefined)
      delete state.connection
      await connection?.close()
    },
  }
}

interface State {
  offered: OnTools
  /** Ends with this life of the provider. */
  signal: AbortSignal
  /** How often it has said that its tools have changed; and how often it had when they were last looked at. */
  changes: number
  seen: number
  /** The last start failed. */
  failed: boolean
  connection?: Promise<Connection>
  starting?: Promise<Connection>
  debounce?: NodeJS.Timeout
  /** Approved tools that the server offers now, by its own names, with their pins. */
  current: ReadonlyMap<string, string>
}

/** Throws unless a person has trusted this very configuration. */
export function trustedRecord(records: McpRecords, server: McpServerConfig): McpRecord {
  const record = records.read(recordKey(server))
  if (record === undefined) throw new Error(`it is not trusted yet: kogu mcp trust ${server.name}`)
  if (record.config !== configHash(server)) {
    throw new Error(`its configuration has changed since it was trusted: kogu mcp trust ${server.name}`)
  }
  return record
}

function makeTool(server: McpServerConfig, definition: ToolDefinition, way: WayToServer): AnyTool | string {
  try {
    return toTool(server, definition, way)
  } catch (error) {
    return `the tool ${JSON.stringify(definition.name)} is left out: ${toToolError(error).message}`
  }
}

/** As many as a person would look at. */
const MOST_OFF = 500

function namesOff(server: McpServerConfig, tools: readonly ToolDefinition[]): string[] {
  const isOn = isWanted(server)
  return tools
    .filter(tool => !isOn(tool))
    .slice(0, MOST_OFF)
    .map(({ name }) => name)
}

/** A pattern that matches nothing is a mistake, and in a list of what is off a dangerous one. */
function unmatched({ on, off }: McpServerConfig, tools: readonly ToolDefinition[]): string[] {
  return [...on, ...off]
    .filter(pattern => !tools.some(({ name }) => compileNames([pattern])(name)))
    .map(pattern => `no tool matches ${JSON.stringify(pattern)}.`)
}
