export const SERVER_STATES = [
  ...(['off', 'untrusted', 'changed'] as const),
  ...(['connecting', 'auth', 'failed', 'ready'] as const),
] as const

interface Doing {
  readonly available: boolean
  readonly isStarting: boolean
  readonly problems: readonly string[]
}

/** One word for a server: what a person decided about it comes first, then how it is doing. */
export function serverState(
  trust: 'trusted' | 'not trusted' | 'changed' | 'off',
  { available, isStarting, problems }: Doing,
): (typeof SERVER_STATES)[number] {
  if (trust === 'off' || trust === 'changed') return trust
  if (trust === 'not trusted') return 'untrusted'
  if (available) return 'ready'
  if (isStarting) return 'connecting'
  return problems.some(problem => WANTS_KEY.test(problem)) ? 'auth' : 'failed'
}

/** What servers say to who brings no key, or a wrong one. */
const WANTS_KEY = /\b(401|403)\b|unauthori[sz]ed|requires authori[sz]ation|invalid_token/i
