import { useCallback } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

/** What went wrong, in the person's language; what the server says in detail stays as it is. */
export function useErrorTitle(): (code: string) => string {
  const t = useWords(words)
  return useCallback(code => t(isKnown(code) ? code : 'other'), [t])
}

function isKnown(code: string): code is keyof (typeof words)['en'] {
  return Object.hasOwn(words.en, code)
}
