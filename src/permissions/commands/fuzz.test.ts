/** Random lines (for KOGU_FUZZ_SECONDS, to look further): no crash, no hang, nothing unparsable called safe, nothing hidden by noise. */
import fc from 'fast-check'
import { parse } from 'unbash'
import { expect, test } from 'vitest'
import { analyzeCommand } from './analyze.ts'
import { loadCorpus } from './corpus/testing.ts'
import type { CommandAnalysis } from './types.ts'

const context = { cwd: '/home/dev/ws', home: '/home/dev', workspace: '/home/dev/ws' }
const seconds = Number(process.env.KOGU_FUZZ_SECONDS ?? 0)
const options =
  seconds === 0
    ? { numRuns: 1500 }
    : { interruptAfterTimeLimit: (seconds * 1000) / 4, numRuns: 10_000_000, markInterruptAsFailure: false }
const timeout = seconds * 1000 + 60_000

function check(line: string): CommandAnalysis {
  const analysis = analyzeCommand(line, context)
  expect(analysis.level === 'safe').toBe(analysis.plan !== null)
  if (analysis.level !== 'safe') return analysis
  expect(parse(line).errors ?? []).toEqual([])
  expect(analysis.unresolved).toBe(false)
  expect(analysis.access.filter(item => item.kind !== 'file_read')).toEqual([])
  expect(analysis.effects.filter(effect => effect !== 'reads-files')).toEqual([])
  return analysis
}

const known = [...loadCorpus('safe'), ...loadCorpus('work'), ...loadCorpus('hostile')].map(
  entry => entry.command,
)
const token = fc.constantFrom(
  ...new Set(known.flatMap(line => line.split(/(\s+|[;|&<>(){}$"'`])/)).filter(part => part !== '')),
)

test('random bytes and random text', { timeout }, () => {
  const text = fc.oneof(
    fc.string({ maxLength: 200, unit: 'binary' }),
    fc.string({ maxLength: 200, unit: 'grapheme' }),
  )
  fc.assert(
    fc.property(text, line => void check(line)),
    options,
  )
})

test('tokens of real lines in random order', { timeout }, () => {
  const line = fc.array(token, { maxLength: 25 }).map(parts => parts.join(''))
  fc.assert(
    fc.property(line, text => void check(text)),
    options,
  )
})

test('real lines with parts cut, doubled or swapped', { timeout }, () => {
  const mutation = fc.record({
    line: fc.constantFrom(...known),
    other: fc.constantFrom(...known),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    to: fc.double({ min: 0, max: 1, noNaN: true }),
    joint: fc.constantFrom(
      '',
      ' ',
      ';',
      '|',
      '&&',
      '\n',
      ' $(',
      ' "',
      " '",
      ' <(',
      ' {',
      ' (',
      '`',
      '\\',
      ' > ',
      ' <<X\n',
    ),
  })
  fc.assert(
    fc.property(mutation, ({ line, other, at, to, joint }) => {
      const cut = line.slice(0, Math.floor(at * (line.length + 1)))
      void check(cut + joint + other.slice(Math.floor(to * (other.length + 1))))
    }),
    options,
  )
})

/** Commands from a grammar; `rm -rf /` is put in a place where it is certainly run. */
const { script } = fc.letrec<{ script: string; command: string }>(tie => ({
  command: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('ls', 'pwd', 'cat a "b c"', 'X=1 ls', 'echo $(pwd)', 'make'),
    tie('script').map(inner => `(${inner})`),
    tie('script').map(inner => `{ ${inner}; }`),
    tie('script').map(inner => `if ls; then ${inner}; fi`),
    tie('script').map(inner => `while ls; do ${inner}; done`),
    tie('script').map(inner => `for i in 1 2; do ${inner}; done`),
    tie('script').map(inner => `echo "$(${inner})"`),
    tie('script').map(inner => `cat <(${inner})`),
    tie('script').map(inner => `case a in a) ${inner};; esac`),
    tie('script').map(inner => `f() { ${inner}; }`),
    tie('script').map(inner => `bash -c '${inner.replaceAll("'", "'\\''")}'`),
    tie('script').map(inner => `eval "${inner.replace(/["\\$`]/g, '\\$&')}"`),
  ),
  script: fc
    .tuple(tie('command'), fc.constantFrom(';', '&&', '||', '|', '\n', ';HERE;', '!'), tie('command'))
    .map(([left, operator, right]) =>
      operator === '!'
        ? `! ${left}; ${right}`
        : operator === ';HERE;'
          ? `${left}; HERE; ${right}`
          : `${left} ${operator} ${right}`,
    ),
}))

test('a forbidden command is found wherever a grammar puts it', { timeout }, () => {
  const bad = fc.constantFrom(
    'rm -rf /',
    'sudo rm -fr ~',
    'mkfs.ext4 /dev/sda',
    'reboot',
    'nice dd of=/dev/sda if=x',
  )
  fc.assert(
    fc.property(script, bad, (text, command) => {
      fc.pre(text.includes('HERE') && text.length < 2000)
      const line = text.replace('HERE', command)
      const analysis = check(line)
      const limited = analysis.reasons.some(reason => /too (?:long|many)|cannot be read/.test(reason.text))
      if (!limited) expect([line, analysis.level]).toEqual([line, 'forbidden'])
    }),
    options,
  )
})
