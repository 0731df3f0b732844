import { APICallError } from '@ai-sdk/provider'
import { ModelError } from '../model.ts'

interface Request {
  readonly provider: string
  /** The key that was sent: it must not appear in a message, whatever the vendor echoes. */
  readonly secret: string
  readonly signal: AbortSignal
}

/** The one place that judges what a vendor, its package or the network says when something goes wrong. */
export function toModelError(error: unknown, request: Request): ModelError {
  if (error instanceof ModelError) return error
  if (error instanceof Error && error.cause instanceof ModelError) return error.cause
  if (request.signal.aborted) return new ModelError('cancelled', 'The request was cancelled.')
  const { provider } = request
  if (APICallError.isInstance(error)) return fromStatus(error, request)
  const message = hideKey(error instanceof Error ? error.message : describe(error), request.secret)
  if (/rate_limit/i.test(typeOf(error)))
    return new ModelError('rate_limited', `${provider} rate-limited the request: ${message}`, {
      cause: error,
    })
  if (/without a finish reason/i.test(message))
    return new ModelError('unavailable', 'The answer broke off before its end.')
  if (isOverload(error, message))
    return new ModelError('unavailable', `${provider} is overloaded: ${message}`, { cause: error })
  if (isNetwork(error)) {
    return new ModelError('unavailable', `${provider} cannot be reached: ${message}`, { cause: error })
  }
  return new ModelError('failed', `${provider} failed: ${message}`, { cause: error })
}

function fromStatus(error: APICallError, { provider, secret }: Request): ModelError {
  const { statusCode: status, responseHeaders: headers } = error
  const message = hideKey(error.message, secret)
  const said = `${provider} answered ${status ?? 'nothing'}: ${message}`
  const options = { cause: undefined, ...retryAfter(headers) }
  if (status === 401 || status === 403) {
    return new ModelError('credentials', `${provider} rejected the key: ${message}`, {
      hint: `Check it with: kogu models test ${provider}`,
    })
  }
  if (status === 429) return new ModelError('rate_limited', said, options)
  if (status === undefined || status === 408 || status === 409 || status >= 500) {
    return new ModelError(
      'unavailable',
      status === undefined ? `${provider} cannot be reached: ${message}` : said,
      options,
    )
  }
  if (status === 404) return new ModelError('failed', said, { hint: 'See: kogu models list' })
  // A stream that began well and then carried an error has the status 200.
  if (status < 400) return new ModelError('unavailable', said, options)
  return new ModelError('rejected', said)
}

/** Seconds or a date; some vendors also say milliseconds. */
function retryAfter(headers: Record<string, string> = {}): { retryAfterMs?: number } {
  const exact = Number(headers['retry-after-ms'])
  if (Number.isFinite(exact) && exact >= 0 && headers['retry-after-ms'] !== undefined)
    return { retryAfterMs: exact }
  const text = headers['retry-after']
  if (text === undefined) return {}
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? { retryAfterMs: Math.max(0, Math.round(ms)) } : {}
}

function isOverload(error: unknown, message: string): boolean {
  return /overload|unavailable/i.test(`${typeOf(error)} ${message}`)
}

/** Errors inside of a stream have no status, but a type. */
function typeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : ''
}

const NETWORK = /fetch failed|ECONN|ENOTFOUND|EAI_AGAIN|socket|terminated|UND_ERR|network|other side closed/i

function isNetwork(error: unknown): boolean {
  const parts = [error, error instanceof Error ? error.cause : undefined]
  return parts.some(
    part => part instanceof Error && NETWORK.test(`${part.message} ${'code' in part ? part.code : ''}`),
  )
}

function describe(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  return typeof error === 'string' ? error : JSON.stringify(error)
}

export function hideKey(text: string, secret: string): string {
  return secret.length < 8 ? text : text.replaceAll(secret, '‹key›')
}
