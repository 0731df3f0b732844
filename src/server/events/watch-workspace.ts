import { randomUUID } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkspaceEvent } from '../../agents/events.ts'
import type { LoadedConfig } from '../../config/load.ts'
import type { Runtime } from '../../runtime.ts'
import type { Database } from '../../store/database/database.ts'
import { insertWorkspaceEvents } from '../../store/tables/run-events.ts'
import type { RunPlace } from '../../store/tables/run-place.ts'
import { lookRegularly, type RegularLook } from './look-regularly.ts'

/** Tells listeners of changes that nobody calls a route for: tools, MCP servers, files of the configuration. */
export function startWorkspaceWatch({
  runtime,
  loaded,
  database,
  place,
}: {
  readonly runtime: Runtime
  readonly loaded: LoadedConfig
  readonly database: Database
  readonly place: RunPlace
}): RegularLook {
  const state = { toolsChanged: false, known: undefined as Snapshot | undefined }
  const stopListening = runtime.registry.onChange(() => {
    state.toolsChanged = true
  })
  const look = async (): Promise<void> => {
    const now = await takeSnapshot(runtime, loaded)
    const before = state.known ?? now
    const events: WorkspaceEvent[] = [
      ...(state.toolsChanged ? [{ type: 'tool.changed' as const }] : []),
      ...compare(before, now),
    ]
    state.toolsChanged = false
    state.known = now
    const at = new Date().toISOString()
    await insertWorkspaceEvents(
      database,
      place,
      events.map(event => ({ id: randomUUID(), at, event })),
    )
  }
  const looking = lookRegularly(look)
  return {
    ...looking,
    close() {
      stopListening()
      return looking.close()
    },
  }
}

type ServerStatus = Extract<WorkspaceEvent, { type: 'mcp.status' }>

interface Snapshot {
  readonly servers: ReadonlyMap<string, ServerStatus>
  readonly config: ReadonlyMap<string, string>
  readonly panels: ReadonlyMap<string, string>
  readonly pipelines: ReadonlyMap<string, string>
}

async function takeSnapshot(
  { mcp, registry, workspace }: Runtime,
  { files }: LoadedConfig,
): Promise<Snapshot> {
  const admin = await mcp()
  const up = new Set(
    registry
      .statistics()
      .filter(({ available }) => available)
      .map(({ id }) => id),
  )
  const servers = admin.servers.map((server): [string, ServerStatus] => [
    server.name,
    {
      type: 'mcp.status',
      server: server.name,
      trust: admin.status(server),
      available: up.has(`mcp:${server.name}`),
      held: Object.keys(admin.record(server)?.held ?? {}).length,
    },
  ])
  return {
    servers: new Map(servers),
    config: new Map(files.map(({ path }) => [path, signatureOf(path)])),
    panels: signaturesIn(join(workspace, '.kogu/panels')),
    pipelines: signaturesIn(join(workspace, '.kogu/pipelines')),
  }
}

function compare(before: Snapshot, now: Snapshot): WorkspaceEvent[] {
  const servers = [...now.servers.values()].filter(
    status => JSON.stringify(status) !== JSON.stringify(before.servers.get(status.server)),
  )
  const files = differences(before.config, now.config)
  return [
    ...servers,
    ...(files.length === 0 ? [] : [{ type: 'config.changed' as const, files }]),
    ...differences(before.panels, now.panels).map(name => ({ type: 'panel.changed' as const, name })),
    ...differences(before.pipelines, now.pipelines).map(name => ({
      type: 'pipeline.changed' as const,
      name,
    })),
  ]
}

function differences(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  const names = new Set([...before.keys(), ...now.keys()])
  return [...names].filter(name => before.get(name) !== now.get(name))
}

function signaturesIn(folder: string): Map<string, string> {
  try {
    const names = readdirSync(folder).filter(name => /^[\w-]+\.toml$/.test(name))
    return new Map(names.map(name => [name.slice(0, -'.toml'.length), signatureOf(join(folder, name))]))
  } catch {
    // There is no such folder.
    return new Map()
  }
}

/** Differs when somebody has written the file. */
export function signatureOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino}:${stats.size}:${stats.mtimeMs}`
}
