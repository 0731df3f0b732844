import { isAbsolute, normalize } from 'node:path'
import type { Environment } from '../config/environment.ts'
import { createStateFolder } from '../config/init.ts'
import type { LoadedConfig } from '../config/load.ts'
import { unreadKeys } from '../config/unread-keys.ts'
import type { Approver } from '../core/approval.ts'
import type { AuditLog } from '../core/audit.ts'
import type { CallRuntime } from '../core/call.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { createSecretFinder } from '../core/known-secrets.ts'
import type { LinearPattern } from '../core/linear-pattern.ts'
import { localProvider, PRIORITY } from '../core/provider.ts'
import { isInside, realPathOf } from '../core/real-path.ts'
import { createRedactor, type Redactor } from '../core/redact.ts'
import { Registry } from '../core/registry.ts'
import type { Reviewer } from '../core/review.ts'
import { DEFAULT_SANDBOX_LIMITS } from '../core/sandbox.ts'
import { createSeal } from '../core/seal.ts'
import type { DynamicParts } from '../dynamic/parts.ts'
import { createEngine } from '../permissions/engine.ts'
import type { GrantStore } from '../permissions/grants.ts'
import type { McpAdmin } from '../providers/mcp/admin.ts'
import type { ReviewBoard } from '../review/board.ts'
import { createBackground } from '../sandbox/background/background.ts'
import { overlayProblem } from '../sandbox/layer/overlay.ts'
import { createProcesses, type SandboxProcesses } from '../sandbox/processes/processes.ts'
import { findUsableSystem } from '../sandbox/walls/detect-usable.ts'
import { socketFolders } from '../sandbox/walls/host-sockets.ts'
import { createSandbox, type Sandbox } from '../sandbox/walls/sandbox.ts'
import { digestWith } from '../store/audit/input-digest.ts'
import { openAuditLog } from '../store/audit/log.ts'
import { openGrantsFile } from '../store/grants-file.ts'
import { openJournalsFolder } from '../store/journals-folder.ts'
import { markState } from '../store/own-state.ts'
import { type Places, placesFor } from '../store/places.ts'
import { openQuestionsFolder } from '../store/questions-folder.ts'
import { containmentHere } from '../tools/command/containment.ts'
import type { CommandParts } from '../tools/command/parts.ts'
import { openToolProcesses } from '../tools/command/tool-processes.ts'
import type { WebClientOptions } from '../tools/web/web-client.ts'
import { createWebParts } from '../tools/web/web-parts.ts'
import { createPathLocks, type PathLocks } from '../workspace/files/path-locks.ts'
import { createScopedFs } from '../workspace/files/scoped-fs.ts'
import { openUndoStore, type UndoStore } from '../workspace/undo/undo-store.ts'
import { builtinTools } from './builtin.ts'
import { addDynamicTools } from './dynamic.ts'
import { createPolicy, type Policy } from './policy.ts'
import { addConfiguredProviders, isProviderOn } from './providers.ts'
import { createReview, type Review } from './review.ts'

// Puts the parts together: configuration in, everything a call works with out. With runtime.ts, the only file that
// knows all parts.

export interface RuntimeOptions {
  readonly loaded: LoadedConfig
  readonly environment: Environment
  /** Answers for runs that bring no approver of their own. */
  readonly approver: Approver
  /** See every call of high risk that was allowed, and can only refuse. */
  readonly reviewers?: readonly Reviewer[]
  /** Dates and measures everything. Defaults to the system's. */
  readonly clock?: Clock
  /** Where state is kept. Defaults to the workspace's own places. */
  readonly places?: Places
  /** How the web is reached. Defaults to the internet; tests put a loopback server in its place. */
  readonly web?: WebClientOptions
}

export interface Parts {
  readonly calls: CallRuntime
  /** What counts now. */
  readonly policy: { readonly current: Policy }
  /** Lets another configuration say what may happen. One that cannot be used throws, and the old one stays. */
  replacePolicy(loaded: LoadedConfig): Promise<void>
  /** Reviewers of plans and outcomes; undefined when the configuration names no reviewer. */
  readonly board: ReviewBoard | undefined
  /** The quorum before the person, where it may answer. */
  answerFirst(person: Approver): Approver
  onReviewSpent: Review['onSpent']
  readonly places: Places
  readonly grants: GrantStore
  readonly undo: { readonly value: UndoStore }
  /** What a person does with MCP servers. */
  mcp(): Promise<McpAdmin>
  /** Undefined when the configuration leaves dynamic tools out. */
  readonly dynamic?: DynamicParts | undefined
  close(): Promise<void>
}

