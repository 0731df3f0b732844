import type { AnyNode } from 'acorn'
import { fullAncestor } from 'acorn-walk'
import { readBindings } from './bindings.ts'
import { SAFETY_KINDS, type SafetyKind } from './kinds.ts'
import type { ParsedCode } from './parse-code.ts'
import { findIn } from './safety-checks.ts'

export type Severity = 'critical' | 'high' | 'medium' | 'low'

interface SafetyIssue {
  readonly type: SafetyKind
  readonly severity: Severity
  /** What was found, as in the code: `fetch(`, `new Function`. */
  readonly what: string
  readonly line: number
}

export interface SafetyAnalysis {
  /** 0 to 1. */
  readonly score: number
  readonly issues: readonly SafetyIssue[]
  /** Kinds that were found and are covered by the tool's declared capabilities. */
  readonly allowedOperations: readonly SafetyKind[]
  /** Kinds that keep the tool from being created. */
  readonly blockedOperations: readonly SafetyKind[]
  readonly isSafe: boolean
  readonly confidence: number
}

export interface SafetyOptions {
  /** Kinds that the tool's declared capabilities cover: found, but not counted. */
  readonly allowed?: readonly SafetyKind[]
  readonly strict?: boolean
}

const WEIGHTS: Readonly<Record<Severity, number>> = {
  critical: 0.5,
  high: 0.25,
  medium: 0.1,
  low: 0.05,
}
const STRICT_FACTOR = 1.5

/** Pure and deterministic: the score is 1 less the weight of every finding. */
export function analyzeSafety(code: ParsedCode, options: SafetyOptions = {}): SafetyAnalysis {
  const { allowed = [], strict = false } = options
  const found = findIssues(code)
  const issues = found.filter(({ type }) => !allowed.includes(type))
  const factor = strict ? STRICT_FACTOR : 1
  const penalty = issues.reduce((total, { severity }) => total + WEIGHTS[severity] * factor, 0)
  const score = Math.round(Math.min(1, Math.max(0, 1 - penalty)) * 100) / 100
  const critical = issues.filter(({ severity }) => severity === 'critical')
  const blockedOperations = kindsOf(critical)
  return {
    score,
    issues,
    allowedOperations: kindsOf(found.filter(({ type }) => allowed.includes(type))),
    blockedOperations,
    isSafe: score >= (strict ? 0.8 : 0.5) && blockedOperations.length === 0,
    confidence: issues.length === 0 ? 0.9 : critical.length > 0 ? 0.5 : 0.7,
  }
}

function findIssues({ program }: ParsedCode): SafetyIssue[] {
  const bindings = readBindings(program)
  const issues: SafetyIssue[] = []
  const seen = new Set<string>()
  const names = new Set<string>()
  fullAncestor(program, (node, _state, ancestors) => {
    const each = node as AnyNode // acorn-walk's own type is the base of it
    const parent = ancestors.at(-2) as AnyNode | undefined // as above
    for (const { type, severity, what, once } of findIn(each, parent, bindings)) {
      const line = each.loc?.start.line ?? 1
      // The same words can be reached as a call and as its callee.
      const key = `${type} ${what} ${each.loc?.end.line}:${each.loc?.end.column} ${each.start}`
      if (seen.has(key) || (once && names.has(what))) continue
      seen.add(key)
      names.add(what)
      issues.push({ type, severity, what, line })
    }
  })
  return issues.sort((a, b) => a.line - b.line || SAFETY_KINDS.indexOf(a.type) - SAFETY_KINDS.indexOf(b.type))
}

function kindsOf(issues: readonly SafetyIssue[]): SafetyKind[] {
  return [...new Set(issues.map(({ type }) => type))].sort()
}
