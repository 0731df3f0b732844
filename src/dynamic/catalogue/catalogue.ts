import type { SafetyKind } from '../analysis/kinds.ts'
import { en } from './en.ts'
import { ja } from './ja.ts'
import { ko } from './ko.ts'

/** Every text of dynamic tools in one language. The layouts (catalogue/layouts.ts) are the same in all of them. */
export interface Catalogue {
  readonly created: (name: string) => string
  readonly labels: Readonly<Record<Label, string>>
  readonly none: string
  readonly neverUsed: string
  readonly manual: string
  readonly finished: (name: string) => string
  readonly failed: (name: string) => string
  readonly deleted: (name: string, id: string) => string
  readonly listTitle: (count: number) => string
  readonly moreTools: (left: number, limit: number) => string
  readonly emptyList: string
  /** There are tools, and none that was asked for. */
  readonly noMatch: string
  readonly useLine: (count: number, lastUsed: string) => string
  readonly errors: Errors
  /** What to do about an error. */
  readonly remedies: Readonly<Record<Remedy, string>>
  readonly lowScore: string
  readonly missingWall: string
  readonly reflection: Reflection
  readonly critical: (count: number) => string
  readonly high: (count: number) => string
  readonly safety: Readonly<Record<SafetyKind, { readonly issue: string; readonly advice: string }>>
  readonly quality: Readonly<Record<string, string>>
  /** What speaks for the code. */
  readonly strengths: Readonly<Record<string, string>>
  readonly examples: (passed: number, total: number) => string
}

type Label =
  | 'id'
  | 'safety'
  | 'quality'
  | 'verification'
  | 'description'
  | 'parameters'
  | 'usage'
  | 'time'
  | 'result'
  | 'error'
  | 'confidence'
  | 'tags'

type Remedy =
  | 'nameRequired'
  | 'nameFormat'
  | 'nameReserved'
  | 'duplicate'
  | 'tooMany'
  | 'critical'
  | 'parameterName'
  | 'notFound'
  | 'missing'
  | 'unsafe'
  | 'quarantined'
  | 'timeout'
  | 'run'
  | 'confirm'

interface Errors {
  readonly nameRequired: string
  readonly nameFormat: string
  readonly nameLength: string
  readonly nameReserved: (name: string) => string
  readonly duplicate: (name: string, id: string) => string
  readonly tooMany: (most: number) => string
  readonly critical: string
  readonly invalidCode: (why: string) => string
  readonly noExecute: string
  readonly descriptionRequired: string
  readonly invalidParameter: (name: string, why: string) => string
  readonly parameterName: string
  readonly noTarget: string
  readonly notFound: (target: string) => string
  readonly missing: (names: string) => string
  readonly unknownParameter: (name: string) => string
  /** `expected`: in no language, `number, ≤ 10`. */
  readonly invalidValue: (name: string, expected: string) => string
  readonly unsafe: (why: string) => string
  readonly changed: string
  readonly quarantined: (why: string) => string
  readonly timeout: (ms: number) => string
  readonly memory: (mb: number) => string
  readonly output: string
  readonly crashed: string
  readonly run: (why: string) => string
  readonly confirm: string
  readonly notDeclared: (what: string) => string
}

interface Reflection {
  readonly title: string
  readonly analysis: string
  readonly failures: string
  readonly recommended: string
  readonly reason: string
  readonly next: string
  readonly command: string
  readonly direct: string
  readonly improve: string
  readonly notNeeded: string
  readonly reusable: string
  readonly yes: string
  readonly no: string
  readonly repeated: (tool: string, count: number) => string
  readonly keywords: Readonly<Record<KeywordGroup, string>>
  readonly failedOften: (count: number) => string
  readonly chain: string
  readonly errorSeen: string
  readonly existing: (name: string) => string
  readonly proposal: string
}

export type KeywordGroup = 'repetition' | 'conversion' | 'api' | 'validation' | 'aggregation'

const CATALOGUES: Readonly<Record<string, Catalogue>> = { en, ja, ko }

/** The configured language, then that of the Kogu process, else English; never that of a caller. */
export function chooseCatalogue(language: string, locale: string | undefined): Catalogue {
  const wanted = language === 'auto' ? (locale ?? '').slice(0, 2).toLowerCase() : language
  return CATALOGUES[wanted] ?? en
}
