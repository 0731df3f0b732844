import { CATEGORIES, type Category, SAFETY_KINDS, type SafetyKind } from './analysis/kinds.ts'
import { CodeError, parseCode } from './analysis/parse-code.ts'
import { findQuality, type QualityFinding, type QualityFindings } from './analysis/quality-checks.ts'
import type { Severity } from './analysis/safety.ts'
import type { Catalogue } from './catalogue/catalogue.ts'
import type { DynamicTool } from './definition.ts'

/** What the scores of a tool are made of, each part with its lines. */
export interface Evidence {
  readonly safety: readonly SafetyCheck[]
  readonly quality: readonly QualityCheck[]
}

interface SafetyCheck {
  readonly kind: SafetyKind
  /** What it would mean: `uses the network`. */
  readonly text: string
  /** `declared`: found, and part of what a person allowed the tool. */
  readonly state: 'clear' | 'declared' | 'found'
  readonly findings: readonly { severity: Severity; text: string; line: number }[]
}

interface QualityCheck {
  readonly category: Category
  /** Null when nothing in the code speaks for or against it: its score is only where every score begins. */
  readonly score: number | null
  readonly findings: readonly { severity: QualityFinding['severity']; text: string; line: number }[]
}

export async function evidenceOf(
  { code, safety, quality }: DynamicTool,
  texts: Catalogue,
): Promise<Evidence> {
  const { findings, documented } = await findingsIn(code)
  return {
    safety: SAFETY_KINDS.map(kind => {
      const found = safety.issues.filter(({ type }) => type === kind)
      const isDeclared = safety.allowedOperations.includes(kind)
      return {
        kind,
        text: texts.safety[kind].issue,
        state: found.length > 0 ? 'found' : isDeclared ? 'declared' : 'clear',
        findings: found.map(({ severity, what, line }) => ({ severity, text: what, line })),
      }
    }),
    quality: CATEGORIES.map(category => {
      const found = findings.filter(finding => finding.category === category).filter(isCounted)
      const isMeasured = found.length > 0 || (category === 'documentation' && documented > 0)
      return {
        category,
        score: isMeasured ? quality.categoryScores[category] : null,
        findings: found.slice(0, MOST_FINDINGS).map(({ severity, rule, line }) => ({
          ...{ severity, line },
          text: (severity === 'good' ? texts.strengths : texts.quality)[rule] ?? rule,
        })),
      }
    }),
  }
}

/** The code of a file that somebody changed by hand may be none: then nothing speaks for it. */
async function findingsIn(code: string): Promise<Pick<QualityFindings, 'findings' | 'documented'>> {
  try {
    return findQuality(await parseCode(code))
  } catch (error) {
    if (error instanceof CodeError) return { findings: [], documented: 0 }
    throw error
  }
}

/** What is good counts once for each rule, as in the score. */
function isCounted(
  { severity, rule }: QualityFinding,
  index: number,
  all: readonly QualityFinding[],
): boolean {
  return severity !== 'good' || all.findIndex(other => other.rule === rule) === index
}

/** A file of a thousand long lines says it once too often. */
const MOST_FINDINGS = 50
