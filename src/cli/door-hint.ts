import type { CallResult } from '../core/call.ts'

/** How to go on from here is worded by the door: core knows of no command line. */
export function doorHint({ error, tool, question }: CallResult): string | null {
  const explain = `see: kogu explain ${tool}`
  switch (error?.code) {
    case 'needs_approval':
      return question === undefined
        ? `Allow it once with --yes-once, or with a rule; ${explain}`
        : `Answer with: kogu approvals approve ${question}, then: kogu call --continue ${question}. Or allow it with --yes-once or a rule; ${explain}`
    case 'denied':
      return [error.hint, `To know more, ${explain}`].filter(Boolean).join(' ')
    case 'unknown_tool':
      return [error.hint, 'See: kogu tools list'].filter(Boolean).join(' ')
    default:
      return error?.hint ?? null
  }
}
