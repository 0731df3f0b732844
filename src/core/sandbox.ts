import type { Access } from './access.ts'

/**
 * The walls around one program, as plain data: made by the permission engine from the same rules as every other
 * decision, put up by `sandbox/`. All paths are absolute. What is not named may be read and not changed.
 */
export interface SandboxProfile {
  /** Folders and files that the program may change. */
  readonly writable: readonly string[]
  /** Folders of Kogu's own that the program finds in the place of others and may change: its caches. */
  readonly replaced?: readonly ReplacedFolder[]
  /** Folders that stay readable although they lie in a place that is private to the sandbox, such as /tmp or /run. */
  readonly readable: readonly string[]
  /** Folders of the host that are empty for the program, but for what other lists name in them. */
  readonly closed?: readonly string[]
  /** The person's home folder: what is hidden in it stays so when the person saves it meanwhile. */
  readonly home?: string
  /** Not there for the program: reading is refused. Wins over all other lists, for everything beneath it. */
  readonly hidden: readonly string[]
  /** May be read but not changed although it lies in a writable folder. */
  readonly protected: readonly string[]
  /** `none`, or the Unix socket of a filtering HTTP proxy as the only way out. */
  readonly network: 'none' | { readonly proxySocket: string }
  /** Unix sockets can be created and connected: needed by some test suites, and a way to daemons of the host. */
  readonly unixSockets: boolean
  /** The whole environment. Variables that steer the dynamic loader (LD_*) are left out. */
  readonly env: Readonly<Record<string, string>>
  /** A folder that the program sees as /tmp; defaults to an empty one in memory that ends with it. */
  readonly privateTmp?: string
  /** The program cannot change `privateTmp`. `shared`: others may while it starts, so nothing can be mounted in it. */
  readonly privateTmpIs?: 'read-only' | 'shared'
  readonly cwd: string
  readonly limits: SandboxLimits
}

export interface ReplacedFolder {
  /** Where the program finds it. */
  readonly path: string
  /** What it finds there; defaults to an empty folder in memory that ends with it. */
  readonly source?: string
}

export interface SandboxLimits {
  /** Memory that one process may allocate; all together may hold as much in RAM. */
  readonly memoryBytes: number
  /** Processes and threads at the same time. */
  readonly processes: number
  /** Processor time of one process. */
  readonly cpuSeconds: number
  /** Size of one file that is written. */
  readonly fileBytes: number
  readonly openFiles: number
}

export const DEFAULT_SANDBOX_LIMITS: SandboxLimits = {
  memoryBytes: 4 * 1024 ** 3,
  processes: 512,
  cpuSeconds: 600,
  fileBytes: 2 * 1024 ** 3,
  openFiles: 4096,
}

/** Nothing may be written, contacted or seen beyond what every program needs. */
export const EMPTY_PROFILE: SandboxProfile = {
  writable: [],
  readable: [],
  hidden: [],
  protected: [],
  network: 'none',
  unixSockets: false,
  env: {},
  cwd: '/',
  limits: DEFAULT_SANDBOX_LIMITS,
}

/** What stopped a program that ran into a wall, and the one rule that would have let it through. */
export interface SandboxDenial {
  readonly kind: 'write' | 'read' | 'rename' | 'network' | 'socket' | 'limit'
  /** The path, host or limit, where the program named it. */
  readonly target: string | null
  /** For the model and the person. */
  readonly message: string
  /** Allowed by a rule or an approval, this opens the wall (`…`: the program did not say what). Null: no rule can. */
  readonly allowedBy: Access | null
}
