import type { SandboxProfile } from '../../core/sandbox.ts'

// What Kogu and the supervisor of background commands say to each other: one JSON object a line over a Unix socket that
// only the user can reach, and no command of his (supervisor-place.ts); one answer for each question. Output does not go this way: it lies in files.

export interface BackgroundCommand {
  /** Chosen by whoever starts it; letters, digits and hyphens. */
  id: string
  file: string
  args: readonly string[]
  profile: SandboxProfile
  /** Then it is stopped. */
  lifetimeMs: number
  /** For people: the command line as it was approved. */
  title: string
  /** Who may read what it prints, as kept-output.ts names them. */
  owner?: string
  /** 127.0.0.1 of the host leads to these ports of its sandbox while it runs. */
  ports: readonly number[]
}

export type ToSupervisor =
  | { type: 'start'; command: BackgroundCommand }
  | { type: 'input'; id: string; base64: string; end: boolean }
  | { type: 'stop'; id: string }
  | { type: 'status'; id: string }
  | { type: 'ping' }

export type FromSupervisor =
  | { ok: true; running: boolean; waitingForInput?: boolean }
  | { ok: false; message: string }

/** `meta.json` in the folder of each command: what outlives the supervisor. */
export interface BackgroundMeta {
  /** Which folder on this disk it was written for: others came with a clone or a pull. */
  folder: string
  id: string
  title: string
  owner?: string | undefined
  startedAt: number
  lifetimeMs: number
  ports: readonly number[]
  /** Where it was started. */
  cwd: string
  /** Absent while it runs. */
  ended?: {
    at: number
    exitCode: number | null
    signal: string | null
    reason: 'exited' | 'stopped' | 'lifetime' | 'memory' | 'processes' | 'failed'
    /** Why it could not be started. */
    message?: string
  }
}
