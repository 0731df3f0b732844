import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { type ErrorCode, ToolError, toToolError } from '../core/errors.ts'
import { DatabaseUnavailable } from '../store/database/database.ts'

/**
 * Every error of the API: application/problem+json, with the `error` and `error_code` that the founding documents fix
 * beside it. Messages are those of the tools and of this file; nothing of a stack or a secret gets out.
 */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly retryable: boolean
  readonly hint: string | null
  readonly request_id: string
  readonly errors: readonly { pointer: string; message: string }[]
  readonly error: string
  readonly error_code: string
}

/** An error of the HTTP door itself. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem'
  readonly status: number
  readonly code: string
  readonly hint: string | null
  readonly errors: Problem['errors']

  constructor(
    status: number,
    code: string,
    message: string,
    { hint = null, errors = [] }: { hint?: string | null; errors?: Problem['errors'] } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.hint = hint
    this.errors = errors
  }
}

/** Status and the founding documents' code for every way a call can end without success. */
const OF_TOOL_ERROR: Readonly<Record<ErrorCode, { status: number; code: string }>> = {
  unknown_tool: { status: 404, code: 'not_found' },
  not_found: { status: 404, code: 'not_found' },
  invalid_input: { status: 400, code: 'invalid_input' },
  not_enabled: { status: 403, code: 'tool_permission_denied' },
  forbidden: { status: 403, code: 'tool_permission_denied' },
  denied: { status: 403, code: 'tool_permission_denied' },
  // Nobody can be asked; a call that waits for an answer is no problem.
  needs_approval: { status: 403, code: 'tool_permission_denied' },
  expired: { status: 410, code: 'expired' },
  stale: { status: 409, code: 'stale' },
  conflict: { status: 409, code: 'conflict' },
  timeout: { status: 504, code: 'tool_execution_failed' },
  cancelled: { status: 499, code: 'tool_execution_failed' },
  failed: { status: 500, code: 'tool_execution_failed' },
}

export function toProblem(error: unknown): Problem {
  if (error instanceof HttpProblem) {
    return build(error.status, error.code, error.message, error.hint, error.errors)
  }
  if (error instanceof HTTPException) {
    const code = error.status === 413 ? 'too_large' : 'invalid_input'
    const hint = error.status === 415 ? 'Send JSON with Content-Type: application/json.' : null
    return build(error.status, code, error.message || 'The request cannot be read.', hint, [])
  }
  if (error instanceof DatabaseUnavailable)
    return build(503, 'database_unavailable', error.message, error.hint ?? null, [])
  const known = error instanceof ToolError
  const { code, message, hint } = toToolError(error)
  const { status, code: name } = OF_TOOL_ERROR[code]
  // What was thrown by accident may hold anything: paths, queries, parts of a secret.
  if (!known)
    return build(500, 'internal', 'Something went wrong inside Kogu.', 'See the log of kogu serve.', [])
  return build(status, name, message, hint ?? null, [])
}

export function sendProblem(context: Context, error: unknown): Response {
  const problem = { ...toProblem(error), request_id: context.get('requestId') ?? randomUUID() }
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  })
}

function build(
  status: number,
  code: string,
  detail: string,
  hint: string | null,
  errors: Problem['errors'],
): Problem {
  return {
    type: `urn:kogu:problem:${code}`,
    title: TITLES[code] ?? 'The request failed',
    status,
    detail,
    code,
    retryable: status === 429 || status === 502 || status === 503 || status === 504,
    hint,
    request_id: '',
    errors,
    error: detail,
    error_code: code,
  }
}

export const TITLES: Readonly<Record<string, string>> = {
  not_found: 'Not found',
  invalid_input: 'Invalid input',
  unauthorized: 'Not signed in',
  forbidden: 'Not allowed',
  tool_permission_denied: 'Denied',
  tool_execution_failed: 'The tool failed',
  conflict: 'Changed elsewhere',
  stale: 'Changed since the request',
  expired: 'Expired',
  too_large: 'Too large',
  rate_limited: 'Too many requests',
  database_unavailable: 'The database is not available',
  llm_error: 'The model failed',
  internal: 'Internal error',
}
