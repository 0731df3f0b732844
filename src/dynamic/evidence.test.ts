import { expect, test } from 'vitest'
import { measuredScore } from './analysis/measured-score.ts'
import { parseJavaScript } from './analysis/parse-code.ts'
import { assessQuality } from './analysis/quality.ts'
import { analyzeSafety } from './analysis/safety.ts'
import { chooseCatalogue } from './catalogue/catalogue.ts'
import type { DynamicTool } from './definition.ts'
import { evidenceOf } from './evidence.ts'

const texts = chooseCatalogue('en', undefined)

function made(code: string): DynamicTool {
  const parsed = parseJavaScript(code)
  // Of a tool, evidence looks at these three only.
  return { code, safety: analyzeSafety(parsed), quality: assessQuality(parsed) } as DynamicTool
}

test('each part of a score says what was found, and on which line', async () => {
  const tool = made('function execute(p) {\n  var a = 1\n  return eval(p.x)\n}\n')
  const { safety, quality } = await evidenceOf(tool, texts)
  expect(safety.find(({ kind }) => kind === 'eval-usage')).toMatchObject({
    ...{ state: 'found', text: 'runs code from strings' },
    findings: [{ line: 3, severity: 'critical' }],
  })
  expect(safety.find(({ kind }) => kind === 'network-access')).toMatchObject({ state: 'clear', findings: [] })
  const readable = quality.find(({ category }) => category === 'readability')
  expect(readable?.findings).toEqual([
    { severity: 'medium', line: 2, text: 'Use const or let instead of var' },
  ])
  expect(readable?.score).toBeLessThan(0.5)
})

test('what nothing speaks for or against is not measured, and neither is a score of such parts alone', async () => {
  const plain = made('function execute() { return 1 }\n')
  expect((await evidenceOf(plain, texts)).quality.map(({ score }) => score)).toEqual(Array(6).fill(null))
  expect(measuredScore(plain.quality)).toBeNull()
  expect(measuredScore(made('function execute() { var a = 1; return a }\n').quality)).not.toBeNull()
})

test('code that cannot be read any more has no evidence, and can still be looked at', async () => {
  const broken = { ...made('function execute() { const a = 1; return a }\n'), code: 'function (((' }
  expect((await evidenceOf(broken, texts)).quality.every(({ score }) => score === null)).toBe(true)
})

test('what is good is said once, in each language', async () => {
  for (const language of ['en', 'ja', 'ko']) {
    const words = chooseCatalogue(language, undefined)
    const { quality } = await evidenceOf(
      made('function execute() { const a = 1; const b = 2; return a + b }\n'),
      words,
    )
    expect(quality[0]?.findings.map(({ text }) => text)).toEqual([words.strengths.const])
  }
})
