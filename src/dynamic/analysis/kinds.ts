// What an analysis can find, apart from the analysis itself, whose parser only those who make tools need.

export const CATEGORIES = [
  'readability',
  'errorHandling',
  'documentation',
  'testability',
  'performance',
  'securityAwareness',
] as const

export type Category = (typeof CATEGORIES)[number]

export const SAFETY_KINDS = [
  'file-system-delete',
  'file-system-write',
  'process-spawn',
  'network-access',
  'eval-usage',
  'environment-access',
  'sensitive-data',
  'unbounded-operation',
  'resource-exhaustion',
  'prototype-pollution',
  'unsafe-regex',
] as const

export type SafetyKind = (typeof SAFETY_KINDS)[number]
