import type { JsonSchema } from './schema.ts'

/**
 * How a tool runs the command line that it named in its `access`: behind the walls of its permit, within the configured
 * limits, on a layer whose changes are recorded, undoable and reported as effects of the call.
 */
export interface ToolProcesses {
  /** A line that was not judged for this call is refused. */
  run(request: ToolProcessRequest): Promise<ToolProcessResult>
}

interface ToolProcessRequest {
  /** The line of one `execute` of the tool's `access`, character by character. */
  readonly command: string
  /** The words of `command`: the program is started with them, without a shell. */
  readonly words?: readonly string[]
  /**
   * A file that `words` name, with the content that a person trusted. The program gets a copy of it in a folder of its own:
   * whatever lies at the path by now, and beside it, is neither run nor loaded.
   */
  readonly trusted?: TrustedFile
  readonly timeoutMs: number
  /** How many bytes of each stream the result shows; defaults to the configured number. */
  readonly outputBytes?: number
  /** Stops it when it has written nothing for so long. */
  readonly idleTimeoutMs?: number
  readonly stdin?: string
  /** Variables beside those that the configuration lets commands see. */
  readonly env?: Readonly<Record<string, string>>
  /** What the tool declares to touch. The program gets no more than that, whatever its line was allowed. */
  readonly within?: Declared
}

export interface TrustedFile {
  readonly path: string
  readonly content: Uint8Array
}

export interface Declared {
  /** Hosts, with `*.` in front for all below. */
  readonly network: readonly string[]
  /** Globs over paths in the workspace. */
  readonly writes: readonly string[]
}

export interface ToolProcessResult extends ProcessResult {
  /** Long output is cut in the middle, and says so; secrets are removed. */
  readonly stdout: string
  readonly stderr: string
  /** Both, in the order in which they came. */
  readonly output: string
  readonly isTruncated: boolean
  /** What the person and the model have to know beyond the output: sentences. */
  readonly notes: readonly string[]
  /** Whether it read or contacted something that is not the workspace. */
  readonly isTrusted: boolean
}

/** Starts programs as they are, without walls. Implemented by sandbox/, the only folder that does; no tool gets it. */
export interface Processes {
  /** Starts a program without a shell and waits for its end. Output goes to the callbacks as it comes. */
  run(request: ProcessRequest): Promise<ProcessResult>
}

export interface ProcessRequest {
  /** Absolute path of the program. */
  file: string
  args: readonly string[]
  cwd: string
  /** The whole environment: nothing is inherited. */
  env: Readonly<Record<string, string>>
  stdin?: Uint8Array
  /** Wall clock; then the whole process group is killed. */
  timeoutMs: number
  signal: AbortSignal
  /** Return `false` to stop the program: the caller has seen enough. */
  onStdout?: (chunk: Uint8Array) => boolean | undefined
  onStderr?: (chunk: Uint8Array) => boolean | undefined
}

export interface ProcessResult {
  /** Null when a signal ended it. */
  exitCode: number | null
  signal: string | null
  timedOut: boolean
  /** The caller stopped it: by its abort signal or by a callback that had seen enough. */
  stopped: boolean
}

/** What programs can rely on in the `data` of a call that ran a program. */
export const PROCESS_FIELDS: Readonly<Record<string, JsonSchema>> = {
  command: { type: 'string' },
  exit_code: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
  success: { type: 'boolean' },
  stdout: { type: 'string' },
  stderr: { type: 'string' },
  truncated: { type: 'boolean' },
  timed_out: { type: 'boolean' },
  duration_ms: { type: 'integer' },
}
