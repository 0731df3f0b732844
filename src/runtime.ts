import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { Environment } from './config/environment.ts'
import type { LoadedConfig } from './config/load.ts'
import { toolSettings } from './config/schema.ts'
import type { Access } from './core/access.ts'
import type { Approver } from './core/approval.ts'
import { type Call, type CallResult, type CallRuntime, callTool, explainCall } from './core/call.ts'
import type { Agent, DecisionRef, Outcome } from './core/decision.ts'
import { ToolError } from './core/errors.ts'
import { localProvider, PRIORITY } from './core/provider.ts'
import { createRedactor } from './core/redact.ts'
import { type ProviderStatistics, Registry } from './core/registry.ts'
import { createRun, type Run } from './core/run.ts'
import type { Risk } from './core/tool.ts'
import { callTools } from './core/turn.ts'
import { checkRules } from './permissions/check-rules.ts'
import { createEngine } from './permissions/engine.ts'
import { compileOrdered } from './permissions/ordered-rules.ts'
import { compileRule, type Rule } from './permissions/rules.ts'
import { createProcesses } from './sandbox/processes.ts'
import { openAuditLog } from './store/audit/log.ts'
import { openGrantsFile } from './store/grants-file.ts'
import { placesFor } from './store/places.ts'
import { fileTools } from './tools/all.ts'
import { createPathLocks } from './workspace/path-locks.ts'
import { loadRun, saveRun } from './workspace/runs.ts'
import { createScopedFs } from './workspace/scoped-fs.ts'
import { openUndoStore } from './workspace/undo-store.ts'

// The composition root: configuration in, runtime out. The only file that knows all parts.

export interface RuntimeOptions {
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly approver: Approver
}

export interface CallRequest {
  readonly tool: string
  readonly input: unknown
  readonly cwd?: string
  /** Calls of one run share what was read; absent: a run of its own. */
  readonly run?: string
  readonly agent?: Agent
  /** Which door it came through. */
  readonly caller?: string
  readonly signal?: AbortSignal
  readonly onProgress?: (text: string) => void
}

export interface Explanation {
  readonly tool: string
  readonly canonical: string
  readonly decision: Outcome
  readonly hard: boolean
  readonly risk: Risk
  readonly access: readonly Access[]
  readonly reasons: readonly string[]
  readonly ref: DecisionRef | null
}

export interface Runtime {
  readonly workspace: string
  readonly cwd: string
  readonly registry: Registry
  call(request: CallRequest): Promise<CallResult>
  /** The calls of one turn: neighbours of low risk side by side, the others one after another. */
  callAll(requests: readonly CallRequest[]): Promise<CallResult[]>
  explain(request: Pick<CallRequest, 'tool' | 'input' | 'cwd' | 'agent'>): Promise<Explanation>
  /** Starts or resumes a run; without an id, a new one that is forgotten when the runtime closes. */
  openRun(id?: string): Promise<Run>
  providerStatistics(): Promise<ProviderStatistics[]>
  close(): Promise<void>
}

export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { loaded, environment } = options
  const { root: workspace, cwd } = loaded.workspace
  const registry = new Registry()
  await registry.add(localProvider('builtin', 'Built-in tools', PRIORITY.builtin, fileTools))
  const parts = createParts(options, registry)
  const runs = new Map<string, Run>()

  const openRun = async (id?: string): Promise<Run> => {
    if (id === undefined) return createRun(`run_${randomUUID()}`)
    const known = runs.get(id)
    if (known !== undefined) return known
    const run = await loadRun(parts.places.runs, id)
    runs.set(id, run)
    return run
  }
  const toCall = async (request: CallRequest): Promise<Call> => ({
    id: `call_${randomUUID()}`,
    tool: request.tool,
    input: request.input,
    caller: request.caller ?? 'library',
    run: await openRun(request.run),
    cwd: request.cwd === undefined ? cwd : resolve(cwd, request.cwd),
    signal: request.signal ?? new AbortController().signal,
    ...(request.agent === undefined ? {} : { agent: request.agent }),
    ...(request.onProgress === undefined ? {} : { onProgress: request.onProgress }),
  })

  return {
    workspace,
    cwd,
    registry,
    openRun,
    call: async request => callTool(parts.runtime, await toCall(request)),
    callAll: async requests => callTools(parts.runtime, await Promise.all(requests.map(toCall))),
    async explain(request) {
      const { entry, judgement } = await explainCall(parts.runtime, await toCall(request))
      return {
        tool: request.tool,
        canonical: entry.tool.name,
        decision: judgement.decision.outcome,
        hard: judgement.hard,
        risk: judgement.risk,
        access: judgement.access,
        reasons: judgement.reasons,
        ref: judgement.decision.ref,
      }
    },
    providerStatistics: async () => registry.statistics(),
    async close() {
      for (const run of runs.values()) await saveRun(parts.places.runs, run)
      await parts.close()
      if (environment.insideCall === undefined) await parts.runtime.audit.close()
    },
  }
}
