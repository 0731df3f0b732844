interface Key {
  readonly key: string
  readonly isComposing: boolean
  readonly keyCode: number
}

/**
 * Whether Enter was pressed to do something. Who writes Japanese or Korean presses it to choose a word first; Safari tells of
 * that only by the code 229.
 */
export function isEnter({ key, isComposing, keyCode }: Key): boolean {
  return key === 'Enter' && !isComposing && keyCode !== 229
}