/** All parts, with the builtin tools registered. */
export async function compose(options: RuntimeOptions): Promise<{ registry: Registry; parts: Parts }> {
  const [unread] = unreadKeys(options.loaded)
  if (unread !== undefined) throw unread
  const registry = new Registry()
  const shared = await createShared(options)
  const commands = createCommandParts(options, shared)
  const web = createWebParts(options.web)
  const made: { parts?: Parts } = {}
  const { config } = options.loaded
  if (config.tools.builtin.enabled && isProviderOn(config, 'builtin')) {
    const builtin = builtinTools({
      ...shared,
      registry,
      web,
      commands,
      config,
      variables: options.environment.variables,
    })
    await registry.add(localProvider('builtin', 'Built-in tools', PRIORITY.builtin, builtin))
  }
  await addConfiguredProviders(registry, options, shared)
  const dynamic = await addDynamicTools(registry, {
    ...options,
    places: shared.places,
    web,
    prepare: () => void prepareState(shared.places, options.loaded.workspace.root, shared.places.tools),
    calls: () => made.parts?.calls,
  })
  const parts = await createParts(options, registry, shared, commands, () => made.parts?.calls)
  const mcp = lazyValue(async () => {
    const { addMcpServers } = await import('./mcp.ts')
    return addMcpServers(registry, { ...options, commands, calls: () => made.parts?.calls })
  })
  made.parts = {
    ...parts,
    dynamic: dynamic?.parts,
    mcp,
    async close() {
      dynamic?.close()
      await parts.close()
    },
  }
  if (Object.keys(config.mcp).length + config.tools.mcp.servers.length > 0) await mcp()
  return { registry, parts: made.parts }
}

interface Shared {
  readonly places: Places
  readonly redactor: Redactor
  readonly processes: SandboxProcesses
  readonly undo: { readonly value: UndoStore; isMade(): boolean }
  readonly locks: { readonly value: PathLocks; isMade(): boolean }
  /** A sentence: why there is none. */
  readonly sandbox: { readonly value: Sandbox | string; isMade(): boolean }
}

/** What several parts use. What touches the disk or starts a process does so when it is first used. */
async function createShared(options: RuntimeOptions): Promise<Shared> {
  const { loaded, environment, clock = systemClock } = options
  const { config, workspace } = loaded
  const places = options.places ?? placesFor(workspace.root, environment.directories.state)
  const undo = lazy(() =>
    openUndoStore({
      directory: prepareState(places, workspace.root, places.undo),
      budgetBytes: config.undo.budget,
      largeFileBytes: config.undo.max_file_size,
      now: clock.now,
    }),
  )
  const redactor = createRedactor({
    values: environment.secrets,
    patterns: await compilePatterns(config.redaction.patterns),
  })
  const processes = createProcesses()
  const sandbox = lazy(() => {
    const system = findUsableSystem()
    return typeof system === 'string' ? system : createSandbox({ processes, system })
  })
  const locks = lazy(() => createPathLocks(prepareState(places, workspace.root, places.locks)))
  return { places, redactor, processes, undo, sandbox, locks }
}

async function compilePatterns(patterns: readonly string[]): Promise<LinearPattern[]> {
  if (patterns.length === 0) return []
  const { compileLinear } = await import('../core/linear-pattern.ts')
  return patterns.map(compileLinear)
}

function createCommandParts({ loaded, environment }: RuntimeOptions, shared: Shared): CommandParts {
  const { config, workspace } = loaded
  const { places, processes } = shared
  const allowed = new Set(config.sandbox.env)
  const variables = Object.entries(environment.variables).filter(([name]) => allowed.has(name))
  return {
    workspace: workspace.root,
    home: environment.home,
    processes,
    get sandbox() {
      const { value } = shared.sandbox
      return typeof value === 'string' ? null : value
    },
    get noSandboxReason() {
      const { value } = shared.sandbox
      return typeof value === 'string' ? value : ''
    },
    sandboxRequired: config.sandbox.required,
    overlayProblem: () =>
      places.hasLayers
        ? overlayProblem(workspace.root)
        : "its '.kogu' cannot be written, or has links in it.",
    undo: () => shared.undo.value,
    locks: () => shared.locks.value,
    background: lazyValue(() => createBackground(prepareState(places, workspace.root, places.background))),
    places: {
      overlays: places.overlays,
      output: places.output,
      temporary: places.temporary,
      caches: places.caches,
      own: [
        places.audit,
        places.undo,
        places.runs,
        places.approvals,
        places.locks,
        places.overlays,
        places.background,
        places.output,
        places.caches,
        // Of all workspaces: what others did, what the person allowed, and the database of agents' runs.
        ...[environment.directories.state, environment.directories.data].filter(
          folder => !isInside(workspace.root, realPathOf(folder)),
        ),
      ],
    },
    variables: Object.fromEntries(variables),
    path: environment.path,
    caches: config.sandbox.writable_caches
      .map(folder => folder.replace(/^~(?=\/)/, environment.home))
      .filter(folder => isAbsolute(folder) && normalize(folder) !== '/'),
    backgroundWrite: config.sandbox.background_write,
    buildOutput: config.sandbox.build_output,
    socketFolders: socketFolders(environment.home, environment.variables.XDG_RUNTIME_DIR, workspace.root),
    limits: {
      ...DEFAULT_SANDBOX_LIMITS,
      memoryBytes: config.sandbox.memory,
      processes: config.sandbox.processes,
      cpuSeconds: Math.ceil(config.sandbox.cpu / 1000),
      fileBytes: config.sandbox.file_size,
    },
    outputBytes: config.tools.run_command.max_output,
    redact: shared.redactor.text,
  }
}

