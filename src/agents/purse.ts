/** What agents that work side by side leave each other of the limits that they have together. */
export interface Purse {
  /** Of one agent: the part of what is left that one request of it may take. */
  readonly share: number
  /** Of all agents of a run: what requests and calls that are under way may use up. */
  readonly aside: { tokens: number; calls: number }
  /** Tokens of the largest request of the run so far, without its answer. The next one may be as large. */
  readonly largest: { request: number }
  /** One at a time. What is left is read and set aside, or written down and let go, with nobody in between. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

/** For all agents of a run. */
export function createPurse(): Purse {
  let last: Promise<unknown> = Promise.resolve()
  return {
    share: 1,
    aside: { tokens: 0, calls: 0 },
    largest: { request: 0 },
    inTurn(work) {
      const next = last.then(work)
      // Whoever waits for it is told; the next one is not held up.
      last = next.catch(() => undefined)
      return next
    },
  }
}

/** Nobody else takes it until the returned function is called, which can be done twice. */
export function setAside({ aside }: Purse, kind: keyof Purse['aside'], amount: number): () => void {
  let held = Number.isFinite(amount) ? Math.max(0, amount) : 0
  aside[kind] += held
  return () => {
    aside[kind] -= held
    held = 0
  }
}
