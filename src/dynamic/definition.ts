import { hash } from 'node:crypto'
import * as z from 'zod'
import { canonicalJson } from '../core/canonical-json.ts'
import { CATEGORIES, SAFETY_KINDS } from './analysis/kinds.ts'
import type { QualityAssessment } from './analysis/quality.ts'
import type { SafetyAnalysis } from './analysis/safety.ts'

// A dynamic tool as it is kept: one JSON file each, of which everything but its use is bound by a hash.

export const PARAMETER_TYPES = ['string', 'number', 'boolean', 'object', 'array'] as const

export interface ToolParameterDefinition {
  readonly name: string
  readonly type: (typeof PARAMETER_TYPES)[number]
  readonly required: boolean
  readonly description: string
  readonly default?: unknown
  readonly allowedValues?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
}

const VERIFICATION_STATUSES = ['unverified', 'pending', 'passed', 'failed', 'deprecated'] as const
type VerificationStatus = (typeof VERIFICATION_STATUSES)[number]

/** What the code may want from outside. Asked when the tool is made, and bound to exactly this code. */
export interface Capabilities {
  /** Hosts, in the form of rules: `example.com`, `*.example.com`. */
  readonly network: readonly string[]
  /** Globs of files, relative to the workspace. */
  readonly read: readonly string[]
  /** Tools of Kogu. */
  readonly tools: readonly string[]
}

export const NO_CAPABILITIES: Capabilities = { network: [], read: [], tools: [] }

/** For whoever is asked whether there may be such a tool. */
export function describeWishes(name: string, { network, read, tools }: Capabilities): string {
  const wishes = [
    ...(network.length > 0 ? [`contact ${network.join(', ')}`] : []),
    ...(read.length > 0 ? [`read ${read.join(', ')}`] : []),
    ...(tools.length > 0 ? [`call ${tools.join(', ')}`] : []),
  ]
  return wishes.length === 0 ? `the tool '${name}'` : `the tool '${name}', which may ${wishes.join('; ')}`
}

/** A call that must give this result. */
export interface Example {
  readonly parameters: Readonly<Record<string, unknown>>
  readonly result: unknown
}

export interface RunRecord {
  readonly at: string
  readonly ok: boolean
  readonly ms: number
  /** The kind of failure, not its words, which may hold data. */
  readonly error?: string
}

interface OldVersion {
  readonly version: number
  readonly id: string
  readonly code: string
  readonly description: string
  readonly updatedAt: string
  readonly safetyScore: number
  readonly qualityScore: number
}

export interface DynamicTool {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly mode: 'function'
  readonly parameters: readonly ToolParameterDefinition[]
  readonly code: string
  /** What runs: the code without types and exports. */
  readonly script: string
  readonly capabilities: Capabilities
  readonly examples: readonly Example[]
  readonly safety: SafetyAnalysis
  readonly quality: QualityAssessment
  readonly version: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly createdFromTask?: string
  readonly createdBy: string
  /** The run in which this version was made. */
  readonly createdIn?: string
  readonly tags: readonly string[]
  readonly previous: readonly OldVersion[]
  /** From here on it changes with use. */
  readonly usageCount: number
  readonly lastUsedAt?: string
  readonly confidenceScore: number
  readonly verificationStatus: VerificationStatus
  /** When its examples were run last, and how many gave their result. Without examples there is nothing to say. */
  readonly verified?: { readonly at: string; readonly passed: number; readonly total: number }
  /** The newest last. */
  readonly runs: readonly RunRecord[]
  /** Why it may not run. */
  readonly quarantined?: string
}

export const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** `server__tool`, or what looks like it: of MCP servers, also of one that is not up yet or that nobody trusts yet. */
export function isServerTool(name: string): boolean {
  return /[-_]{2}/.test(name)
}

export function toolId(name: string, code: string): string {
  return `dt_${hash('sha256', `${name}:${code}`).slice(0, 12)}`
}

/** Of everything that a person reviewed or decided about the tool; its use does not change it. */
export function definitionHash(tool: DynamicTool): string {
  const { id, name, description, parameters, code, script, capabilities, examples, safety, version } = tool
  const { quarantined = null } = tool
  return hash(
    'sha256',
    canonicalJson([
      ...[id, name, description, parameters, code, script, capabilities, examples, safety, version],
      quarantined,
    ]),
  )
}

const score = () => z.number().min(0).max(1)

export const dynamicToolSchema = (): z.ZodType<DynamicTool> =>
  z.object({
    id: z.string().regex(/^dt_[0-9a-f]{12}$/),
    name: z.string().regex(TOOL_NAME),
    description: z.string(),
    mode: z.literal('function'),
    parameters: z.array(
      z.object({
        name: z.string(),
        type: z.enum(PARAMETER_TYPES),
        required: z.boolean(),
        description: z.string(),
        default: z.unknown().optional(),
        allowedValues: z.array(z.unknown()).exactOptional(),
        minimum: z.number().exactOptional(),
        maximum: z.number().exactOptional(),
      }),
    ),
    code: z.string(),
    script: z.string(),
    capabilities: z.object({
      network: z.array(z.string()),
      read: z.array(z.string()),
      tools: z.array(z.string()),
    }),
    examples: z.array(z.object({ parameters: z.record(z.string(), z.unknown()), result: z.unknown() })),
    safety: z.object({
      score: score(),
      issues: z.array(
        z.object({
          type: z.enum(SAFETY_KINDS),
          severity: z.enum(['critical', 'high', 'medium', 'low']),
          what: z.string(),
          line: z.number(),
        }),
      ),
      allowedOperations: z.array(z.enum(SAFETY_KINDS)),
      blockedOperations: z.array(z.enum(SAFETY_KINDS)),
      isSafe: z.boolean(),
      confidence: score(),
    }),
    quality: z.object({
      score: score(),
      categoryScores: z.object({
        readability: score(),
        errorHandling: score(),
        documentation: score(),
        testability: score(),
        performance: score(),
        securityAwareness: score(),
      }),
      issues: z.array(
        z.object({
          category: z.enum(CATEGORIES),
          severity: z.enum(['high', 'medium', 'low']),
          rule: z.string(),
          line: z.number(),
        }),
      ),
      confidence: score(),
    }),
    version: z.int().min(1),
    createdAt: z.string(),
    updatedAt: z.string(),
    createdFromTask: z.string().exactOptional(),
    createdBy: z.string(),
    createdIn: z.string().max(200).exactOptional(),
    tags: z.array(z.string()),
    previous: z.array(
      z.object({
        version: z.int(),
        id: z.string(),
        code: z.string(),
        description: z.string(),
        updatedAt: z.string(),
        safetyScore: score(),
        qualityScore: score(),
      }),
    ),
    usageCount: z.int().min(0),
    lastUsedAt: z.string().exactOptional(),
    confidenceScore: score(),
    verificationStatus: z.enum(VERIFICATION_STATUSES),
    verified: z.object({ at: z.string(), passed: z.int().min(0), total: z.int().min(1) }).exactOptional(),
    runs: z.array(
      z.object({ at: z.string(), ok: z.boolean(), ms: z.number(), error: z.string().exactOptional() }),
    ),
    quarantined: z.string().exactOptional(),
  })
