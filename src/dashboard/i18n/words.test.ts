import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFormat } from './format.ts'
import { defineWords, type Phrase, say, type Words } from './words.ts'

const folder = join(import.meta.dirname, '..')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path =>
  /(^|\/)words\.ts$/.test(path),
)
const catalogues = files.filter(path => !path.startsWith('i18n'))

/** Names of products and formats, and words that are the same everywhere. */
const SAME =
  /^(JSON|TOML|MCP|Kogu|OK|URL|API|ID|Mermaid|stdio|http|CSV|NDJSON|\W*|[A-Z]{2,}|\{\w+\}([\s·/%.,:+−-]*\{\w+\})*)$/

test('there are catalogues', () => {
  expect(catalogues.length).toBeGreaterThan(1)
})

test.each(catalogues)('%s says the same in every language', async path => {
  const { words } = (await import(join(folder, path))) as { words: Words<string> }
  const keys = Object.keys(words.en)
  for (const language of ['ja', 'ko'] as const) {
    expect(Object.keys(words[language])).toEqual(keys)
    for (const key of keys) {
      const [en, other] = [words.en[key], words[language][key]]
      if (en === undefined || other === undefined) throw new Error(`${language} lacks ${key}`)
      expect(placeholders(other), `${language} ${key}`).toEqual(placeholders(en))
      if (!SAME.test(formsOf(en)[0] ?? ''))
        expect(formsOf(other), `${language} ${key}`).not.toEqual(formsOf(en))
    }
  }
})

test('a phrase takes its values, its number and its form', () => {
  const words = defineWords({
    en: { files: { one: '{count} file in {folder}', other: '{count} files in {folder}' } },
    ja: { files: '{folder} に {count} 件' },
    ko: { files: '{folder}에 {count}개' },
  })
  expect(say(words, 'en', 'files', { count: 1, folder: 'src' })).toBe('1 file in src')
  expect(say(words, 'en', 'files', { count: 1200, folder: '{count}' })).toBe('1,200 files in {count}')
  expect(say(words, 'ja', 'files', { count: 2, folder: 'src' })).toBe('src に 2 件')
})

test('an unknown price is not free', () => {
  const format = createFormat('en')
  expect(format.money(null, 'unknown')).toBe('unknown')
  expect(format.money(0, 'unknown')).toBe('$0.00')
  expect(format.money(0.00123, 'unknown')).toBe('$0.0012')
})

function formsOf(phrase: Phrase): string[] {
  return typeof phrase === 'string' ? [phrase] : [phrase.one, phrase.other]
}

function placeholders(phrase: Phrase): string[] {
  const found = formsOf(phrase).flatMap(form => [...form.matchAll(/\{\w+\}/g)].map(([name]) => name))
  return [...new Set(found)].sort()
}
