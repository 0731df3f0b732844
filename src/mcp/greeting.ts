import { canFillForms, shownClient } from './about.ts'

/** A client of an older protocol that has introduced itself. */
export interface Greeting {
  readonly id: string | number
  readonly protocolVersion: string
  readonly client: string
  readonly canAsk: boolean
}

/** All that the SDK speaks of the older protocol. What names another version is for the SDK to answer. */
const VERSIONS = new Set(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])

/**
 * Reads the first line of a client. Undefined: it is no usual introduction, and for the SDK. The SDK takes as long to load
 * as the rest of a start, and many a connection needs nothing of it.
 */
export function readGreeting(line: Buffer): Greeting | undefined {
  if (!line.includes('"initialize"')) return undefined
  const { jsonrpc, id, method, params } = objectOf(parse(line))
  const { protocolVersion, capabilities, clientInfo } = objectOf(params)
  const { name, version } = objectOf(clientInfo)
  const isUsual =
    jsonrpc === '2.0' &&
    method === 'initialize' &&
    typeof protocolVersion === 'string' &&
    VERSIONS.has(protocolVersion) &&
    isObject(capabilities) &&
    typeof version === 'string'
  if (!isUsual || typeof name !== 'string' || (typeof id !== 'string' && !isInteger(id))) return undefined
  const { elicitation } = capabilities
  if (elicitation !== undefined && !isObject(elicitation)) return undefined
  return { id, protocolVersion, client: shownClient(name), canAsk: canFillForms(elicitation) }
}

/** Whether a client says that it has heard the answer. */
export function isInitialized(line: Buffer): boolean {
  if (!line.includes('"notifications/initialized"')) return false
  const { method, id } = objectOf(parse(line))
  return method === 'notifications/initialized' && id === undefined
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    // Not JSON: the SDK says so.
    return undefined
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {}
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
