import type { SandboxLimits } from '../../core/sandbox.ts'
import type { Background } from '../../sandbox/background/background.ts'
import type { SandboxProcesses } from '../../sandbox/processes/processes.ts'
import type { Sandbox } from '../../sandbox/walls/sandbox.ts'
import type { PathLocks } from '../../workspace/files/path-locks.ts'
import type { UndoStore } from '../../workspace/undo/undo-store.ts'

/** What the command tools work with; put together by the runtime. */
export interface CommandParts {
  /** Real path. */
  readonly workspace: string
  readonly home: string
  readonly processes: SandboxProcesses
  /** Null when this machine has none, for this reason. */
  readonly sandbox: Sandbox | null
  readonly noSandboxReason: string
  /** Without a sandbox nothing runs. */
  readonly sandboxRequired: boolean
  /** Why commands cannot run on a layer over the workspace; null: they can. */
  readonly overlayProblem: () => string | null
  readonly undo: () => UndoStore
  /** One writer at a time for each path, also between Kogu processes. */
  readonly locks: () => PathLocks
  readonly background: () => Background
  readonly places: CommandPlaces
  /** Variables that commands may see, without PATH. */
  readonly variables: Readonly<Record<string, string>>
  /** Folders in which programs are looked up. */
  readonly path: readonly string[]
  /** Where approved commands find folders that they may write: package caches. Absolute; need not exist. */
  readonly caches: readonly string[]
  /** Folders of the workspace, relative to it, that background commands change without a record. Defaults to none. */
  readonly backgroundWrite: readonly string[]
  /** What becomes of output of builds that git ignores, when a contained line would be asked about it. */
  readonly buildOutput: 'drop' | 'keep' | 'ask'
  /** Where daemons of this machine keep their sockets. */
  readonly socketFolders: readonly string[]
  readonly limits: SandboxLimits
  /** Of each stream that a result shows, in bytes. Defaults to 30,000. */
  readonly outputBytes?: number
  readonly redact: (text: string) => string
}

interface CommandPlaces {
  /** Where layers are made; on the same file system as the workspace. */
  readonly overlays: string
  /** Full output of commands that print more than is shown. */
  readonly output: string
  /** One private /tmp for each run. */
  readonly temporary: string
  /** What commands find in the place of the person's caches. */
  readonly caches: string
  /** Kogu's own folders, which commands never see: the undo store holds what files were before. */
  readonly own: readonly string[]
}
