import type { Readable } from 'node:stream'
import type { GroupLimit, GroupLimits } from '../walls/cgroup.ts'

/** Starts programs; who waits, limits and kills is `processes.ts`. */
export interface Spawner {
  spawn(request: SpawnRequest): Promise<Started>
  /** Gets ready for the first program, without waiting. */
  prepare(): void
  /** Whether the kernel keeps this limit for programs that are started with `limits`. */
  keeps(limit: GroupLimit): boolean
  /** Kills whatever still runs. */
  close(): Promise<void>
}

export interface SpawnRequest {
  file: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  stdin?: Uint8Array
  /** A file or named pipe that becomes standard input instead. */
  stdinPath?: string
  /** Files that the program gets as descriptors 3, 4, …, opened for reading and writing. */
  descriptors?: readonly string[]
  /** Options of `unshare`: the namespaces that it gets for itself. */
  namespaces?: readonly string[]
  /** For the program and all it starts; kept as far as the kernel lets us. */
  limits?: GroupLimits
}

export interface Started {
  /** Also the id of the program's own process group and session. */
  pid: number
  stdout: Readable
  stderr: Readable
  /** The limit that it has run into so far, of those that the kernel keeps. */
  exceeded(): GroupLimit | null
  /** Rejects when it can no longer be known how the program ended; it is dead then. */
  ended: Promise<Ending>
  /** To the whole process group; does nothing after the end. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
}

export interface Ending {
  exitCode: number | null
  signal: string | null
  /** As `exceeded`, at the end. */
  limit: GroupLimit | null
}
