import { randomUUID } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ConfigError } from './config/config-error.ts'
import type { Environment } from './config/environment.ts'
import { createStateFolder } from './config/init.ts'
import type { LoadedConfig } from './config/load.ts'
import { toolSettings } from './config/schema.ts'
import type { Access } from './core/access.ts'
import { type Approver, withTimeout } from './core/approval.ts'
import type { AuditLog } from './core/audit.ts'
import { type Call, type CallResult, type CallRuntime, callTool, explainCall } from './core/call.ts'
import type { Agent, DecisionRef, Outcome, PermissionEngine } from './core/decision.ts'
import { toToolError } from './core/errors.ts'
import type { Hooks } from './core/hooks.ts'
import type { LinearPattern } from './core/linear-pattern.ts'
import type { Processes } from './core/processes.ts'
import { localProvider, PRIORITY } from './core/provider.ts'
import { isInside, realPathOf } from './core/real-path.ts'
import { createRedactor, type Redactor } from './core/redact.ts'
import { Registry } from './core/registry.ts'
import { createRun, type Run } from './core/run.ts'
import { DEFAULT_SANDBOX_LIMITS } from './core/sandbox.ts'
import type { Risk } from './core/tool.ts'
import { callTools } from './core/turn.ts'
import { checkRules } from './permissions/check-rules.ts'
import { createEngine } from './permissions/engine.ts'
import type { GrantStore } from './permissions/grants.ts'
import { compileOrdered } from './permissions/ordered-rules.ts'
import { compileRule, type Rule } from './permissions/rules.ts'
import { createBackground } from './sandbox/background.ts'
import { afterHook, beforeHook } from './sandbox/hook-command.ts'
import { overlayProblem } from './sandbox/overlay.ts'
import { recoverOverlays } from './sandbox/overlay-commit.ts'
import { createProcesses, type SandboxProcesses } from './sandbox/processes.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import { findSandboxSystem } from './sandbox/system.ts'
import { openAuditLog } from './store/audit/log.ts'
import { openGrantsFile } from './store/grants-file.ts'
import { type Places, placesFor } from './store/places.ts'
import { fileTools } from './tools/all.ts'
import { backgroundTools } from './tools/command/background-tools.ts'
import type { CommandParts } from './tools/command/parts.ts'
import { runCommandTool } from './tools/command/run-command.ts'
import { createPathLocks } from './workspace/path-locks.ts'
import { recoverWorkspace } from './workspace/recovery.ts'
import { loadRun, saveRun } from './workspace/runs.ts'
import { createScopedFs } from './workspace/scoped-fs.ts'
import { applyUndo, type UndoResult } from './workspace/undo-apply.ts'
import {
  type CallChanges,
  listCalls,
  type PlanOptions,
  planUndo,
  type UndoPlan,
  type UndoSelection,
} from './workspace/undo-plan.ts'
import { readKept, type SavedRecord } from './workspace/undo-read.ts'
import type { Change } from './workspace/undo-record.ts'
import { openUndoStore, type UndoStore } from './workspace/undo-store.ts'

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
  readonly places: Places
  readonly registry: Registry
  readonly rules: readonly Rule[]
  readonly grants: GrantStore
  readonly permissions: PermissionEngine
  call(request: CallRequest): Promise<CallResult>
  /** The calls of one turn: neighbours of low risk side by side, the others one after another. */
  callAll(requests: readonly CallRequest[]): Promise<CallResult[]>
  explain(request: Pick<CallRequest, 'tool' | 'input' | 'cwd' | 'agent'>): Promise<Explanation>
  /** Calls that changed something and can be taken back, the newest first. */
  listChanges(selection?: UndoSelection): CallChanges[]
  planUndo(selection: UndoSelection, options?: PlanOptions): Promise<UndoPlan>
  /** Does what the plan says, all of it or nothing; recorded like a call. */
  applyUndo(plan: UndoPlan, options?: { despiteConflicts?: boolean }): Promise<UndoResult & { call: string }>
  /** The bytes a file had before a change. */
  readKept(record: SavedRecord, change: Change): Uint8Array
  /** Puts a change of authority (trust, revoked grants) on record. */
  note(action: string, details: Record<string, unknown>): void
  /** Settles what a Kogu that was killed left behind, once; done by itself before the first call. One sentence each. */
  recover(): Promise<string[]>
  /** Starts or resumes a run; without an id, a new one that is forgotten when the runtime closes. */
  openRun(id?: string): Promise<Run>
  close(): Promise<void>
}

