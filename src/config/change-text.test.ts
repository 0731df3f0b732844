import fc from 'fast-check'
import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { setInText, unsetInText } from './change-text.ts'

const FILE = `# What I like.
mode = "ask"   # careful

[limits]       # of one run
max_turns = 5  # enough
# max_cost = 1

[providers.local]
kind = "openai-compatible"
models = { "qwen3.5" = { context = 8 } }

[[permissions.rules]]
id = "a"
`

describe('setting a key', () => {
  test('changes its value and nothing else', () => {
    expect(setInText(FILE, ['mode'], 'auto')).toBe(FILE.replace('"ask"', '"auto"'))
    expect(setInText(FILE, ['limits', 'max_turns'], 7)).toBe(FILE.replace('= 5', '= 7'))
    expect(setInText('a = [\n  1, # one\n  2\n] # end\n', ['a'], [3])).toBe('a = [3] # end\n')
  })

  test('puts a new key behind the others of its table', () => {
    expect(setInText(FILE, ['limits', 'max_cost'], 0.5)).toBe(
      FILE.replace('# enough\n', '# enough\nmax_cost = 0.5\n'),
    )
    expect(setInText(FILE, ['language'], 'en')).toBe(
      FILE.replace('# careful\n', '# careful\nlanguage = "en"\n'),
    )
  })

  test('makes the table where there is none', () => {
    expect(setInText(FILE, ['defaults', 'model'], 'x/"y"')).toBe(`${FILE}\n[defaults]\nmodel = "x/\\"y\\""\n`)
    expect(setInText('', ['limits', 'max_turns'], 1)).toBe('[limits]\nmax_turns = 1\n')
  })

  test('follows dotted keys where a second table would be an error', () => {
    expect(setInText('limits.max_turns = 5\n', ['limits', 'max_cost'], 1)).toBe(
      'limits.max_turns = 5\nlimits.max_cost = 1\n',
    )
  })

  test('changes a value inside an inline table, and refuses to add one there', () => {
    const path = ['providers', 'local', 'models', 'qwen3.5', 'context']
    expect(setInText(FILE, path, 9)).toBe(FILE.replace('context = 8', 'context = 9'))
    expect(setInText(FILE, [...path.slice(0, -1), 'max_output'], 9)).toBeUndefined()
  })

  test('keeps line ends as they are, also where the last one is missing', () => {
    expect(setInText('[limits]\r\nmax_turns = 5', ['limits', 'max_cost'], 1)).toBe(
      '[limits]\r\nmax_turns = 5\r\nmax_cost = 1\r\n',
    )
  })

  test('does not touch elements of lists of tables', () => {
    expect(setInText(FILE, ['permissions', 'rules', 'id'], 'b')).toBeUndefined()
  })
})

describe('taking a key out', () => {
  test('takes its line, with the comment on it', () => {
    expect(unsetInText(FILE, ['limits', 'max_turns'])).toBe(FILE.replace('max_turns = 5  # enough\n', ''))
    expect(unsetInText(FILE, ['mode'])).toBe(FILE.replace('mode = "ask"   # careful\n', ''))
  })

  test('takes a table with all that is in it, and leaves comments of the next one', () => {
    expect(unsetInText(FILE, ['limits'])).toBe(
      FILE.replace('[limits]       # of one run\nmax_turns = 5  # enough\n', ''),
    )
    const nested = '[a]\nx = 1\n[a.b]\ny = 2\n# about c\n[c]\nz = 3\n'
    expect(unsetInText(nested, ['a'])).toBe('# about c\n[c]\nz = 3\n')
  })

  test('refuses what is part of an inline table', () => {
    expect(unsetInText(FILE, ['providers', 'local', 'models', 'qwen3.5', 'context'])).toBeUndefined()
  })
})

test('what was set and taken out again leaves the text as it was, whatever the text is', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'a b')
  const value = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.array(fc.string(), { maxLength: 2 }))
  const line = fc.oneof(
    fc.tuple(key, fc.integer()).map(([name, number]) => `${JSON.stringify(name)} = ${number} # "]`),
    key.map(name => `[${JSON.stringify(name)}] # [x]`),
    key.map(name => `[[list.${JSON.stringify(name)}]]`),
    fc.constantFrom('', '# a = 1', '  # [a]', 's = """\n[a]\nb = 1\n"""'),
  )
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }),
      fc.array(key, { minLength: 1, maxLength: 3 }),
      value,
      (lines, path, given) => {
        const text = lines.join('\n')
        const before = read(text)
        if (before === undefined) return
        const changed = setInText(text, path, given)
        if (changed === undefined) return
        let at: unknown = parse(changed)
        for (const part of path) at = (at as Record<string, unknown>)[part]
        expect(at).toEqual(given)
        for (const kept of lines.filter(each => each.trimStart().startsWith('#')))
          expect(changed).toContain(kept)
      },
    ),
    { numRuns: 2_000 },
  )
})

function read(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}
