import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import * as z from 'zod'
import { openListFile } from '../../store/list-file.ts'

// Bearer tokens for programs. Only a hash is kept: whoever reads the file cannot use it.

export const SCOPES = ['read', 'run', 'approve', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export interface StoredToken {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** The one whose server takes it. Null, and missing in tokens of an older Kogu: any of this person's. */
  readonly workspace?: string | null | undefined
  readonly sha256: string
  readonly createdAt: string
  readonly expiresAt: string | null
}

/** Where tokens are kept: a file of the state folder, which no tool and no command of a run can read. */
export interface TokenStore {
  list(): readonly StoredToken[]
  add(token: StoredToken): Promise<void>
  remove(id: string): Promise<boolean>
}

const schema = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  workspace: z.string().nullable().optional(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
})

export function openTokens(stateDirectory: string): TokenStore {
  const isToken = (value: unknown): value is StoredToken => schema.safeParse(value).success
  return openListFile(join(stateDirectory, 'tokens.json'), 'tokens', isToken)
}

const PREFIX = 'kogu_'

/** A new token and what is kept of it. The token itself is shown once. */
export function makeToken(
  name: string,
  scopes: readonly Scope[],
  { now, lifetimeMs, workspace = null }: { now: Date; lifetimeMs?: number; workspace?: string | null },
): { token: string; stored: StoredToken } {
  const id = `tok_${randomBytes(6).toString('hex')}`
  const token = `${PREFIX}${randomBytes(32).toString('base64url')}`
  const expiresAt = lifetimeMs === undefined ? null : new Date(now.getTime() + lifetimeMs).toISOString()
  const about = { id, name, scopes, workspace }
  return {
    token,
    stored: { ...about, sha256: hash('sha256', token), createdAt: now.toISOString(), expiresAt },
  }
}

/**
 * A bearer token; undefined when it is unknown, has expired or is for another workspace. Compares all tokens in constant
 * time.
 */
export function findToken(
  tokens: readonly StoredToken[],
  token: string,
  { now, workspace }: { now: Date; workspace: string },
): StoredToken | undefined {
  if (!token.startsWith(PREFIX) || token.length > 200) return undefined
  const given = Buffer.from(hash('sha256', token), 'hex')
  let found: StoredToken | undefined
  for (const stored of tokens) if (timingSafeEqual(given, Buffer.from(stored.sha256, 'hex'))) found = stored
  if (found?.workspace != null && found.workspace !== workspace) return undefined
  if (found?.expiresAt != null && Date.parse(found.expiresAt) <= now.getTime()) return undefined
  return found
}
