import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

// What a browser loads for the first screen, and for each further part. The build of the global set-up is looked at.

const folder = join(import.meta.dirname, '../dist/dashboard')
const manifest: Readonly<Record<string, Chunk>> = JSON.parse(
  readFileSync(join(folder, 'manifest.json'), 'utf8'),
)

interface Chunk {
  readonly file: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly dynamicImports?: readonly string[]
  readonly css?: readonly string[]
}

const KB = 1_000
const size = (file: string): number => gzipSync(readFileSync(join(folder, file))).length

function reach(keys: readonly string[], next: (chunk: Chunk) => readonly string[]): Set<string> {
  const seen = new Set<string>()
  const visit = (key: string): void => {
    const chunk = manifest[key]
    if (seen.has(key) || chunk === undefined) return
    seen.add(key)
    next(chunk).forEach(visit)
  }
  keys.forEach(visit)
  return seen
}

const entries = Object.keys(manifest).filter(key => manifest[key]?.isEntry === true)
const initial = reach(entries, ({ imports = [] }) => imports)
// Diagrams are drawn by Mermaid, whose parts are loaded only with one.
const diagrams = reach(
  Object.keys(manifest).filter(key => /node_modules\/mermaid\//.test(key)),
  ({ imports = [], dynamicImports = [] }) => [...imports, ...dynamicImports].filter(key => !initial.has(key)),
)

test('the first screen loads at most 240 KB of JavaScript and 40 KB of CSS', () => {
  const chunks = [...initial].flatMap(key => manifest[key] ?? [])
  const sum = (files: readonly string[]): number =>
    [...new Set(files)].reduce((total, file) => total + size(file), 0)
  expect(entries).toHaveLength(1)
  expect(sum(chunks.map(({ file }) => file))).toBeLessThan(240 * KB)
  expect(sum(chunks.flatMap(({ css = [] }) => css))).toBeLessThan(40 * KB)
})

test('every other part has at most 150 KB', () => {
  const others = Object.entries(manifest).filter(([key]) => !initial.has(key) && !diagrams.has(key))
  const tooLarge = others.filter(([, { file }]) => file.endsWith('.js') && size(file) > 150 * KB)
  expect(others.length).toBeGreaterThan(10)
  expect(tooLarge.map(([key, { file }]) => `${key} ${size(file)}`)).toEqual([])
})
