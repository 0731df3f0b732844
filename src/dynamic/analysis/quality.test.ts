import { describe, expect, it } from 'vitest'
import { parseJavaScript } from './parse-code.ts'
import { assessQuality } from './quality.ts'

describe('the quality assessment', () => {
  it('starts from fixed scores and adds what is good', () => {
    expect(assessQuality(parseJavaScript('function execute(p) { return p }'))).toEqual({
      score: 0.47,
      categoryScores: {
        readability: 0.5,
        errorHandling: 0.5,
        documentation: 0.3,
        testability: 0.5,
        performance: 0.5,
        securityAwareness: 0.5,
      },
      issues: [],
      confidence: 0.7,
    })
    const good = `/**
 * Fetches all.
 * @param params the addresses
 */
export async function execute(params) {
  const addresses = params.list.map(encodeURIComponent)
  try {
    return await Promise.all(addresses.map(load))
  } catch (error) {
    console.error(error)
    return []
  } finally {
    done()
  }
}`
    expect(assessQuality(parseJavaScript(good)).categoryScores).toEqual({
      readability: 0.7,
      errorHandling: 0.9,
      documentation: 1,
      testability: 0.6,
      performance: 0.6,
      securityAwareness: 0.5,
    })
  })

  it.each([
    ['var a = 1', 'var'],
    ['return params == 1', 'loose-equality'],
    ['return [1,2]', 'tight-comma'],
    ['try { f() } catch {}', 'empty-catch'],
    ['try { f() } finally { g() }', 'try-without-catch'],
    ['throw new Error()', 'empty-error'],
    ['return Math.random()', 'not-deterministic'],
    ['return new Date()', 'current-date'],
    ['return JSON.parse(JSON.stringify(params))', 'json-copy'],
    ['await a(); await b(); await c()', 'sequential-awaits'],
    ['document.body.innerHTML = params.x', 'inner-html'],
    ['const password = "hunter2"', 'hard-coded-secret'],
  ])('finds a problem in %s', (body, rule) => {
    const { issues } = assessQuality(parseJavaScript(`async function execute(params) { ${body} }`))
    expect(issues.map(issue => issue.rule)).toContain(rule)
  })

  it('does not complain about words in comments and strings, null checks, or awaits that need each other', () => {
    const body = `// var x == 1, Math.random()
  const text = "a,b == c"
  if (params == null) return text
  const a = await f()
  const b = await g(a)
  const c = await h(b)
  return c`
    expect(assessQuality(parseJavaScript(`async function execute(params) {\n${body}\n}`)).issues).toEqual([])
  })
})
