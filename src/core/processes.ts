/** How tools start programs. Implemented by sandbox/, the only folder that does. */
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
