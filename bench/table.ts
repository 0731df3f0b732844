import { ratiosOf, type Spread, spreadOf } from './measure.ts'

/** One line of the table, ready to print. */
export interface Row {
  readonly name: string
  readonly kogu: string
  readonly peer: string
  /** How many times as long as the peer; under 1 Kogu is faster. */
  readonly ratio: string
  readonly target: string
  readonly verdict: 'ok' | 'MISSED' | ''
}

/** What the project promises: at most so many times the peer, or a median of at most so many milliseconds. */
export type Target = { readonly ratio: number } | { readonly ms: number }

export interface Measured {
  readonly name: string
  /** Milliseconds, one sample a round. */
  readonly kogu: Float64Array
  readonly peer: { readonly name: string; readonly samples: Float64Array }
  readonly target?: Target
  /** Show the slowest hundredth instead of the spread. */
  readonly tail?: boolean
}

export function toRow({ name, kogu, peer, target, tail = false }: Measured): Row {
  const own = spreadOf(kogu)
  const ratio = spreadOf(ratiosOf(kogu, peer.samples))
  const show = tail ? showTail : showSpread
  return {
    name,
    kogu: show(own),
    peer: `${peer.name} ${show(spreadOf(peer.samples))}`,
    ratio: `${showNumber(ratio.median)}× (${showNumber(ratio.p10)}–${showNumber(ratio.p90)})`,
    ...verdictOn(own, ratio, target),
  }
}

/** For what is not a time, or is measured once. */
export function toPlainRow(row: Partial<Row> & Pick<Row, 'name' | 'kogu'>): Row {
  return { peer: '', ratio: '', target: '', verdict: '', ...row }
}

export function verdict(kept: boolean): Row['verdict'] {
  return kept ? 'ok' : 'MISSED'
}

/** Milliseconds in the unit that reads best. */
export function showTime(ms: number): string {
  if (ms < 0.001) return `${showNumber(ms * 1e6)} ns`
  if (ms < 1) return `${showNumber(ms * 1000)} µs`
  return ms < 1000 ? `${showNumber(ms)} ms` : `${showNumber(ms / 1000)} s`
}

export function toTable(rows: readonly Row[]): string {
  const cells = rows.map(row => [row.name, row.kogu, row.peer, row.ratio, row.target, row.verdict])
  const lines = [['', 'Kogu', 'peer', 'ratio (p10–p90)', 'target', ''], ...cells]
  const widths = lines.reduce<number[]>(
    (widest, line) => line.map((cell, column) => Math.max(widest[column] ?? 0, cell.length)),
    [],
  )
  return lines
    .map(line => `  ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n')
}

function verdictOn(own: Spread, ratio: Spread, target: Target | undefined): Pick<Row, 'target' | 'verdict'> {
  if (target === undefined) return { target: '', verdict: '' }
  if ('ms' in target) return { target: `≤ ${showTime(target.ms)}`, verdict: verdict(own.median <= target.ms) }
  return { target: `≤ ${target.ratio}×`, verdict: verdict(ratio.median <= target.ratio) }
}

function showSpread({ median, p10, p90 }: Spread): string {
  return `${showTime(median)} (${showTime(p10)}–${showTime(p90)})`
}

function showTail({ median, p99 }: Spread): string {
  return `${showTime(median)} (p99 ${showTime(p99)})`
}

function showNumber(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}
