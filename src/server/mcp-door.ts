import type { LoadedConfig } from '../config/load.ts'
import type { McpDoor } from '../mcp/serve-http.ts'
import type { Runtime } from '../runtime.ts'
import type { Api } from './api.ts'
import { mayApprove, requireScope } from './door.ts'

/** `/mcp`: the tools of the workspace over MCP, for whoever has a token with the scope `run`. */
export function mcpRoute(
  api: Api,
  parts: {
    runtime: Runtime
    loaded: LoadedConfig
    version: string
    log: (line: Record<string, unknown>) => void
  },
): { close(): Promise<void> } {
  const { runtime, loaded, version, log } = parts
  // One for each caller: what one of them has read and was granted is not the other's.
  const doors = new Map<string, Promise<McpDoor>>()
  const open = async (mayApprove: boolean, sender: string): Promise<McpDoor> => {
    const { openMcpDoor } = await import('../mcp/serve-http.ts')
    const onError = (message: string): void => log({ level: 'warn', event: 'mcp', message })
    return openMcpDoor(runtime, {
      version,
      names: 'kogu',
      budget: loaded.config.tools.budget,
      mayApprove,
      sender,
      onError,
    })
  }
  api.all('/mcp', requireScope('run'), async context => {
    // By what the caller may do now: a session that was opened with more does not go on with it.
    const { id = '' } = context.get('caller') ?? {}
    const key = `${id} ${mayApprove(context)}`
    const door = doors.get(key) ?? open(mayApprove(context), id)
    doors.set(key, door)
    // One that could not be opened is opened again by the next request.
    door.catch(() => doors.delete(key))
    return (await door).handle(context.req.raw)
  })
  return {
    async close() {
      for (const door of doors.values()) await (await door).close()
    },
  }
}
