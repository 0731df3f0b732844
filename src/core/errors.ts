/**
 * Every way a call can end without success. Adding one is a change of the public API: doors map them to exit codes,
 * HTTP statuses and MCP errors.
 */
export type ErrorCode =
  | 'unknown_tool'
  | 'invalid_input'
  | 'not_enabled'
  | 'forbidden'
  | 'denied'
  | 'needs_approval'
  | 'expired'
  | 'stale'
  | 'not_found'
  | 'conflict'
  | 'timeout'
  | 'cancelled'
  | 'failed'

export interface ErrorOptions {
  /** What to do now, in one sentence. */
  hint?: string | undefined
  /** The same for programs. */
  data?: unknown
  cause?: unknown
}

/** An expected failure. The message is for the model or the person: what happened; the hint says what to do now. */
export class ToolError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly data: unknown

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'ToolError'
    this.code = code
    this.hint = options.hint
    this.data = options.data
  }
}

/** Thrown by a provider that has noticed, before it did anything, that it cannot work now. The next provider is tried. */
export class ProviderUnavailable extends Error {
  override name = 'ProviderUnavailable'
}

/** The one place that makes a ToolError from anything thrown. */
export function toToolError(error: unknown): ToolError {
  if (error instanceof ToolError) return error
  if (isSystemError(error)) return fromSystemError(error)
  const message = messageOf(error) || 'The tool failed without an explanation.'
  return new ToolError('failed', message, { cause: error })
}

/** Tools of others throw anything. */
function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  return 'message' in error && typeof error.message === 'string' ? error.message : ''
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string'
}

/** Paths through a descriptor, and names of temporary files, say nothing to anybody. */
function placeOf(path: string): string {
  const plain = path.replace(/^\/proc\/self\/fd\/\d+\/?/, '')
  return plain === '' || plain.startsWith('.kogu-tmp-') ? '' : `: ${plain}`
}

function portOf(error: NodeJS.ErrnoException): string {
  return 'port' in error && typeof error.port === 'number' ? `: ${error.port}` : ''
}

function fromSystemError(error: NodeJS.ErrnoException): ToolError {
  const where = error.path === undefined ? '' : placeOf(error.path)
  const fail = (code: ErrorCode, message: string, hint?: string): ToolError =>
    new ToolError(code, message, { hint, cause: error })
  switch (error.code) {
    case 'ENOENT':
      return fail('not_found', `No such file or folder${where}`)
    case 'EACCES':
    case 'EPERM':
      return fail(
        'failed',
        `The operating system refused access${where}`,
        'Check the owner and mode of the file.',
      )
    case 'ENAMETOOLONG':
      return fail('invalid_input', 'The path is too long.', 'A name has at most 255 bytes, a path 4095.')
    case 'ENOSPC':
      return fail('failed', `No space left on the disk${where}`)
    case 'EROFS':
      return fail('failed', `The file system is read-only${where}`)
    case 'EADDRINUSE': {
      const hint = 'Choose another one with --port, or stop that program.'
      return fail('conflict', `Another program uses this port${portOf(error)}.`, hint)
    }
    case 'ABORT_ERR':
      return fail('cancelled', 'The call was cancelled.')
    default:
      return fail('failed', error.message)
  }
}
