import type { RunEvent, WorkspaceEvent } from '../agents/events.ts'
import { sayNear } from '../agents/limits.ts'
import { toLine } from '../core/visible.ts'
import type { Output } from './output.ts'

/** Shows what happens in a run, line by line: what the model says on stdout, everything else on stderr. */
export interface RunView {
  show(event: RunEvent | WorkspaceEvent): void
  /** Ends the line that the model is writing. */
  endLine(): void
  readonly denied: readonly { tool: string; reason: string }[]
  /** Ids of questions that wait for an answer. */
  readonly waiting: readonly string[]
  readonly changed: ReadonlySet<string>
}

const LONGEST_SUBJECT = 60

export function createRunView(output: Output, write: (text: string) => void): RunView {
  const { signs } = output
  const inputs = new Map<string, unknown>()
  const denied: { tool: string; reason: string }[] = []
  const waiting = new Map<string, string>()
  const changed = new Set<string>()
  let openLine = false
  const endLine = (): void => {
    if (openLine) write('\n')
    openLine = false
  }
  const note = (text: string): void => {
    endLine()
    output.note(text)
  }
  const finished = (event: Extract<RunEvent, { type: 'call.finished' }>): void => {
    const { ok, error, decision, tool, ms, effects } = event
    for (const effect of effects) changed.add(effect.path)
    waiting.delete(event.call)
    const subject = subjectOf(inputs.get(event.call))
    const mark = ok ? output.noteStyle('green', signs.ok) : output.noteStyle('red', signs.failed)
    const by = decision.user === undefined ? (decision.ref?.id ?? decision.by) : `user ${decision.user}`
    if (error !== null && REFUSED.has(error.code)) denied.push({ tool, reason: error.message })
    const verdict =
      error === null ? `${decision.outcome} · ${by}` : `${error.code}: ${firstLine(error.message)}`
    note(`  ${mark} ${tool} ${toLine(subject)}  ${ms} ms  ${toLine(verdict)}`)
  }
  return {
    denied,
    get waiting() {
      return [...waiting.values()]
    },
    changed,
    endLine,
    show(event) {
      switch (event.type) {
        case 'text.delta':
          write(output.shown(event.text))
          openLine = !event.text.endsWith('\n')
          break
        case 'step.finished':
          endLine()
          output.detail(`    turn ${event.turn}: ${event.stopReason}, ${event.ms} ms`)
          break
        case 'step.retry':
          note(`  … ${toLine(event.reason)} Trying again in ${Math.ceil(event.waitMs / 1000)} s.`)
          break
        case 'call.proposed':
          inputs.set(event.call, event.input)
          output.detail(`    ${event.tool} ${toLine(JSON.stringify(event.input) ?? '')}`)
          break
        case 'call.finished':
          finished(event)
          break
        case 'call.ambiguous':
          note(`  ? ${event.tool} was interrupted: it may or may not have taken effect. It is not repeated.`)
          break
        case 'call.waiting':
          waiting.set(event.call, event.approval)
          note(`  ${signs.waits} ${event.tool} waits for approval: kogu approvals show ${event.approval}`)
          break
        case 'budget.warning':
          note(`  ! ${event.text}`)
          break
        case 'limit.near':
          note(`  ! It comes close to its limit: ${sayNear(event)}`)
          break
        case 'plan.proposed':
          note('  The plan:')
          for (const { name, input } of event.plan.steps)
            note(`    ${toLine(name)} ${toLine(subjectOf(input))}`)
          break
        case 'review.finished':
          note(`  ${event.display} ${event.phase} review: ${event.passed ? 'passed' : 'rejected'}`)
          for (const line of event.feedback.split('\n').filter(text => text !== ''))
            note(`    ${toLine(line)}`)
          break
        case 'agent.started':
          note(`  ${signs.agent} sub-agent ${toLine(event.name)}`)
          break
        case 'result.rejected':
          note(`  ! The vendor did not accept the result of ${event.tool}; it is left out.`)
          break
        default:
        // Where a run begins and ends is told by the command itself.
      }
    },
  }
}

const REFUSED = new Set(['denied', 'forbidden', 'expired', 'needs_approval', 'not_enabled'])

/** What a call is about, as short as a line allows. */
export function subjectOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  const values = Object.entries(input)
  const [, first] = values.find(([key]) => ['command', 'path', 'url', 'query', 'pattern'].includes(key)) ?? []
  const text = typeof first === 'string' ? first : values.length === 0 ? '' : JSON.stringify(input)
  return text.length > LONGEST_SUBJECT ? `${text.slice(0, LONGEST_SUBJECT)}…` : text
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}
