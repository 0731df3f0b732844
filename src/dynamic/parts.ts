import type { Approver } from '../core/approval.ts'
import type { CallResult } from '../core/call.ts'
import type { Run } from '../core/run.ts'
import type { ToolContext } from '../core/tool.ts'
import type { Isolates } from '../sandbox/isolate/isolates.ts'
import type { Catalogue } from './catalogue/catalogue.ts'
import type { DynamicStore } from './store.ts'

/** What the dynamic tools work with; put together in compose.ts. */
export interface DynamicParts {
  readonly texts: Catalogue
  readonly settings: DynamicSettings
  readonly store: DynamicStore
  isolates(): Isolates
  /** A sentence that says why there is no second wall, or null. */
  missingWall(): string | null
  /** Puts it on record. A log that fails does not stop what it records: the call itself is recorded apart. */
  note(action: AuditAction, details: Readonly<Record<string, unknown>>): void
  /** A call from inside code, in a run below that of the tool's caller. */
  call(request: InnerCall): Promise<CallResult>
  /** Names of other providers and of their tools, also of those that are held, off or not up yet. */
  takenNames(): Promise<readonly string[]>
  /** Calls of a run so far, the oldest first, from the audit log. */
  history(run: string): Promise<readonly PastCall[]>
  now(): Date
}

interface DynamicSettings {
  readonly maxTools: number
  readonly timeoutMs: number
  readonly memoryMb: number
  readonly strict: boolean
  /** Failures after which a tool is recommended. */
  readonly failures: number
}

export interface InnerCall {
  /** `own`: what `fetch` and `kogu.readFile` of the code become, under the rules for web_fetch and read_file. */
  readonly kind: 'own' | 'tool'
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly run: Run
  readonly approver: Approver
  /** Tools that the code may call. */
  readonly tools: readonly string[]
  /** The host was declared when the tool was made. */
  readonly isDeclared: boolean
  readonly cwd: string
  readonly signal: AbortSignal
  /** The call that the code runs in makes it. */
  readonly make?: ToolContext['call'] | undefined
}

export interface PastCall {
  readonly tool: string
  readonly input: unknown
  readonly ok: boolean
}

/** One vocabulary for the log. */
type AuditAction =
  | 'tool.create'
  | 'tool.run'
  | 'tool.delete'
  | 'tool.update'
  | 'tool.export'
  | 'tool.import'
  | 'verification.run'
  | 'verification.pass'
  | 'verification.fail'

export const MOST_TIMEOUT_MS = 60_000
