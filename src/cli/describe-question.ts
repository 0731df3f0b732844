import type { Question } from '../core/approval.ts'
import { toBlock, toLine } from '../core/visible.ts'
import type { Output } from './output.ts'

/** What the call is about, in pages: a long change must not push the head of the question off the screen. */
export interface Pages {
  /** The next lines under our margin; undefined: there are no more. */
  next(): string | undefined
}

const MOST_LINES = 50_000
const MOST_CHARACTERS = 2_000_000

/** `more`: what to do for the next page. */
export function questionPages({ details, input, preview }: Question, size: number, more: string): Pages {
  const subject = details ?? subjectOf(input)
  // Of a change that is cut, the input is the only place where all of it stands.
  const isCut = preview?.includes('\n[diff cut: ') === true
  const whole = isCut ? `\n${JSON.stringify(input, null, 2)}` : ''
  const text = preview === undefined ? subject : `${subject}\n${preview}${whole}`
  const lines = toBlock(text, { mostCharacters: MOST_CHARACTERS, mostLines: MOST_LINES }).split('\n')
  let at = 0
  return {
    next() {
      if (at >= lines.length) return undefined
      const page = lines.slice(at, at + size)
      at += page.length
      const left = lines.length - at
      return [...page, ...(left === 0 ? [] : [`… ${left} more lines: ${more}`])].join('\n')
    },
  }
}

/** What a person sees of a question, without the choices. */
export function describeQuestion(question: Question, body: Pages, output: Output): string {
  const { tool, decision, cwd, input, effects } = question
  const risk = question.isDangerous ? output.noteStyle('red', 'DANGEROUS') : `risk ${question.risk}`
  const place = decision.ref
  const line = place?.line === undefined ? '' : `:${place.line}`
  const where = place === null ? '' : ` (${toLine(place.source)}${line})`
  const { description } = input
  const says = typeof description === 'string' && description !== '' ? toLine(description, 300) : undefined
  return [
    output.signs.line,
    `Approval   ${risk}   ${toLine(tool.name)}`,
    ...partOf(question).map(words => `  ${words}`),
    ...(says === undefined ? [] : [`  The agent says: ${says}`]),
    body.next() ?? '',
    `  in ${toLine(cwd)}`,
    ...(effects.length === 0 ? [] : [`  effects: ${toLine(effects.join(', '))}`]),
    ...(decision.notes ?? []).map(note => `  ${toLine(note)}`),
    `  asked by ${toLine(place?.id ?? decision.by)}${where}: ${toLine(decision.reason)}`,
  ].join('\n')
}

/** Which call makes the one that is asked about, and goes on with the answer. */
export function partOf({ within = [] }: Question): string[] {
  const outer = within.map(({ tool, callId }) => `${toLine(tool)} (${toLine(callId)})`)
  return outer.length === 0 ? [] : [`A part of ${outer.join(' › ')}, which goes on with the answer.`]
}

function subjectOf(input: Readonly<Record<string, unknown>>): string {
  // At the gate of a text, such as a difference, the person reads the text.
  const shown = typeof input.step === 'string' ? input.text : undefined
  const subject = [shown, input.command, input.path, input.url].find(value => typeof value === 'string')
  return typeof subject === 'string' ? subject : JSON.stringify(input)
}
