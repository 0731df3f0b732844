import { randomBytes } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type Implementation,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { aboutKogu, canFillForms, shownClient } from './about.ts'
import { type AskedState, callTool, type DoorContext } from './call-tool.ts'
import { type DoorParts, trackCall } from './door-parts.ts'
import { createHeldCalls } from './held-calls.ts'
import { offeredTools } from './tool-list.ts'

/** What all servers of a door share, and what only they need. */
export interface ServerParts extends DoorParts, Pick<DoorContext, 'state' | 'held'> {}

/** What servers need to ask through their clients. */
export function createAskingParts(): Pick<ServerParts, 'state' | 'held'> {
  return {
    held: createHeldCalls(),
    state: createRequestStateCodec<AskedState>({ key: randomBytes(32), ttlSeconds: 3600 }),
  }
}

/** One server for one connection (stdio) or one request (HTTP). It holds no state of its own. */
export function createServer(parts: ServerParts): Server {
  const { version } = parts
  const { serverInfo, ...about } = aboutKogu(version)
  const server = new Server(serverInfo, {
    ...about,
    requestState: { verify: parts.state.verify },
    // Tools come and go, so nobody may keep the list.
    cacheHints: { 'tools/list': { ttlMs: 0, cacheScope: 'private' } },
  })
  const door = doorOf(server, parts)
  server.setRequestHandler('tools/list', async () => ({ tools: await offeredTools(parts) }))
  server.setRequestHandler('tools/call', (request, ctx) => {
    const work = callTool(door, request.params, ctx)
    trackCall(parts, work)
    return work
  })
  return server
}

/** The door of one connection. */
function doorOf(server: Server, parts: ServerParts): DoorContext {
  const sender = parts.sender === undefined ? '' : `#${parts.sender}`
  return {
    ...parts,
    client: ctx => `${shownClient(clientInfo(server, ctx)?.name)}${sender}`,
    canAsk: ctx => parts.mayApprove && canFillForms(capabilities(server, ctx)?.elicitation),
  }
}

/** What a request of the newer protocol says about the client; the SDK has checked it, and types it as an empty object. */
interface Envelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities
  readonly [CLIENT_INFO_META_KEY]?: Implementation
}

function capabilities(server: Server, ctx?: ServerContext): ClientCapabilities | undefined {
  const envelope: Envelope | undefined = ctx?.mcpReq.envelope
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
}

function clientInfo(server: Server, ctx?: ServerContext): Implementation | undefined {
  const envelope: Envelope | undefined = ctx?.mcpReq.envelope
  return envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion()
}
