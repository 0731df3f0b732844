/** The plan must pass the words that bash would pass. Real bash runs the same lines with programs that print their words. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { analyzeCommand } from './analyze.ts'
import { loadCorpus } from './corpus/testing.ts'
import type { PlanWord, SafePlan } from './types.ts'

const base = mkdtempSync(join(tmpdir(), 'kogu-plan-'))
const cwd = join(base, 'empty')
const stubs = join(base, 'bin')
const bare = join(base, 'bare')
const context = { cwd, home: join(base, 'home'), workspace: cwd }

beforeAll(() => {
  for (const directory of [cwd, bare, stubs, context.home, join(cwd, 'src')])
    mkdirSync(directory, { recursive: true })
  const stub = join(stubs, '.stub')
  writeFileSync(stub, `#!/bin/sh\nprintf '%s\\0' "\${0##*/}" "$@" '\u0001' >> "$LOG"\n`)
  chmodSync(stub, 0o755)
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** Words of a plan when no pattern matches and every step succeeds. */
function planned(plan: SafePlan): string[][] {
  const calls: string[][] = []
  let status = true
  for (const step of plan.steps) {
    const runs = step.join === 'first' || step.join === ';' || (step.join === '&&') === status
    if (!runs) continue
    if (step.kind === 'pipeline') for (const stage of step.stages) calls.push(stage.argv.map(text))
    status = !step.negate
  }
  return calls
}

function text(word: PlanWord): string {
  return typeof word === 'string' ? word : word.literal
}

