import { CATEGORIES } from './kinds.ts'
import type { CategoryScores, QualityAssessment } from './quality.ts'

/** Where each score begins. */
export const START: CategoryScores = {
  readability: 0.5,
  errorHandling: 0.5,
  documentation: 0.3,
  testability: 0.5,
  performance: 0.5,
  securityAwareness: 0.5,
}

/** Null when nothing in the code spoke for or against it: every score is then only where it begins. */
export function measuredScore({ score, categoryScores, issues }: QualityAssessment): number | null {
  const isMeasured = issues.length > 0 || CATEGORIES.some(name => categoryScores[name] !== START[name])
  return isMeasured ? score : null
}
