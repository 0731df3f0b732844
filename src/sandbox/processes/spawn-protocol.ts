import type { GroupLimit, GroupLimits } from '../walls/cgroup.ts'

/**
 * What Kogu and its spawn helper say to each other: one JSON object a line, on the helper's standard input and output.
 * Output of programs never goes this way: Kogu opens the reading end of two named pipes, the helper hands the writing
 * ends to the program, and the names are gone before the program starts.
 */
export interface ToHelper {
  id: number
  file: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  /** Names of the two pipes, inside the helper's folder. */
  stdout: string
  stderr: string
  /** Name of a file in the helper's folder that becomes standard input; it is removed. Defaults to /dev/null. */
  stdin?: string
  /** A file or named pipe that becomes standard input instead. */
  stdinPath?: string
  /** Files that the program gets as descriptors 3, 4, …, opened for reading and writing. */
  descriptors: readonly string[]
  /** Options of `unshare`: the namespaces that it gets for itself. */
  namespaces?: readonly string[]
  /** Runs it in a control group of its own, where the helper was given one. */
  limits?: GroupLimits
}

export type FromHelper =
  /** Pipes that are ready for use. The first such line says that the helper is ready. */
  | { type: 'pipes'; names: readonly string[] }
  /** `group`: the name of its control group. */
  | { type: 'started'; id: number; pid: number; group?: string }
  | { type: 'failed'; id: number; code: string; message: string }
  | { type: 'ended'; id: number; exitCode: number | null; signal: string | null; limit: GroupLimit | null }
  /** The helper cannot work on this machine and exits. */
  | { type: 'unable'; message: string }
