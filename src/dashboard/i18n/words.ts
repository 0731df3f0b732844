import { toVisible } from '../../core/visible.ts'

/** A sentence with `{name}` in it, or its forms for one and many, chosen by `count`. */
export type Phrase = string | { readonly one: string; readonly other: string }

export const LANGUAGES = ['en', 'ja', 'ko'] as const
export type Language = (typeof LANGUAGES)[number]

export type Words<Key extends string> = Readonly<Record<Language, Readonly<Record<Key, Phrase>>>>

export type Values = Readonly<Record<string, string | number>>

/** The words of one screen, in every language. A key that one of them lacks does not compile. */
export function defineWords<const En extends Readonly<Record<string, Phrase>>>(words: {
  readonly en: En
  readonly ja: Readonly<Record<keyof En & string, Phrase>>
  readonly ko: Readonly<Record<keyof En & string, Phrase>>
}): Words<keyof En & string> {
  return words
}

export function say<Key extends string>(
  words: Words<Key>,
  language: Language,
  key: Key,
  values: Values,
): string {
  const phrase = words[language][key]
  const text = typeof phrase === 'string' ? phrase : phrase[formOf(language, values.count)]
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name]
    if (value === undefined) return whole
    // A text is often a name that others chose. The spaces of our own formats stay.
    return typeof value === 'number'
      ? new Intl.NumberFormat(language).format(value)
      : value.replaceAll(/[^\u00A0\u2009\u202F]+/g, toVisible)
  })
}

function formOf(language: Language, count: string | number | undefined): 'one' | 'other' {
  return new Intl.PluralRules(language).select(Number(count ?? 0)) === 'one' ? 'one' : 'other'
}
