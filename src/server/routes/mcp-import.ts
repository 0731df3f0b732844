import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../config/environment.ts'
import { CLIENT_FILES, MORE_CLIENT_FILES } from '../../providers/mcp/client-files.ts'
import { type ImportedServer, importServers } from '../../providers/mcp/import-servers.ts'
import type { Runtime } from '../../runtime.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'

const server = z
  .object({
    name: z.string(),
    /** What it runs or contacts. */
    about: z.string(),
    /** Lines for Kogu's configuration. */
    toml: z.string(),
    /** Values that look like secrets and were left out, with the variable that is read instead. */
    left_out: z.array(z.string()),
  })
  .openapi('ImportedMcpServer')

/** Servers that other clients on this machine use. Nothing is written or started. */
export function mcpImportRoutes(api: Api, runtime: Runtime, { home }: Environment): void {
  const read = (text: string): z.infer<typeof server>[] => importServers(text, runtime.redact).map(toShown)
  api.openapi(
    route('admin', {
      method: 'post',
      path: '/api/mcp/import',
      summary: "What another client's configuration would be in Kogu's; writes nothing",
      request: { body: body(z.object({ text: z.string().max(200_000) })) },
      responses: { 200: json(z.array(server), 'Its servers, without their secrets') },
    }),
    context => context.json(read(context.req.valid('json').text), 200),
  )
  api.openapi(
    route('admin', {
      method: 'get',
      path: '/api/mcp/import/found',
      summary: 'Configurations of other clients on this machine that have servers',
      responses: {
        200: json(z.array(z.object({ path: z.string(), servers: z.array(server) })), 'The files'),
      },
    }),
    context => {
      const files = [...Object.values(CLIENT_FILES), ...MORE_CLIENT_FILES].map(({ path }) =>
        path.startsWith('~/') ? join(home, path.slice(2)) : join(runtime.workspace, path),
      )
      const found = files.map(path => ({ path, servers: readFile(path, read) }))
      return answer(
        context,
        found.filter(({ servers }) => servers.length > 0),
      )
    },
  )
}

const LARGEST_BYTES = 5_000_000

/** Of files that nobody asked for by name: what cannot be read has no servers. */
function readFile<T>(path: string, read: (text: string) => T[]): T[] {
  try {
    const stats = statSync(path)
    return stats.isFile() && stats.size <= LARGEST_BYTES ? read(readFileSync(path, 'utf8')) : []
  } catch {
    return []
  }
}

function toShown({ leftOut, ...rest }: ImportedServer): z.infer<typeof server> {
  return { ...rest, left_out: [...leftOut] }
}
