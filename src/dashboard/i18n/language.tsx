import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { LANGUAGES, type Language, say, type Values, type Words } from './words.ts'

const STORED = 'kogu-language'

const LanguageContext = createContext<{ language: Language; setLanguage: (language: Language) => void }>({
  language: 'en',
  setLanguage: () => undefined,
})

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, choose] = useState<Language>(readLanguage)
  // Decides which glyphs Han characters have.
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  const value = useMemo(
    () => ({
      language,
      setLanguage(next: Language) {
        localStorage.setItem(STORED, next)
        choose(next)
      },
    }),
    [language],
  )
  return <LanguageContext value={value}>{children}</LanguageContext>
}

function readLanguage(): Language {
  const wanted = localStorage.getItem(STORED) ?? navigator.language.slice(0, 2)
  return LANGUAGES.find(language => language === wanted) ?? 'en'
}

export function useLanguage() {
  return useContext(LanguageContext)
}

export type Translate<Key extends string> = (key: Key, values?: Values) => string

export function useWords<Key extends string>(words: Words<Key>): Translate<Key> {
  const { language } = useLanguage()
  return useCallback((key, values = {}) => say(words, language, key, values), [words, language])
}
