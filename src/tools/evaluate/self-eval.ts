import * as z from 'zod'
import { type AnyTool, defineTool } from '../../core/tool.ts'
import { CHECKS, type CheckCommands } from './find-checks.ts'

export interface EvaluateParts {
  /** From the configuration; they come before those that are found. */
  readonly commands: CheckCommands
  /** Where the figures of the last time are kept. */
  readonly historyPath: string
}

const TIMEOUT_MS = 120_000
const LONGEST_TIMEOUT_MS = 600_000

const input = () =>
  z.object({
    checks: z
      .array(z.string())
      .max(20)
      .default([...CHECKS])
      .describe('Checks to run: build, lint, type_check, test. Defaults to all.'),
    timeout_ms: z
      .int()
      .min(1)
      .max(LONGEST_TIMEOUT_MS)
      .default(TIMEOUT_MS)
      .describe('Time limit of each check in milliseconds; at least two minutes.'),
  })

export type EvaluateInput = z.output<ReturnType<typeof input>>

/** Runs the project's own checks. Which command makes each is configured, or found in the project's files. */
export function selfEvalTool(parts: EvaluateParts): AnyTool {
  return defineTool({
    name: 'self_eval',
    title: 'Check the project',
    description:
      'Run the checks of the project (build, lint, type_check, test) and say what they found: errors, warnings, tests, and the difference to the last time. ' +
      'Each check is a command of its own and is asked about as one.',
    category: 'Composite',
    // It does nothing itself; what its commands do is judged for each of them.
    risk: 'low',
    deadlineMs: ({ checks }) => (checks.length + 1) * LONGEST_TIMEOUT_MS,
    input,
    output: {
      all_passed: { type: 'boolean' },
      checks: { type: 'object' },
      total_checks: { type: 'integer' },
    },
    access: () => [],
    run: async (wanted, context) => (await import('./evaluate.ts')).evaluate(wanted, context, parts),
  })
}
