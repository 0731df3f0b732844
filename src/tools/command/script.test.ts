import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CommandPlan, CommandStep } from '../../core/command.ts'
import { quoteWord } from '../../core/shell-words.ts'
import { onlyProgram, toScript } from './script.ts'

const find = (name: string): string => `/usr/bin/${name}`
const step = (argv: string[][], more: Partial<CommandStep & { kind: 'pipeline' }> = {}): CommandStep => ({
  kind: 'pipeline',
  join: 'first',
  negate: false,
  stages: argv.map(words => ({ argv: words, redirects: [] })),
  ...more,
})

function run(plan: CommandPlan): { stdout: string; code: number | null } {
  const { stdout, status } = spawnSync('/bin/sh', ['-c', toScript(plan, find)], {
    encoding: 'utf8',
    env: { HOME: '/nowhere' },
  })
  return { stdout, code: status }
}

describe('a plan as a script', () => {
  test('passes every word as it is, whatever is in it', () => {
    const word = fc.string({ unit: 'grapheme', maxLength: 12 }).filter(text => !text.includes('\0'))
    const nasty = fc.constantFrom(
      "'",
      '"',
      '$HOME',
      '`id`',
      '$(id)',
      '*',
      '~',
      '\\',
      '\n',
      '-n',
      '{a,b}',
      '!',
      '#',
      '; id',
      '| id',
      '',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(word, nasty), { minLength: 1, maxLength: 6 }), words => {
        const plan = { steps: [step([['printf', '%s\\0', ...words], ['cat']])] }
        expect(run(plan).stdout).toBe(words.map(each => `${each}\0`).join(''))
      }),
      { numRuns: 150 },
    )
  })

  test('joins, negates and pipes as the line did', () => {
    const ok = (text: string, join: CommandStep['join'], negate = false) =>
      step([['echo', text]], { join, negate })
    const bad = (join: CommandStep['join'], negate = false) => step([['false']], { join, negate })
    expect(run({ steps: [bad('first'), ok('a', '&&'), ok('b', '||')] }).stdout).toBe('b\n')
    expect(run({ steps: [bad('first', true), ok('a', '&&')] }).stdout).toBe('a\n')
    expect(run({ steps: [bad('first'), ok('a', ';')] })).toEqual({ stdout: 'a\n', code: 0 })
    expect(run({ steps: [ok('a', 'first'), bad(';')] }).code).toBe(1)
  })

  test('redirects, and text as input', () => {
    const stage = (argv: string[], redirects: object[]) => ({ argv, redirects }) as never
    const plan = (stages: never[]): CommandPlan => ({ steps: [step([], { stages })] })
    expect(
      run(
        plan([
          stage(['cat'], [{ kind: 'text', fd: 0, text: "it's $HOME\n" }]),
          stage(['tr', 'a-z', 'A-Z'], []),
        ]),
      ).stdout,
    ).toBe("IT'S $HOME\n")
    expect(run(plan([stage(['cat'], [{ kind: 'file', fd: 0, path: '/etc/hostname' }])])).code).toBe(0)
    expect(run(plan([stage(['ls', '/nope'], [{ kind: 'null', fd: 2 }])])).stdout).toBe('')
    expect(run(plan([stage(['ls', '/nope'], [{ kind: 'dup', fd: 2, of: 1 }])])).stdout).toContain('nope')
  })

  test('changes folders', () => {
    const steps: CommandStep[] = [
      { kind: 'cd', join: 'first', negate: false, directory: '/usr' },
      step([['false']], { join: ';' }),
      step([['pwd']], { join: ';' }),
    ]
    expect(run({ steps }).stdout).toBe('/usr\n')
  })

  test('is not needed for one program alone', () => {
    expect(onlyProgram({ steps: [step([['ls', '-la']])] })).toEqual(['ls', '-la'])
    expect(onlyProgram({ steps: [step([['ls'], ['wc']])] })).toBeUndefined()
    expect(onlyProgram({ steps: [step([['ls']], { negate: true })] })).toBeUndefined()
  })
})

test('a quoted word is one word to every shell', () => {
  expect(quoteWord("it's")).toBe(`'it'\\''s'`)
})
