import type { AuditItem } from '../../api/types.ts'

/** What a recorded event was about, in a line. */
export function sayWhat({ access, input, details, error, type, answer }: AuditItem): string {
  if (Array.isArray(access)) {
    const [first] = access as readonly Record<string, unknown>[]
    const said = first?.command ?? first?.path ?? first?.url ?? first?.details
    if (typeof said === 'string') return said
  }
  if (error !== undefined) return error.message
  if (type === 'approval-answered') return answer ?? ''
  const shown = details ?? input
  return shown === undefined ? '' : JSON.stringify(shown)
}
