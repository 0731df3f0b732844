import type { Environment } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import { laterApprover } from '../core/approval.ts'
import { createRuntime } from '../runtime.ts'
import { createApp } from './app.ts'
import { createSessions } from './auth/sessions.ts'
import { openTokens } from './auth/tokens.ts'
import { listen } from './listen.ts'

export interface ServerOptions {
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly version: string
  readonly host: string
  readonly port: number
  readonly allowRemote: boolean
}

export interface KoguServer {
  readonly url: string
  /** A link that signs one browser in, once. */
  createLink(target?: string): string
  close(): Promise<void>
}

const GRACE_MS = 10_000

/** The server of one workspace: a runtime behind the HTTP door. */
export async function openServer(options: ServerOptions): Promise<KoguServer> {
  const { loaded, environment, version } = options
  const runtime = await createRuntime({
    loaded,
    environment,
    // Questions wait in the inbox until somebody with the scope to approve answers them.
    approver: laterApprover,
  })
  const sessions = createSessions(Date.now)
  const app = createApp({
    runtime,
    version,
    sessions,
    tokens: openTokens(environment.directories.state),
    allowedHosts: loaded.config.server.allowed_hosts.map(host => host.toLowerCase()),
    now: Date.now,
  })
  const listening = await listen(app, options)
  return {
    url: listening.url,
    createLink: target => `${listening.url}/open?link=${sessions.createLink(target)}`,
    async close() {
      await listening.close(GRACE_MS)
      await runtime.close()
    },
  }
}