export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { root: workspace, cwd } = options.loaded.workspace
  const registry = new Registry()
  const shared = await createShared(options)
  const commands = createCommandParts(options, shared)
  const builtin = [...fileTools, runCommandTool(commands, RESTRICTED_COMMANDS), ...backgroundTools(commands)]
  if (options.loaded.config.tools.builtin.enabled) {
    await registry.add(localProvider('builtin', 'Built-in tools', PRIORITY.builtin, builtin))
  }
  const parts = createParts(options, registry, shared, commands)
  const runs = createRuns(parts.places)
  const recovered = lazyValue(() => recover(parts))

  const toCall = async (request: CallRequest): Promise<Call> => ({
    id: `call_${randomUUID()}`,
    tool: request.tool,
    input: request.input,
    caller: request.caller ?? 'library',
    run: request.run === undefined ? createRun(newRunId()) : await runs.open(request.run),
    cwd: request.cwd === undefined ? cwd : resolve(cwd, request.cwd),
    signal: request.signal ?? new AbortController().signal,
    ...(request.agent === undefined ? {} : { agent: request.agent }),
    ...(request.onProgress === undefined ? {} : { onProgress: request.onProgress }),
  })

  return {
    workspace,
    cwd,
    places: parts.places,
    registry,
    rules: parts.rules,
    grants: parts.grants,
    permissions: parts.calls.permissions,
    openRun: runs.open,
    async call(request) {
      await recovered()
      const call = await toCall(request)
      try {
        return await callTool(parts.calls, call)
      } finally {
        if (request.run === undefined) endRun(parts.places, call.run.id)
      }
    },
    async callAll(requests) {
      await recovered()
      return callTools(parts.calls, await Promise.all(requests.map(toCall)))
    },
    recover: recovered,
    note: (action, details) => parts.calls.audit.record({ type: 'note', action, details }),
    async explain(request) {
      const { entry, judgement } = await explainCall(parts.calls, await toCall(request))
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
    listChanges: selection => listCalls(parts.undo.value, selection),
    planUndo: (selection, planOptions) => planUndo(parts.undo.value, selection, planOptions),
    readKept: (record, { before }) => readKept(parts.undo.value.places, record, before?.sha256 ?? ''),
    async applyUndo(plan, undoOptions) {
      await recovered()
      return undoRecorded(parts, workspace, plan, undoOptions)
    },
    async close() {
      await runs.save()
      for (const id of runs.anonymous())
        rmSync(join(parts.places.temporary, id), { recursive: true, force: true })
      await parts.close()
    },
  }
}

/** First the layers of commands, then the records of changes: a finished layer completes the record of its call. */
async function recover({ places, calls, undo }: Parts): Promise<string[]> {
  const sentences: string[] = []
  if (existsSync(places.overlays)) {
    for (const { outcome } of await recoverOverlays(places.overlays)) {
      sentences.push(
        outcome === 'finished'
          ? 'A command was interrupted while its changes were brought over: all of them are in the workspace now.'
          : 'A command was interrupted before its changes were brought over: none of them are in the workspace.',
      )
    }
  }
  if (existsSync(places.undo)) {
    const { completed, problems } = await recoverWorkspace(undo.value, places.locks)
    if (completed > 0) sentences.push(`${completed} interrupted calls had changed files; they can be undone.`)
    sentences.push(...problems)
  }
  if (sentences.length > 0) calls.audit.record({ type: 'note', action: 'recovered', details: { sentences } })
  return sentences
}

/** An undo changes files, so it is on record before and after, and can itself be undone. */
async function undoRecorded(
  parts: Parts,
  workspace: string,
  plan: UndoPlan,
  options: { despiteConflicts?: boolean } = {},
): Promise<UndoResult & { call: string }> {
  const call = `undo_${randomUUID()}`
  const calls = plan.calls.map(each => each.call)
  const note = (action: string, details: Record<string, unknown>): void =>
    parts.calls.audit.record({ type: 'note', action, details: { call, calls, ...details } })
  note('undo-started', {})
  try {
    const result = await applyUndo(parts.undo.value, plan, {
      call: { id: call, run: call, tool: 'undo' },
      mayChange: path => isInside(path, workspace),
      ...options,
    })
    note('undo-finished', { ok: true, effects: result.effects })
    return { ...result, call }
  } catch (error) {
    note('undo-finished', { ok: false, error: toToolError(error).message })
    throw error
  }
}

