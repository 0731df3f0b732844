import type { CallResult } from '../core/call.ts'

/** How to go on from here is worded by the door: core knows of no command line. */
export function doorHint({ error, call, question }: CallResult): string | null {
  const why = `Why: kogu permissions explain ${call}`
  switch (error?.code) {
    case 'needs_approval':
      return question === undefined
        ? `Allow it once with --yes-once, or with a rule. ${why}`
        : `To see it: kogu approvals show ${question}. To answer: kogu approvals approve ${question}, then: kogu call --continue ${question}`
    case 'denied':
      return [error.hint, why].filter(Boolean).join(' ')
    case 'unknown_tool':
      // A hint that ends with a command is complete.
      return /[.?]$/.test(error.hint ?? '.')
        ? [error.hint, 'See: kogu tools list'].filter(Boolean).join(' ')
        : (error.hint ?? null)
    default:
      return error?.hint ?? null
  }
}
