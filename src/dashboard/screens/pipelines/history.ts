/** What can be undone and done again. A burst of changes of one field counts as one. */
export interface History<T> {
  readonly past: readonly T[]
  readonly future: readonly T[]
  /** What the last change was about, and when. */
  readonly burst: string
  readonly at: number
}

const MOST = 100
const BURST_MS = 1_500

export function emptyHistory<T>(): History<T> {
  return { past: [], future: [], burst: '', at: 0 }
}

/** Remembers `before` ahead of a change. An empty `burst` is never joined with another. */
export function remember<T>(history: History<T>, before: T, burst: string, now: number): History<T> {
  const joins = burst !== '' && burst === history.burst && now - history.at < BURST_MS
  const past = joins ? history.past : [...history.past, before].slice(-MOST)
  return { past, future: [], burst, at: now }
}

export function undo<T>(history: History<T>, now: T): { history: History<T>; value: T } | undefined {
  const value = history.past.at(-1)
  if (value === undefined) return undefined
  const future = [now, ...history.future]
  return { value, history: { past: history.past.slice(0, -1), future, burst: '', at: 0 } }
}

export function redo<T>(history: History<T>, now: T): { history: History<T>; value: T } | undefined {
  const [value, ...future] = history.future
  if (value === undefined) return undefined
  return { value, history: { past: [...history.past, now], future, burst: '', at: 0 } }
}
