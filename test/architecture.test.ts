import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findViolations, readSources, type SourceFile } from './architecture.ts'

const sources = readSources(join(import.meta.dirname, '..', 'src'))

/** The project's own sources with one file more. */
function withFile(path: string, text: string): SourceFile[] {
  return [...sources, { path, text }]
}

test('the sources keep the architecture', () => {
  expect(findViolations(sources)).toEqual([])
})

test('ARCHITECTURE.md names every folder, every room in it, and every file beside them', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'ARCHITECTURE.md'), 'utf8')
  // The page has a plan of its own.
  const paths = sources.map(({ path }) => path.split('/')).filter(([folder]) => folder !== 'dashboard')
  const names = paths.flatMap(([first = '', second = '', ...rest]) => [
    first,
    ...(rest.length === 0 ? [] : [second]),
  ])
  const words = new Set(text.split(/[^\w.-]+/).map(word => word.replace(/\.$/, '')))
  expect([...new Set(names)].filter(name => !words.has(name))).toEqual([])
})

describe('the check fails when a rule is broken', () => {
  test.each([
    [
      'core/bad.ts',
      "import { decide } from '../permissions/decide.ts'",
      "'core' may not import 'permissions'",
    ],
    [
      'core/bad.ts',
      "import type { Rule } from '../permissions/rules.ts'",
      "'core' may not import 'permissions'",
    ],
    [
      'tools/bad.ts',
      "import { decide } from '../permissions/decide.ts'",
      "'tools' may not import 'permissions'",
    ],
    [
      'sandbox/bad.ts',
      "const x = await import('../permissions/decide.ts')",
      "'sandbox' may not import 'permissions'",
    ],
    ['workspace/bad.ts', "import { run } from '../cli/run.ts'", "'workspace' may not import 'cli'"],
    ['tools/bad.ts', "import { spawn } from 'node:child_process'", "only 'sandbox' starts processes"],
    ['core/bad.ts', 'const home = process.env.HOME', "only 'config' reads the environment"],
    ['tools/bad.ts', "import pg from 'pg'", "only 'store' opens the database"],
    ['core/bad.ts', 'let x = 1\n'.repeat(401), 'at most 400'],
    ['helpers/bad.ts', 'export {}', "the folder 'helpers' is not in the architecture"],
  ])('%s: %s', (path, text, expected) => {
    const found = findViolations(withFile(path, text))
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(expected)
  })

  test('two files that import each other are a cycle', () => {
    const files = [
      { path: 'core/a.ts', text: "import { b } from './b.ts'" },
      { path: 'core/b.ts', text: "import { a } from './a.ts'" },
    ]
    expect(findViolations(files)).toEqual(['import cycle: core/a.ts → core/b.ts → core/a.ts'])
  })

  test('types alone make no cycle', () => {
    const files = [
      { path: 'core/a.ts', text: "import type { B } from './b.ts'" },
      { path: 'core/b.ts', text: "import { a } from './a.ts'" },
    ]
    expect(findViolations(files)).toEqual([])
  })

  test('a long file with a reason in its first line is fine', () => {
    const text = `// A table of flags, longer than other files because it is data.\n${'let x = 1\n'.repeat(500)}`
    expect(findViolations([{ path: 'core/table.ts', text }])).toEqual([])
  })
})
