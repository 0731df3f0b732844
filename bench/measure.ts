/** Something to time. `batch` runs make one sample: for what is too short for the clock. */
export interface Side {
  run(): unknown
  readonly batch?: number
  /** Clears up after a sample; not timed. */
  after?(): Promise<void>
}

export interface Spread {
  readonly median: number
  readonly p10: number
  readonly p90: number
  readonly p99: number
}

/**
 * Times the sides in turn, round after round, so that a noisy machine hits all of them alike; whoever went first goes
 * last in the next round. Gives the milliseconds of one run of each side, one sample a round, in the order of rounds.
 */
export async function interleave<Name extends string>(
  rounds: number,
  sides: Readonly<Record<Name, Side>>,
): Promise<Record<Name, Float64Array>> {
  // Object.keys forgets which keys they are.
  const names = Object.keys(sides) as Name[]
  const samples = Object.fromEntries(names.map(name => [name, new Float64Array(rounds)]))
  const warmUp = Math.min(rounds, Math.max(1, Math.ceil(rounds / 10)))
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const sample = await timeOf(sides[name])
      await sides[name].after?.()
      const own = samples[name]
      if (round >= 0 && own !== undefined) own[round] = sample
    }
  }
  // Made from the same names.
  return samples as Record<Name, Float64Array>
}

/** Milliseconds of one run. */
export async function timeOf({ run, batch = 1 }: Side): Promise<number> {
  const started = performance.now()
  for (let i = 0; i < batch; i += 1) {
    // Waiting for what is not a promise would cost more than a short run itself.
    const result = run()
    if (result instanceof Promise) await result
  }
  return (performance.now() - started) / batch
}

export function spreadOf(samples: Float64Array): Spread {
  const sorted = samples.toSorted()
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { median: at(0.5), p10: at(0.1), p90: at(0.9), p99: at(0.99) }
}

/** How many times as long as the other side, round by round. */
export function ratiosOf(samples: Float64Array, others: Float64Array): Float64Array {
  return samples.map((sample, round) => sample / (others[round] ?? Number.NaN))
}
