import { hash, randomBytes } from 'node:crypto'
import type { OpenLink } from './open-links.ts'

const LINK_MS = 10 * 60_000
const SESSION_MS = 12 * 3_600_000
/** A person has a few browsers; whoever opens thousands of sessions is no person. */
const MOST_SESSIONS = 100

/** Browser sessions: a one-time link becomes a cookie. Both live in memory and end with the server. */
export interface Sessions {
  /** A secret for one link, good once and for ten minutes. */
  createLink(target?: string): string
  /** Uses a link up. Undefined when it is unknown, used or too old. */
  redeem(link: string): { session: string; target: string } | undefined
  isValid(session: string): boolean
  end(session: string): void
}

/** `readLink` understands links that `kogu open` has made. */
export function createSessions(
  now: () => number,
  readLink: (link: string) => OpenLink | undefined = () => undefined,
): Sessions {
  // By hash: a lookup then takes no longer for a guess that begins right.
  const links = new Map<string, { until: number; target: string }>()
  const sessions = new Map<string, number>()
  const used = new Map<string, number>()
  const keyOf = (secret: string): string => hash('sha256', secret)
  const sweep = (): void => {
    for (const [key, { until }] of links) if (until <= now()) links.delete(key)
    for (const [key, until] of sessions) if (until <= now()) sessions.delete(key)
    for (const [key, until] of used) if (until <= now()) used.delete(key)
  }
  const take = (link: string): { target: string } | undefined => {
    const key = keyOf(link)
    const own = links.get(key)
    if (own !== undefined) {
      links.delete(key)
      return own
    }
    const made = readLink(link)
    if (made === undefined || used.has(made.id)) return undefined
    used.set(made.id, made.until)
    return made
  }
  return {
    createLink(target = '/') {
      sweep()
      const secret = randomBytes(32).toString('base64url')
      links.set(keyOf(secret), { until: now() + LINK_MS, target })
      return secret
    },
    redeem(link) {
      sweep()
      const found = take(link)
      if (found === undefined) return undefined
      const [oldest] = sessions.keys()
      if (sessions.size >= MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest)
      const session = randomBytes(32).toString('base64url')
      sessions.set(keyOf(session), now() + SESSION_MS)
      return { session, target: found.target }
    },
    isValid(session) {
      const until = sessions.get(keyOf(session))
      return until !== undefined && until > now()
    },
    end: session => sessions.delete(keyOf(session)),
  }
}
