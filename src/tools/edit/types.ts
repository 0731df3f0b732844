/** One replacement that was asked for. */
export interface Edit {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll: boolean
  /** How many replacements there must be; implies all of them. */
  readonly expected: number | undefined
}

/** How a match was found, from the strictest to the loosest. */
export const RUNGS = ['exact', 'line_ends', 'whitespace'] as const
export type Rung = (typeof RUNGS)[number]

/** A piece of the text, as UTF-16 indexes. */
export interface Region {
  readonly start: number
  readonly end: number
}

/** A region and what it becomes. */
export interface Match extends Region {
  readonly rung: Rung
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
  | { reason: 'ambiguous'; edit: number; regions: readonly Region[] }
  | { reason: 'count'; edit: number; expected: number; regions: readonly Region[] }
  /** Only the whitespace differs, but the run has not read the file. */
  | { reason: 'unread'; edit: number; region: Region }
  | { reason: 'overlap'; edit: number; other: number; region: Region }
  | { reason: 'damaged'; edit: number; region: Region }
  | { reason: 'unencodable'; edit: number; encoding: string; certain: boolean; character: string }
