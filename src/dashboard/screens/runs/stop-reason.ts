import { useCallback } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { words } from './reasons/words.ts'

/** Why a run stands still or ended, in words; a reason that is not known as it is. */
export function useReasons(): (reason: string) => string {
  const t = useWords(words)
  return useCallback(
    reason => {
      const name = reason === 'needs_approval' ? 'awaiting_approval' : reason
      return isKnown(name) ? t(name) : reason
    },
    [t],
  )
}

function isKnown(name: string): name is keyof (typeof words)['en'] {
  return Object.hasOwn(words.en, name)
}