/** Everything a call works with. */
async function createParts(
  { loaded, environment, reviewers = [], clock = systemClock }: RuntimeOptions,
  registry: Registry,
  { places, redactor, processes, undo, sandbox, locks }: Shared,
  commands: CommandParts,
  calls: () => CallRuntime | undefined,
): Promise<Omit<Parts, 'mcp'>> {
  const { config, workspace } = loaded
  const audit = openAuditLog({
    directory: places.audit,
    anchorDirectory: places.anchors,
    redact: redactor.perToken,
    segmentBytes: config.audit.segment_size,
    now: clock.now,
    ...(config.audit.sync === 'always' ? { syncMs: 0 } : {}),
  })
  const policy = { current: await createPolicy(loaded, { registry, environment, processes }) }
  const grants = openGrantsFile(places.grants)
  const permissions = createEngine({
    workspace: workspace.root,
    home: realPathOf(environment.home),
    state: realPathOf(environment.directories.state),
    get fallback() {
      return policy.current.fallback
    },
    get rules() {
      return policy.current.rules
    },
    get network() {
      return policy.current.network
    },
    get ownHosts() {
      return policy.current.ownHosts ?? []
    },
    get rememberMs() {
      return policy.current.rememberMs
    },
    grants,
    noSandbox: () =>
      typeof sandbox.value === 'string' ? { reason: sandbox.value, required: config.sandbox.required } : null,
    containment: () => containmentHere(policy.current.commands, commands),
    findSecret: createSecretFinder(environment.secrets),
    now: clock.now,
  })
  const prepared = lazyValue(() => prepareState(places, workspace.root, places.audit))
  const seal = createSeal(places.sealKey)
  const recordAudit: AuditLog['record'] = event => {
    prepared()
    audit.record(event)
  }
  const review = await createReview(loaded, environment, { processes, record: recordAudit, calls })
  return {
    policy,
    async replacePolicy(next) {
      const [unread] = unreadKeys(next)
      if (unread !== undefined) throw unread
      policy.current = await createPolicy(next, { registry, environment, processes })
    },
    board: review?.board,
    answerFirst: person => review?.answerFirst(person) ?? person,
    onReviewSpent: listener => review?.onSpent(listener) ?? (() => undefined),
    places,
    grants,
    undo,
    calls: {
      workspace: workspace.root,
      registry,
      permissions,
      get hooks() {
        return policy.current.hooks
      },
      audit: { record: recordAudit, flush: () => audit.flush(), close: () => audit.close() },
      clock,
      questions: openQuestionsFolder(
        { ...places, seal },
        () => void prepareState(places, workspace.root, ''),
      ),
      journals: openJournalsFolder(places.journals, seal),
      questionMs: config.permissions.approval_timeout,
      reviewers: [...reviewers, ...(review?.reviewers ?? [])],
      undoLimits: { fileBytes: config.undo.max_file_size, totalBytes: config.undo.budget },
      isEnabled: entry => policy.current.isEnabled(entry),
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
      openProcesses: (context, tool) => openToolProcesses(commands, context, tool),
      redactor,
      digestInput: digestWith(seal),
    },
    async close() {
      await registry.close()
      if (locks.isMade()) locks.value.close()
      if (undo.isMade()) await undo.value.close()
      if (sandbox.isMade() && typeof sandbox.value !== 'string') sandbox.value.close()
      await processes.close()
      await audit.close()
    },
  }
}

/** Makes `.kogu` with a `.gitignore` that hides it, whatever a clone brought, before the first thing is written into it. */
function prepareState(places: Places, workspace: string, folder: string): string {
  if (places.inWorkspace) createStateFolder(workspace)
  markState(places, workspace)
  return folder
}

/** Made when it is first asked for. */
export function lazyValue<T>(make: () => T): () => T {
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
