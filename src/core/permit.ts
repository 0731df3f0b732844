import type { Access } from './access.ts'
import type { CommandPermit, HostRefusal } from './command.ts'

/** What the engine found out and lets this call do. It is all that a tool learns of permissions. */
export interface Permit {
  /** Everything that was judged, with `execute` expanded. */
  readonly access: readonly Access[]
  /** Real folders below which this call may change files. */
  readonly writeScope: readonly string[]
  /** The real path that was judged for a path the tool named. A file that leads elsewhere now is refused. */
  judged(absolutePath: string): string | undefined
  /** Whether a file met on the way (search, listing) may be shown and read. Called for thousands of paths. */
  mayRead(realPath: string): boolean
  /**
   * Whether this real path is never changed by a file tool (Kogu's own state, git internals, start-up files). What lies
   * beside it can make it so; `exists` tells of a disk that is not there yet.
   */
  isProtected(realPath: string, exists?: (path: string) => boolean): boolean
  /** Whether a command must not leave a change of this real path behind, which a file tool asks about. */
  isGuarded?(realPath: string): boolean
  /** Set when the call runs a command line. */
  readonly command?: CommandPermit
  /** Set when the call itself contacts other machines. */
  readonly judgeUrl?: JudgeUrl
}

/**
 * Why a call may not contact this address, or null: the one that it named, or one that it was led to. Asked before a name
 * is looked up, without addresses, and again with all addresses that the name stands for.
 */
export type JudgeUrl = (url: string, addresses: readonly string[]) => HostRefusal | null
