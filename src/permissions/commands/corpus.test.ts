import { expect, test } from 'vitest'
import { ASKED_BEFORE } from '../contained.ts'
import { analyzeCommand } from './analyze.ts'
import { type CorpusEntry, loadCorpus } from './corpus/testing.ts'

const context = { cwd: '/home/dev/ws', home: '/home/dev', workspace: '/home/dev/ws' }
const ASKS = ['caution', 'interactive', 'unknown', 'dangerous']

function verdict({ command }: CorpusEntry): string {
  return analyzeCommand(command, context).level
}

/** Entries whose verdict differs, as readable lines. */
function wrong(entries: CorpusEntry[], accepts: (expected: string, level: string) => boolean): string[] {
  return entries
    .filter(entry => !accepts(entry.expected, verdict(entry)))
    .map(entry => `${entry.command}: expected ${entry.expected}, got ${verdict(entry)}`)
}

test('everyday read-only lines do not ask', () => {
  expect(wrong(loadCorpus('safe'), (_, level) => level === 'safe')).toEqual([])
})

test('lines that only read off the fast path are nothing that has to be asked about before', () => {
  const bad = loadCorpus('contained').filter(({ command }) => {
    const { level, effects } = analyzeCommand(command, context)
    return !['caution', 'unknown'].includes(level) || effects.some(effect => ASKED_BEFORE.has(effect))
  })
  expect(bad.map(({ command }) => command)).toEqual([])
})

test('everyday work asks, with the level that the corpus names', () => {
  const accepts = (expected: string, level: string) =>
    expected === 'ask' ? ASKS.includes(level) : level === expected
  expect(wrong(loadCorpus('work'), accepts)).toEqual([])
})

test('hostile lines ask or are forbidden, exactly as the corpus says', () => {
  const accepts = (expected: string, level: string) =>
    expected === 'ask' ? ASKS.includes(level) : level === expected
  expect(wrong(loadCorpus('hostile'), accepts)).toEqual([])
})

test('a line that goes on in the next one is judged as the same line in one, wherever it is broken', () => {
  // Inside single quotes, comments and here-documents a break is text.
  const lines = loadCorpus('hostile').filter(({ command }) => !/['#\\\n]|<</.test(command))
  expect(lines.length).toBeGreaterThan(700)
  const weaker = lines.flatMap(({ command }) => {
    const { score } = analyzeCommand(command, context)
    const broken = Array.from(
      { length: command.length + 1 },
      (_, at) => `${command.slice(0, at)}\\\n${command.slice(at)}`,
    )
    return broken.filter(line => analyzeCommand(line, context).score < score)
  })
  expect(weaker).toEqual([])
})

test('full-screen programs are refused with another way named, REPLs ask', () => {
  for (const { expected, command } of loadCorpus('interactive')) {
    const analysis = analyzeCommand(command, context)
    expect([command, analysis.interactiveProgram !== null]).toEqual([command, expected === 'refuse'])
    expect([command, analysis.plan]).toEqual([command, null])
    if (expected === 'interactive') expect([command, analysis.level]).toEqual([command, 'interactive'])
    if (expected === 'refuse') expect(analysis.interactiveProgram?.instead).toMatch(/\w/)
  }
})

test('the corpus is as large as promised', () => {
  const sizes = (['safe', 'contained', 'work', 'hostile', 'interactive'] as const).map(
    name => loadCorpus(name).length,
  )
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(1500)
})

test('safe and a plan go together, on every line of the corpus', () => {
  for (const name of ['safe', 'work', 'hostile', 'interactive'] as const) {
    for (const { command } of loadCorpus(name)) {
      const { level, plan, score } = analyzeCommand(command, context)
      expect([command, level === 'safe']).toEqual([command, plan !== null])
      expect([command, level === 'safe']).toEqual([command, score === 0])
    }
  }
})

test('what is safe after another line makes no difference to what follows', () => {
  for (const { command } of loadCorpus('safe')) {
    if (command.includes('<<') || /#|\\$|;\s*$/.test(command)) continue
    expect([command, analyzeCommand(`${command}\nrm -rf /`, context).level]).toEqual([command, 'forbidden'])
    expect([command, analyzeCommand(`${command}; touch x`, context).level]).not.toEqual([command, 'safe'])
    expect([command, analyzeCommand(`${command} > out`, context).level]).not.toEqual([command, 'safe'])
    expect([command, analyzeCommand(`${command} && rm x`, context).level]).toEqual([command, 'dangerous'])
    expect([command, analyzeCommand(`sudo ${command}`, context).level]).not.toEqual([command, 'safe'])
  }
})
