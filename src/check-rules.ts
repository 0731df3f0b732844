import { ConfigError, type Warning } from './config/config-error.ts'
import type { Environment } from './config/environment.ts'
import type { LoadedConfig } from './config/load.ts'
import { noApprover } from './core/approval.ts'
import { findUnknownTools } from './permissions/rules/lint.ts'
import { reviewIssues } from './review-settings.ts'
import { createRuntime } from './runtime.ts'

export interface RuleReport {
  readonly errors: readonly ConfigError[]
  readonly warnings: readonly Warning[]
}

/**
 * What rules say of themselves (examples, effects) is checked when they are compiled, which the runtime does; which
 * tools there are, only the runtime knows.
 */
export async function checkRules(environment: Environment, loaded: LoadedConfig): Promise<RuleReport> {
  try {
    const runtime = await createRuntime({ loaded, environment, approver: noApprover('only checking') })
    const names = runtime.registry.names()
    const unknown = runtime.rules.flatMap(rule => findUnknownTools(rule, names))
    const problems = runtime.registry.problems().map(message => ({ message, file: '', line: undefined }))
    await runtime.close()
    const warnings = unknown.map(({ message, file, line }) => ({
      message: `${file}${line === undefined ? '' : `:${line}`}: ${message}`,
      file,
      line,
    }))
    // An error among them has kept the runtime from being made.
    const review = reviewIssues(loaded).map(({ key, message }) => ({
      ...{ message: `${key}: ${message}`, file: '', line: undefined },
    }))
    return { errors: [], warnings: [...warnings, ...review, ...problems] }
  } catch (error) {
    if (error instanceof ConfigError) return { errors: [error], warnings: [] }
    throw error
  }
}
