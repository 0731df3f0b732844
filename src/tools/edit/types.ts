/** One replacement that was asked for. */
export interface Edit {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll: boolean
  /** How many replacements there must be; implies all of them. */
  readonly expected: number | undefined
}

/** How a match was found, from the strictest to the loosest. */
export const RUNGS = ['exact', 'line_ends', 'whitespace', 'punctuation', 'similarity'] as const
export type Rung = (typeof RUNGS)[number]

/** A piece of the text, as UTF-16 indexes. */
export interface Region {
  readonly start: number
  readonly end: number
}

/** A region and what it becomes. */
export interface Match extends Region {
  readonly rung: Rung
  /** 1: the same text. Below: how alike what was asked and what was found are. */
  readonly confidence: number
  readonly replacement: string
}

/** Bytes of the original that are replaced. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly bytes: Uint8Array
}

export type Refusal =
  | { reason: 'empty' | 'identical' | 'no_change' | 'too_many'; edit: number }
  | { reason: 'not_text' }
  | { reason: 'not_found'; edit: number; inOtherEdit: number | undefined }
  | { reason: 'ambiguous'; edit: number; rung: Rung; regions: readonly Region[] }
  | { reason: 'count'; edit: number; expected: number; regions: readonly Region[] }
  /** A match that is only like what was asked, in a file that was not read. */
  | { reason: 'unread'; edit: number; rung: Rung; region: Region }
  | { reason: 'overlap'; edit: number; other: number; region: Region }
  | { reason: 'damaged'; edit: number; region: Region }
  | { reason: 'unencodable'; edit: number; encoding: string; certain: boolean; character: string }