interface Parts {
  readonly calls: CallRuntime
  readonly places: Places
  readonly rules: readonly Rule[]
  readonly grants: GrantStore
  readonly undo: { readonly value: UndoStore }
  close(): Promise<void>
}

/** What a call in the restricted profile may start, and nothing else. */
const RESTRICTED_COMMANDS = ['ls', 'cat', 'head', 'wc', 'find', 'grep', 'tree']

interface Shared {
  readonly places: Places
  readonly redactor: Redactor
  readonly processes: SandboxProcesses
  readonly undo: { readonly value: UndoStore; isMade(): boolean }
}

/** What several parts use. What touches the disk or starts a process does so when it is first used. */
async function createShared({ loaded, environment }: RuntimeOptions): Promise<Shared> {
  const { config, workspace } = loaded
  const places = placesFor(workspace.root, environment.directories.state)
  const undo = lazy(() =>
    openUndoStore({
      directory: prepareState(places, workspace.root, places.undo),
      budgetBytes: config.undo.budget,
      largeFileBytes: config.undo.max_file_size,
    }),
  )
  const redactor = createRedactor({
    values: environment.secrets,
    patterns: await compilePatterns(config.redaction.patterns),
  })
  return { places, redactor, processes: createProcesses(), undo }
}

async function compilePatterns(patterns: readonly string[]): Promise<LinearPattern[]> {
  if (patterns.length === 0) return []
  const { compileLinear } = await import('./core/linear-pattern.ts')
  return patterns.map(compileLinear)
}

function createCommandParts({ loaded, environment }: RuntimeOptions, shared: Shared): CommandParts {
  const { config, workspace } = loaded
  const { places, processes } = shared
  const system = findSandboxSystem()
  const sandbox = typeof system === 'string' ? null : createSandbox({ processes, system })
  const allowed = new Set(config.sandbox.env)
  const variables = Object.entries(environment.variables).filter(([name]) => allowed.has(name))
  return {
    workspace: workspace.root,
    home: environment.home,
    processes,
    sandbox,
    noSandboxReason: typeof system === 'string' ? system : '',
    sandboxRequired: config.sandbox.required,
    overlayProblem: () =>
      places.inWorkspace ? overlayProblem(workspace.root) : 'the workspace cannot be written.',
    undo: () => shared.undo.value,
    background: lazyValue(() => createBackground(prepareState(places, workspace.root, places.background))),
    places: {
      overlays: places.overlays,
      output: places.output,
      temporary: places.temporary,
      own: [
        places.audit,
        places.undo,
        places.runs,
        places.locks,
        places.overlays,
        places.background,
        places.output,
      ],
    },
    variables: Object.fromEntries(variables),
    path: environment.path,
    caches: config.sandbox.writable_caches
      .map(folder => folder.replace(/^~(?=\/)/, environment.home))
      .filter(existsSync),
    limits: {
      ...DEFAULT_SANDBOX_LIMITS,
      memoryBytes: config.sandbox.memory,
      processes: config.sandbox.processes,
      cpuSeconds: Math.ceil(config.sandbox.cpu / 1000),
      fileBytes: config.sandbox.file_size,
    },
    redact: shared.redactor.text,
  }
}

/** Everything a call works with. */
function createParts(
  { loaded, environment, approver }: RuntimeOptions,
  registry: Registry,
  { places, redactor, processes, undo }: Shared,
  commands: CommandParts,
): Parts {
  const { config, workspace } = loaded
  const audit = openAuditLog({
    directory: places.audit,
    anchorDirectory: places.anchors,
    redact: redactor,
    segmentBytes: config.audit.segment_size,
    ...(config.audit.sync === 'always' ? { syncMs: 0 } : {}),
  })
  const locks = lazy(() => createPathLocks(prepareState(places, workspace.root, places.locks)))
  const rules = compileRules(loaded, registry, realPathOf(environment.home))
  const grants = openGrantsFile(places.grants)
  const disabled = disabledTools(loaded, registry)
  const permissions = createEngine({
    workspace: workspace.root,
    home: realPathOf(environment.home),
    mode: config.mode,
    fallback: config.permissions.default,
    rules,
    grants,
    canHide: commands.sandbox !== null,
    rememberMs: config.permissions.remember_max,
    now: Date.now,
  })
  const recordAudit: AuditLog['record'] = event => {
    prepareState(places, workspace.root, places.audit)
    audit.record(event)
  }
  return {
    places,
    rules,
    grants,
    undo,
    calls: {
      workspace: workspace.root,
      registry,
      permissions,
      approver: withTimeout(approver, config.permissions.approval_timeout),
      hooks: createHooks(loaded, environment, processes),
      audit: { record: recordAudit, flush: () => audit.flush(), close: () => audit.close() },
      processes,
      isEnabled: name => !disabled.has(name),
      openFiles: (call, permit, tool) =>
        createScopedFs({
          cwd: call.cwd,
          permit,
          call: { id: call.id, run: call.run.id, tool },
          receipts: call.run.receipts,
          undo: undo.value,
          locks: locks.value,
          signal: call.signal,
        }),
      redactText: redactor.text,
    },
    async close() {
      if (undo.isMade()) await undo.value.close()
      commands.sandbox?.close()
      await processes.close()
      await audit.close()
    },
  }
}