function byBash(line: string, programs: string[], directory = cwd): string[][] {
  const log = join(base, 'log')
  writeFileSync(log, '')
  for (const program of new Set(programs)) {
    try {
      symlinkSync(join(stubs, '.stub'), join(stubs, program))
    } catch {
      // It is there already.
    }
  }
  const off = 'enable -n echo printf test [ pwd true false kill type command : 2>/dev/null\n'
  execFileSync('/bin/bash', ['--norc', '--noprofile', '-c', `${off}${line}`], {
    cwd: directory,
    env: { PATH: stubs, HOME: context.home, LOG: log },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  return readFileSync(log, 'utf8')
    .split('\u0001\u0000')
    .filter(call => call !== '')
    .map(call => call.split('\u0000').slice(0, -1))
}

test('safe lines of the corpus pass the same words as bash', () => {
  // Lines that look names up, use absolute programs, leave the test folder or end with failure cannot use the stubs.
  const special =
    /\b(?:command|type|time|cd)\b|^\/|\[\[|\bfalse\b|^!|^:|\/dev\/std|<\s|\||\$\?|^\w+=|&& |missing|for /
  const lines = loadCorpus('safe').filter((entry, i) => i % 8 === 0 && !special.test(entry.command))
  expect(lines.length).toBeGreaterThan(50)
  for (const { command } of lines) {
    const { plan, globs } = analyzeCommand(command, { ...context, cwd: bare })
    // Patterns outside the empty folder match something.
    if (globs.some(glob => !glob.pattern.startsWith(bare))) continue
    expect([command, plan === null]).toEqual([command, false])
    const calls = plan === null ? [] : planned(plan)
    const programs = calls.map(call => call[0] ?? '')
    expect([command, byBash(command, programs, bare)]).toEqual([command, calls])
  }
}, 120_000)

test('lists run in the order of bash', () => {
  const lines = [
    'ls a && pwd || whoami',
    'ls a || pwd && whoami',
    'ls; pwd; echo x',
    '! ls && pwd; whoami',
    '! ls || pwd',
    'X=src; ls $X "$X/b"; echo $X',
    '{ ls; pwd; } && whoami',
    'ls 2>&1; pwd > /dev/null',
    'cd src && ls ../a; cd ..; pwd',
    '(cd src && ls)',
  ]
  for (const line of lines) {
    const { plan } = analyzeCommand(line, context)
    expect([line, plan !== null]).toEqual([line, true])
    if (plan !== null)
      expect([line, byBash(line, ['ls', 'pwd', 'whoami', 'echo', 'true'])]).toEqual([
        line,
        planned(plan).filter(call => call[0] !== 'true'),
      ])
  }
})

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are shell expansions
const fragment = fc.constantFrom(
  'a',
  'B',
  '1',
  '-',
  '--',
  '.',
  '..',
  '/',
  '=',
  ',',
  ':',
  '@',
  '%',
  '+',
  '^',
  '_',
  '#',
  '!',
  '~',
  '~/',
  '*',
  '?',
  '[',
  ']',
  '[ab]',
  '[!a]',
  '{',
  '}',
  '{a,b}',
  '{1..3}',
  '{a,b}c',
  '{,x}',
  '{a}',
  '{}',
  '{x,{y,z}}',
  '{3..1}',
  '{01..03}',
  '{a..c}',
  "'q r'",
  '"q r"',
  '"q\\"r"',
  "'*'",
  '"*"',
  '""',
  "''",
  '\\*',
  '\\ ',
  '\\a',
  '\\~',
  '\\{',
  '\\\\',
  "$'\\t'",
  "$'a\\x41'",
  "$'\\''",
  '$HOME',
  '"$HOME"',
  '${HOME}',
  '"${PWD}"',
  '$X',
  '"$X"',
  '"$Y"',
  '$Y',
  '$Z',
  '"$Z"',
  '\\\n',
  'é',
  '"a$"',
  '$',
  'a=~',
  'a=~/b',
  'x=',
  '"\\$X"',
  '"`"',
  '#x',
  '"{a,b}"',
  "{'a',b}",
  '{a,"b"}',
  '{a,b',
  'a,b}',
  '*.ts',
  '**',
  'a{b,c}*',
)
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: these are shell expansions

test('random words are expanded as bash expands them, or not at all', () => {
  const word = fc.array(fragment, { minLength: 1, maxLength: 4 }).map(parts => parts.join(''))
  const line = fc.array(word, { minLength: 1, maxLength: 3 }).map(words => words.join(' '))
  const assigned = "X=v1; Y='two words'; Z=; "
  const seed = Number(process.env.KOGU_FUZZ_SEED ?? 7)
  const lines = fc.sample(line, { numRuns: 6000, seed })
  const cases: { line: string; expected: string[] }[] = []
  for (const sample of lines) {
    const { plan } = analyzeCommand(`${assigned}echo ${sample}`, { ...context, cwd: bare })
    const last = plan?.steps.at(-1)
    if (last?.kind !== 'pipeline' || last.stages.length !== 1 || plan === null || plan.steps.length !== 4)
      continue
    const words = last.stages[0]?.argv ?? []
    // `/*` and `../*` match something on every machine.
    if (words.some(item => typeof item !== 'string' && item.literal.includes('/'))) continue
    cases.push({ line: sample, expected: words.slice(1).map(item => text(item)) })
  }
  expect(cases.length).toBeGreaterThan(1500)
  // One bash for all of them: a function prints the words that it gets.
  const script = [
    'show() { printf "%s\\0" "$@"; printf "\\1\\0"; }',
    "X=v1; Y='two words'; Z=",
    ...cases.map(({ line: sample }) => `show ${sample}`),
  ].join('\n')
  const file = join(base, 'script.sh')
  writeFileSync(file, script)
  const output = execFileSync('/bin/bash', ['--norc', '--noprofile', file], {
    cwd: bare,
    env: { PATH: '/usr/bin:/bin', HOME: context.home, LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const results = output.split('\u0001\u0000').slice(0, -1)
  expect(results.length).toBe(cases.length)
  const wrong = cases.flatMap(({ line: sample, expected }, i) => {
    const words = (results[i] ?? '').split('\u0000').slice(0, -1)
    // `printf '%s\0'` without words prints one empty word.
    const actual = expected.length === 0 && words.length === 1 && words[0] === '' ? [] : words
    return JSON.stringify(actual) === JSON.stringify(expected) ? [] : [{ sample, expected, actual }]
  })
  expect(wrong.map(item => JSON.stringify(item))).toEqual([])
})
