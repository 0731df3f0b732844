import type { Question } from '../core/approval.ts'
import { toVisible } from '../core/visible.ts'
import type { Output } from './output.ts'

const SHOWN_LENGTH = 4096

/** What a person sees of a question, without the choices. */
export function describeQuestion(question: Question, output: Output): string {
  const { tool, decision, cwd, input, effects, details } = question
  const risk = question.isDangerous ? output.noteStyle('red', 'HIGH') : 'medium'
  const place = decision.ref
  const where = place === null ? '' : ` (${place.source}${place.line === undefined ? '' : `:${place.line}`})`
  return [
    '─'.repeat(64),
    `Approval   ${risk}   ${tool.name}`,
    ...indent(details ?? subjectOf(input)),
    ...(question.preview === undefined ? [] : indent(question.preview)),
    `  in ${toVisible(cwd)}`,
    ...(effects.length === 0 ? [] : [`  effects: ${effects.join(', ')}`]),
    ...(decision.notes ?? []).map(note => `  ${toVisible(note)}`),
    `  asked by ${place?.id ?? decision.by}${where}: ${toVisible(decision.reason)}`,
  ].join('\n')
}

function subjectOf(input: Readonly<Record<string, unknown>>): string {
  const subject = [input.command, input.path, input.url].find(value => typeof value === 'string')
  return typeof subject === 'string' ? subject : JSON.stringify(input)
}

/** Never shortened in the middle: what is not shown is said, and `view` shows all of it. */
function indent(text: string): string[] {
  const shown = text.length > SHOWN_LENGTH ? text.slice(0, SHOWN_LENGTH) : text
  const rest = text.length - shown.length
  const lines = toVisible(shown)
    .split('\n')
    .map(line => `  ${line}`)
  return rest === 0 ? lines : [...lines, `  … ${rest} more characters: type view`]
}