/** Tools that the configuration switches off, under any of their names. */
function disabledTools({ config }: LoadedConfig, registry: Registry): Set<string> {
  const off = registry
    .list()
    .map(entry => entry.tool)
    .filter(({ name, aliases }) =>
      [name, ...aliases].some(each => toolSettings(config, each).enabled === false),
    )
  return new Set(off.map(tool => tool.name))
}

/** The person's own programs: they run outside the sandbox, with the person's environment. */
function createHooks(
  { config, workspace }: LoadedConfig,
  environment: Environment,
  processes: Processes,
): Hooks {
  const context = { processes, cwd: workspace.root, env: environment.variables }
  const commands = config.hooks.map(hook => ({ ...hook, timeoutMs: hook.timeout }))
  return {
    before: commands.filter(hook => hook.event === 'pre_tool_call').map(hook => beforeHook(hook, context)),
    after: commands.filter(hook => hook.event === 'post_tool_call').map(hook => afterHook(hook, context)),
  }
}

/** Rules of all files, with their examples checked: a rule that does not do what its author says stops everything. */
function compileRules(loaded: LoadedConfig, registry: Registry, home: string): Rule[] {
  const { permissions } = loaded.config
  const context = { home, workspace: loaded.workspace.root }
  const canonical = (name: string): string => registry.candidates(name)[0]?.tool.name ?? name.toLowerCase()
  const rules = permissions.rules.map((rule, index) => compileRule(rule, index, context, canonical))
  const problem = checkRules(rules, context)[0]
  if (problem !== undefined) {
    const { file, line } = problem.rule.definition.origin
    throw new ConfigError(`Rule '${problem.rule.id}': ${problem.message}`, {
      file,
      position: line === undefined ? undefined : { line, column: 1 },
    })
  }
  return [...rules, ...permissions.ordered.flatMap(list => compileOrdered(list, context, canonical))]
}

/** Makes `.kogu` with its `.gitignore` before the first thing is written into it. */
function prepareState(places: Places, workspace: string, folder: string): string {
  if (places.inWorkspace && !existsSync(places.state)) createStateFolder(workspace)
  return folder
}

function newRunId(): string {
  return `run_${randomUUID()}`
}

/** Takes away the private /tmp of a run that nobody can continue. */
function endRun(places: Places, id: string): void {
  rmSync(join(places.temporary, id), { recursive: true, force: true })
}

function createRuns(places: Places) {
  const named = new Map<string, Run>()
  const anonymous = new Map<string, Run>()
  return {
    async open(id?: string): Promise<Run> {
      if (id === undefined) {
        const run = createRun(newRunId())
        anonymous.set(run.id, run)
        return run
      }
      const known = named.get(id) ?? anonymous.get(id)
      if (known !== undefined) return known
      const run = await loadRun(places.runs, id)
      named.set(id, run)
      return run
    },
    /** Runs that end with this process. */
    anonymous: (): string[] => [...anonymous.keys()],
    async save(): Promise<void> {
      for (const run of named.values()) await saveRun(places.runs, run)
    },
  }
}

function lazyValue<T>(make: () => T): () => T {
  const made = lazy(make)
  return () => made.value
}

function lazy<T>(make: () => T): { readonly value: T; isMade(): boolean } {
  let made: { value: T } | undefined
  return {
    get value() {
      made ??= { value: make() }
      return made.value
    },
    isMade: () => made !== undefined,
  }
}
