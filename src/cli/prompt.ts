import { createInterface, type Interface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Approver, LiveQuestion, Question } from '../core/approval.ts'
import { toVisible } from '../core/visible.ts'
import { describeQuestion } from './describe-question.ts'
import type { Output } from './output.ts'

export interface TerminalApproverOptions {
  readonly stdin: NodeJS.ReadStream
  readonly output: Output
  /** Who is at the terminal, for the record. */
  readonly user: string
}

/** What is on the screen, with what only this process can do with it. */
type Asked = Question & LiveQuestion

/** Keys that were typed before the question was there must not answer it. */
const IGNORE_MS = 400

/**
 * Asks on the terminal: a word, then Enter. Enter alone does nothing, there are no single keys, and the end of input
 * never approves. One question at a time; the others wait.
 */
export function terminalApprover(options: TerminalApproverOptions): Approver {
  let last: Promise<unknown> = Promise.resolve()
  return {
    ask(question, signal, live) {
      const answer = last.then(() => askOnce({ ...question, ...live }, signal, options))
      last = answer.catch(() => undefined)
      return answer
    },
  }
}

async function askOnce(
  question: Asked,
  signal: AbortSignal,
  options: TerminalApproverOptions,
): Promise<Answer> {
  const { output, stdin } = options
  output.note(`${describeQuestion(question, output)}\n${describeChoices(question, output)}`)
  await discardTyped(stdin)
  const lines = createInterface({ input: stdin, output: process.stderr, terminal: stdin.isTTY === true })
  try {
    return await readAnswer(lines, question, signal, options)
  } finally {
    lines.close()
    stdin.pause()
  }
}

/** Reads away what was typed before the question was there, and for a moment after. */
async function discardTyped(stdin: NodeJS.ReadStream): Promise<void> {
  const discard = (): undefined => undefined
  // Raw, because a line that was begun is otherwise kept by the terminal, and its end could complete it to an answer.
  stdin.setRawMode?.(true)
  stdin.on('data', discard)
  stdin.resume()
  await sleep(IGNORE_MS)
  stdin.off('data', discard)
  stdin.pause()
  stdin.setRawMode?.(false)
}

async function readAnswer(
  lines: Interface,
  question: Asked,
  signal: AbortSignal,
  options: TerminalApproverOptions,
): Promise<Answer> {
  // The line editor takes Ctrl-C for itself; whoever presses it means the program.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  lines.setPrompt('> ')
  lines.prompt()
  const onAbort = (): void => lines.close()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    for await (const line of lines) {
      if (line.trim().toLowerCase() === 'try' && question.tryOut !== undefined) {
        options.output.note(await tryIt(question.tryOut))
        lines.prompt()
        continue
      }
      const answer = toAnswer(line, question, options)
      if (typeof answer !== 'string') return answer
      if (answer !== '') options.output.note(answer)
      lines.prompt()
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
  return { kind: 'unavailable', reason: 'the question was closed without an answer' }
}

async function tryIt(tryOut: () => Promise<string>): Promise<string> {
  try {
    return toVisible(await tryOut())
  } catch (error) {
    return `It could not be tried: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** An answer, or what to say to a line that is none. */
function toAnswer(line: string, question: Asked, { user, output }: TerminalApproverOptions): Answer | string {
  const [word = '', ...rest] = line.trim().split(/\s+/)
  const { offers: grants } = question
  switch (word.toLowerCase()) {
    case '':
      return ''
    case 'once':
    case 'approve':
      if (isDangerous(question) && rest.join(' ') !== question.tool.name) {
        return `This cannot be undone easily. To run it once, type: approve ${question.tool.name}`
      }
      return { kind: 'once', user }
    case 'session':
    case 'always': {
      const offer = grants[Number(rest[0] ?? '1') - 1]
      if (offer === undefined)
        return `Say which: ${word} 1${grants.length > 1 ? ` … ${word} ${grants.length}` : ''}`
      return { kind: word.toLowerCase() === 'always' ? 'permanent' : 'session', user, grant: offer.id }
    }
    case 'deny':
    case 'no':
      return { kind: 'deny', user }
    case 'tell':
      return { kind: 'deny', user, message: rest.join(' ') }
    case 'never':
      return { kind: 'deny-permanently', user }
    case 'view':
      return toVisible(JSON.stringify(question.input, null, 2))
    default:
      return describeChoices(question, output)
  }
}

function isDangerous(question: Asked): boolean {
  return question.isDangerous
}

function describeChoices(question: Asked, output: Output): string {
  const { offers: grants } = question
  const offers = grants.map((offer, index) => `  ${index + 1}  ${toVisible(offer.label)}`)
  const yes = isDangerous(question) ? `approve ${question.tool.name}` : 'once'
  const look = question.tryOut === undefined ? 'view' : 'try (run it on a copy and show what changes) | view'
  const remember = grants.length === 0 ? '' : ' | session N | always N'
  return [
    ...(offers.length === 0 ? [] : ['What can be remembered:', ...offers]),
    `Choose: ${output.noteStyle('bold', yes)}${remember} | deny | tell WHY | never | ${look}`,
  ].join('\n')
}
