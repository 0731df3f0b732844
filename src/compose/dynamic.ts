import { randomUUID } from 'node:crypto'
import type { Environment } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import { narrow } from '../core/authority.ts'
import { type CallRuntime, callTool } from '../core/call.ts'
import { localProvider, PRIORITY } from '../core/provider.ts'
import { Registry } from '../core/registry.ts'
import { createRun, type Run } from '../core/run.ts'
import { chooseCatalogue } from '../dynamic/catalogue/catalogue.ts'
import { innerRunId } from '../dynamic/host.ts'
import type { DynamicParts, InnerCall, PastCall } from '../dynamic/parts.ts'
import { dynamicProvider } from '../dynamic/provider.ts'
import type { DynamicStore } from '../dynamic/store.ts'
import { scriptFolders, scriptMachine } from '../providers/script/script-folders.ts'
import { createIsolates, type Isolates } from '../sandbox/isolate/isolates.ts'
import { findUsableSystem } from '../sandbox/walls/detect-usable.ts'
import { openDynamicTools } from '../store/dynamic-tools.ts'
import type { Places } from '../store/places.ts'
import type { WebParts } from '../tools/web/web-fetch.ts'

// Puts the dynamic tools together. What they need of a call's own parts (registry, permissions, audit) exists only after
// them, so it is asked for when it is used.

export interface DynamicOptions {
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly places: Places
  readonly web: Pick<WebParts, 'client'>
  /** Makes the state folder before the first file is written. */
  prepare(): void
  calls(): CallRuntime | undefined
}

export interface ComposedDynamic {
  readonly parts: DynamicParts
  close(): void
}

/** Undefined when the configuration leaves them out. */
export async function addDynamicTools(
  registry: Registry,
  options: DynamicOptions,
): Promise<ComposedDynamic | undefined> {
  if (!options.loaded.config.tools.dynamic.enabled) return undefined
  const dynamic = composeDynamic(options)
  await registry.add(dynamicProvider(dynamic.parts))
  return dynamic
}

function composeDynamic(options: DynamicOptions): ComposedDynamic {
  const { loaded, environment, places, prepare } = options
  const calls = (): CallRuntime => {
    const runtime = options.calls()
    if (runtime === undefined) throw new Error('A dynamic tool is called before all parts are there.')
    return runtime
  }
  const settings = loaded.config.tools.dynamic
  const memoryMb = Math.max(8, Math.round(settings.memory / 1_000_000))
  const made: { store?: DynamicStore; isolates?: Isolates; system?: ReturnType<typeof findUsableSystem> } = {}
  const system = () => {
    made.system ??= findUsableSystem()
    return made.system
  }
  const parts: DynamicParts = {
    texts: chooseCatalogue(loaded.config.language, environment.locale),
    settings: {
      maxTools: settings.max_tools,
      timeoutMs: Math.min(60_000, settings.timeout),
      memoryMb,
      strict: settings.strict,
      failures: settings.failures,
    },
    get store() {
      made.store ??= openDynamicTools({
        project: places.tools,
        user: places.userTools,
        ledger: places.toolLedger,
        prepare,
      })
      return made.store
    },
    isolates() {
      const found = system()
      made.isolates ??= createIsolates(typeof found === 'string' ? undefined : found, memoryMb)
      return made.isolates
    },
    missingWall() {
      const found = system()
      return typeof found === 'string' ? found : null
    },
    note(action, details) {
      try {
        const id = `audit_${Date.now().toString(36)}_${randomUUID().slice(0, 8)}`
        calls().audit.record({ type: 'note', action, details: { id, ...details } })
      } catch {
        // The call that it belongs to is recorded apart, and does not run when it cannot be.
      }
    },
    call: createInnerCalls(calls, options.web),
    takenNames: async () => [...calls().registry.names(), ...(await keptNames(calls().registry, options))],
    history: run => readHistory(places.audit, run),
    now: () => new Date(),
  }
  return { parts, close: () => made.isolates?.close() }
}

/** Names that no tool answers to now, but may soon: a model must not be there first. */
async function keptNames(
  registry: Registry,
  { loaded: { config, workspace }, environment, places }: DynamicOptions,
): Promise<string[]> {
  const { findScripts } = await import('../providers/script/find-scripts.ts')
  const { SUB_AGENT_TOOLS } = await import('../agents/sub-agent-tools.ts')
  const { mcp, tools } = config
  const machine = scriptMachine(workspace.root, environment)
  const folders = scriptFolders(places.state, workspace.root, tools.scripts.folders)
  return [
    // Tools that only agents' runs have, and a word of rules.
    ...[...SUB_AGENT_TOOLS, 'http'],
    // `mcp:hub`
    ...registry.statistics().flatMap(({ id }) => id.split(':')),
    ...[...Object.keys(mcp), ...tools.mcp.servers.map(({ name }) => name)],
    ...[...Object.keys(tools.cli.aliases), ...Object.keys(tools.custom)],
    ...folders.flatMap(folder => findScripts(folder, machine).scripts.map(({ name }) => name)),
  ]
}

/** Calls of code: in a run below the caller's, whose authority is the caller's, narrowed to what the tool declared. */
function createInnerCalls(calls: () => CallRuntime, web: Pick<WebParts, 'client'>): DynamicParts['call'] {
  const own = { low: ownRegistry(web, 'low'), high: ownRegistry(web, 'high') }
  return async (request: InnerCall) => {
    const runtime = calls()
    const registry =
      request.kind === 'tool' ? runtime.registry : await own[request.isDeclared ? 'low' : 'high']()
    const runOf = (id: string): Run =>
      createRun(innerRunId(id), {
        authority: narrow(request.run.authority, { tools: request.tools }),
        approver: request.approver,
        parent: request.run,
      })
    const { tool, input, cwd, signal, make } = request
    const call = { tool, input, caller: 'dynamic', cwd, signal }
    if (make !== undefined) return await make({ ...call, registry, run: runOf })
    const id = `call_${randomUUID()}`
    return await callTool({ ...runtime, registry }, { ...call, id, run: runOf(id) })
  }
}

function ownRegistry(web: Pick<WebParts, 'client'>, risk: 'low' | 'high'): () => Promise<Registry> {
  let made: Promise<Registry> | undefined
  const make = async (): Promise<Registry> => {
    const { ownTools } = await import('../dynamic/own-tools.ts')
    const registry = new Registry()
    await registry.add(
      localProvider(
        'dynamic',
        'Code of dynamic tools',
        PRIORITY.dynamic,
        ownTools(() => web.client(), risk),
      ),
    )
    return registry
  }
  return () => {
    made ??= make()
    return made
  }
}

const MOST_HISTORY = 200

async function readHistory(directory: string, run: string): Promise<PastCall[]> {
  const { readCalls } = await import('../store/audit/calls.ts')
  const found: PastCall[] = []
  for await (const { started, finished } of readCalls({ directory, run }))
    found.push({ tool: finished.tool, input: started.input, ok: finished.ok })
  return found.slice(-MOST_HISTORY)
}
