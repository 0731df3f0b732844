import { randomUUID } from 'node:crypto'
import type { Environment } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import { laterApprover } from '../core/approval.ts'
import { createRuntime } from '../runtime.ts'
import { markState } from '../store/own-state.ts'
import { allowedHosts, publicUrl } from './address.ts'
import { createApp } from './app.ts'
import { readLink } from './auth/open-links.ts'
import { createSessions } from './auth/sessions.ts'
import { openTokens } from './auth/tokens.ts'
import { followConfig } from './follow-config.ts'
import { type Listening, listen, type Remote } from './listen.ts'
import { writeServerFile } from './server-file.ts'
import { lazyServices, openServices, type Services } from './services.ts'
import { serveWebSocket } from './web-socket.ts'

export interface ServerOptions {
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly version: string
  readonly host: string
  readonly port: number
  /** How other machines may reach it, when they may. */
  readonly remote: Remote | undefined
  /** Reads the configuration again, with the options of the command line. */
  readonly reload?: () => LoadedConfig
  readonly log?: (line: Record<string, unknown>) => void
  /** Called once for each question that begins to wait, with a link that signs a browser in and leads to it. */
  readonly onQuestion?: (question: { id: string; tool: string; risk: string; link: string }) => void
}

export interface KoguServer {
  readonly url: string
  /** A link that signs one browser in, once. */
  createLink(target?: string): string
  /** Opens the database and begins to work on runs. Requests that need them do the same. */
  start(): Promise<void>
  close(): Promise<void>
}

const GRACE_MS = 10_000

/** The server and worker of one workspace: a runtime behind the HTTP door. */
export async function openServer(options: ServerOptions): Promise<KoguServer> {
  const { loaded, environment, version, log = () => undefined, onQuestion } = options
  // Questions wait in the inbox until somebody with the scope to approve answers them.
  const runtime = await createRuntime({ loaded, environment, approver: laterApprover })
  const config = followConfig({
    ...{ runtime, loaded, environment, log },
    ...(options.reload === undefined ? {} : { load: options.reload }),
  })
  const id = randomUUID()
  const sessions = createSessions(Date.now, link => readLink(runtime.places.sealKey, link, id, Date.now()))
  const opened: { services?: Services; url: string } = { url: '' }
  const createLink = (target?: string): string => `${opened.url}/open?link=${sessions.createLink(target)}`
  const began = Date.now()
  const services = lazyServices(async reached => {
    opened.services = await openServices({
      ...{ loaded, environment, runtime, version, log, began, reached },
      onQuestion: question => onQuestion?.({ ...question, link: createLink(`/approvals/${question.id}`) }),
    })
    return opened.services
  })
  const allowed = allowedHosts(options.host, loaded.config.server.allowed_hosts)
  const app = createApp({
    runtime,
    loaded,
    config,
    environment,
    services,
    version,
    sessions,
    tokens: openTokens(environment.directories.state),
    workspace: runtime.workspace,
    scheme: options.remote === undefined ? 'http' : 'https',
    allowedHosts: allowed,
    now: Date.now,
    log,
  })
  const close = async (door?: Listening): Promise<void> => {
    // Streams end with their hub; what is under way is drained meanwhile.
    await Promise.all([door?.close(GRACE_MS), opened.services?.close(), app.close(), config.close()])
    await runtime.close()
  }
  const listening = await listen(app.api, options).catch(async error => {
    await close()
    throw error
  })
  opened.url = publicUrl(listening.url, { ...options, allowed })
  const sockets = serveWebSocket(listening.server, app.api, services)
  markState(runtime.places, options.loaded.workspace.root)
  const file = writeServerFile(runtime.places, {
    url: publicUrl(listening.url, { host: options.host, remote: undefined, allowed: [] }),
    open: opened.url,
    id,
  })
  return {
    url: opened.url,
    createLink,
    start: async () => void (await services(true)),
    async close() {
      file.remove()
      sockets.close()
      await close(listening)
    },
  }
}
