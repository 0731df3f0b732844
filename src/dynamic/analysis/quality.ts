import { CATEGORIES, type Category } from './kinds.ts'
import { START } from './measured-score.ts'
import type { ParsedCode } from './parse-code.ts'
import { findQuality, type QualityFinding } from './quality-checks.ts'

export type CategoryScores = Readonly<Record<Category, number>>

interface QualityIssue {
  readonly category: Category
  readonly severity: 'high' | 'medium' | 'low'
  /** Which rule; its text is in the catalogue. */
  readonly rule: string
  readonly line: number
}

export interface QualityAssessment {
  /** 0 to 1. */
  readonly score: number
  readonly categoryScores: CategoryScores
  readonly issues: readonly QualityIssue[]
  readonly confidence: number
}

const CATEGORY_WEIGHTS: CategoryScores = {
  readability: 0.2,
  errorHandling: 0.2,
  documentation: 0.15,
  testability: 0.15,
  performance: 0.15,
  securityAwareness: 0.15,
}

const PENALTY: Readonly<Record<QualityIssue['severity'], number>> = { high: 0.2, medium: 0.1, low: 0.05 }

/** Pure and deterministic: six categories from the syntax tree, weighted. */
export function assessQuality(code: ParsedCode): QualityAssessment {
  const { findings, functions, documented } = findQuality(code)
  const categoryScores = scoresOf(findings)
  if (functions > 0 && documented > 0)
    categoryScores.documentation = rounded(Math.min(1, documented / functions))
  const issues = findings.filter(isIssue)
  const total = CATEGORIES.reduce((sum, name) => sum + categoryScores[name] * CATEGORY_WEIGHTS[name], 0)
  const lines = code.javascript.trim().split('\n').length
  return {
    score: rounded(total),
    categoryScores,
    issues: issues.map(toIssue),
    confidence: confidenceOf(lines, issues.length),
  }
}

type Negative = QualityFinding & { severity: QualityIssue['severity'] }

function isIssue(finding: QualityFinding): finding is Negative {
  return finding.severity !== 'good'
}

function toIssue({ category, severity, rule, line }: Negative): QualityIssue {
  return { category, severity, rule, line }
}

function scoresOf(findings: readonly QualityFinding[]): Record<Category, number> {
  const scores: Record<Category, number> = { ...START }
  // What is good counts once for each rule, what is not for each place.
  const counted = new Set<string>()
  for (const finding of findings) {
    if (isIssue(finding)) {
      scores[finding.category] -= PENALTY[finding.severity]
    } else if (!counted.has(finding.rule)) {
      counted.add(finding.rule)
      scores[finding.category] += finding.rule === 'try-catch' ? 0.2 : 0.1
    }
  }
  for (const name of CATEGORIES) scores[name] = rounded(Math.min(1, Math.max(0, scores[name])))
  return scores
}

function confidenceOf(lines: number, issues: number): number {
  const length = [10, 50, 100].filter(limit => lines >= limit).length * 0.1
  const cleanliness = issues === 0 ? 0.2 : issues <= 3 ? 0.1 : issues > 10 ? -0.1 : 0
  return rounded(Math.min(0.95, Math.max(0.3, 0.5 + length + cleanliness)))
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
