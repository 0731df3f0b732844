import type { AnswerRequest } from '../../../../client.ts'

/** A word of the command line that asks. `lock`: why it stays as it is. */
export interface LineWord {
  readonly text: string
  readonly lock: string | null
}

export type ChipState = 'exact' | 'any' | 'removed'

/** What a person has chosen of a line. */
export interface Chosen {
  /** By the place of the word; those that are not there are removed. */
  readonly states: Readonly<Record<number, ChipState>>
  /** Whether more words may follow. */
  readonly more: boolean
}

/** What the server offers: the words that say what is done, and anything after them. */
export const AS_OFFERED: Chosen = { states: {}, more: true }

export function stateOf({ states }: Chosen, index: number): ChipState {
  return states[index] ?? 'removed'
}

const NEXT = { exact: 'any', any: 'removed', removed: 'exact' } as const

/** Each click goes on to the next of the three. */
export function turn(chosen: Chosen, index: number): Chosen {
  return { ...chosen, states: { ...chosen.states, [index]: NEXT[stateOf(chosen, index)] } }
}

/** For the server, which checks it again; undefined where nothing differs from its own offer. */
export function toPattern(words: readonly LineWord[], chosen: Chosen): AnswerRequest['pattern'] {
  const kept = words.flatMap(({ text, lock }, index): (string | null)[] => {
    if (lock === 'says-what') return [text]
    const state = lock === null ? stateOf(chosen, index) : 'removed'
    return state === 'removed' ? [] : [state === 'any' ? null : text]
  })
  const isAsOffered =
    chosen.more && words.every(({ lock }, index) => lock !== null || stateOf(chosen, index) === 'removed')
  return isAsOffered ? undefined : { words: kept, more: chosen.more }
}
