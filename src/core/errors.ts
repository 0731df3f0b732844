/**
 * Every way a call can end without success. Adding one is a change of the public API: doors map them to exit codes,
 * HTTP statuses and MCP errors.
 */
const ERROR_CODES = [
  'unknown_tool',
  'invalid_input',
  'not_enabled',
  'forbidden',
  'denied',
  'needs_approval',
  'expired',
  'stale',
  'not_found',
  'conflict',
  'timeout',
  'cancelled',
  'failed',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

export interface ErrorOptions {
  /** What to do now, in one sentence. */
  hint?: string
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
  return new ToolError('failed', messageOf(error) || 'The tool failed without an explanation.', {
    cause: error,
  })
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
  switch (error.code) {
    case 'ENOENT':
      return new ToolError('not_found', `No such file or folder${where}`, { cause: error })
    case 'EACCES':
    case 'EPERM':
      return new ToolError('failed', `The operating system refused access${where}`, {
        hint: 'Check the owner and mode of the file.',
        cause: error,
      })
    case 'ENAMETOOLONG':
      return new ToolError('invalid_input', 'The path is too long.', {
        hint: 'A name has at most 255 bytes, a path 4095.',
        cause: error,
      })
    case 'ENOSPC':
      return new ToolError('failed', `No space left on the disk${where}`, { cause: error })
    case 'EROFS':
      return new ToolError('failed', `The file system is read-only${where}`, { cause: error })
    case 'EADDRINUSE':
      return new ToolError('conflict', `Another program uses this port${portOf(error)}.`, {
        hint: 'Choose another one with --port, or stop that program.',
        cause: error,
      })
    case 'ABORT_ERR':
      return new ToolError('cancelled', 'The call was cancelled.', { cause: error })
    default:
      return new ToolError('failed', error.message, { cause: error })
  }
}
