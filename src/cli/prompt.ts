import { resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Approver, LiveQuestion, Question } from '../core/approval.ts'
import { toBlock, toLine } from '../core/visible.ts'
import { describeQuestion, type Pages, questionPages } from './describe-question.ts'
import type { Output } from './output.ts'

export interface TerminalApproverOptions {
  readonly stdin: NodeJS.ReadStream
  readonly output: Output
  /** Who is at the terminal, for the record. */
  readonly user: string
}

/** What is on the screen, with what only this process can do with it. */
type Shown = Question & LiveQuestion

/** Keys that were typed before the question was there must not answer it. */
const IGNORE_MS = 400

/**
 * Asks on the terminal: a word or letter, then Enter. Enter alone does nothing, there are no single keys, and the end of
 * input never approves. One question at a time; the others wait.
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
  question: Shown,
  signal: AbortSignal,
  options: TerminalApproverOptions,
): Promise<Answer> {
  const { output, stdin } = options
  const body = questionPages(question, pageSize(), 'type m')
  output.note(`${describeQuestion(question, body, output)}\n${describeChoices(question, output)}`)
  await discardTyped(stdin)
  const lines = createInterface({ input: stdin, output: process.stderr, terminal: stdin.isTTY === true })
  try {
    return await readAnswer(lines, { question, body }, signal, options)
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

interface Asked {
  readonly question: Shown
  readonly body: Pages
}

async function readAnswer(
  lines: Interface,
  asked: Asked,
  signal: AbortSignal,
  options: TerminalApproverOptions,
): Promise<Answer> {
  const { question } = asked
  // The line editor takes Ctrl-C for itself; whoever presses it means the program.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  // After Ctrl-Z and fg the input is paused, and only this resumes it.
  lines.on('SIGCONT', () => lines.prompt())
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
      const answer = toAnswer(line, asked, options)
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
    return toBlock(await tryOut())
  } catch (error) {
    return `It could not be tried: ${toLine(error instanceof Error ? error.message : String(error))}`
  }
}

const WORDS: Readonly<
  Record<string, 'once' | 'session' | 'permanent' | 'deny' | 'never' | 'tell' | 'keep' | 'view' | 'more'>
> = {
  y: 'once',
  yes: 'once',
  once: 'once',
  approve: 'once',
  r: 'session',
  run: 'session',
  session: 'session',
  a: 'permanent',
  always: 'permanent',
  n: 'deny',
  no: 'deny',
  deny: 'deny',
  never: 'never',
  tell: 'tell',
  k: 'keep',
  keep: 'keep',
  view: 'view',
  m: 'more',
  more: 'more',
}

/** An answer, or what to say to a line that is none. */
function toAnswer(
  line: string,
  { question, body }: Asked,
  { user, output }: TerminalApproverOptions,
): Answer | string {
  const [word = '', ...rest] = line.trim().split(/\s+/)
  const meaning = Object.hasOwn(WORDS, word.toLowerCase()) ? WORDS[word.toLowerCase()] : undefined
  switch (meaning) {
    case 'once': {
      const typed = word.toLowerCase() === 'approve' ? ['approve', ...rest] : rest
      return confirmPhrase(question, typed, '') ?? { kind: 'once', user }
    }
    case 'session':
    case 'permanent':
      return rememberedAnswer(question, { kind: meaning, word, rest, user }, output)
    case 'deny':
      return { kind: 'deny', user }
    case 'tell':
      return { kind: 'deny', user, message: rest.join(' ') }
    case 'keep':
      return keptPaths(question, rest, user)
    case 'never':
      return { kind: 'deny-permanently', user }
    case 'view':
      return toBlock(JSON.stringify(question.input, null, 2))
    case 'more':
      return body.next() ?? 'That was all of it.'
    case undefined:
      if (word === '') return ''
      return `Not understood: ${toLine(line.trim(), 60)}\n${describeChoices(question, output)}`
  }
}

/** Some of the changes that a command made. */
function keptPaths({ subject }: Shown, names: readonly string[], user: string): Answer | string {
  if (subject.kind !== 'changes') return 'The command has not run yet, so there is nothing to keep.'
  if (names.length === 0) return 'Name the paths: keep PATH …'
  return { kind: 'once', user, paths: names.map(name => resolve(subject.root, name)) }
}

interface Remembered {
  readonly kind: 'session' | 'permanent'
  readonly word: string
  readonly rest: readonly string[]
  readonly user: string
}

/** Without a number nothing is granted: whoever types one letter has not said what it shall cover. */
function rememberedAnswer(
  question: Shown,
  { kind, word, rest, user }: Remembered,
  output: Output,
): Answer | string {
  const { offers: grants } = question
  if (grants.length === 0) return 'This call can only be approved once.'
  const [number = '', ...phrase] = rest
  const offer = /^\d{1,3}$/.test(number) ? grants[Number(number) - 1] : undefined
  if (offer === undefined) return `${describeOffers(question, output)}\nChoose one: ${toLine(word)} N`
  return confirmPhrase(question, phrase, `${word} ${number} `) ?? { kind, user, grant: offer.id }
}

/** A dangerous call needs its phrase for every kind of yes. What to type instead; undefined: it was typed. */
function confirmPhrase(question: Shown, typed: readonly string[], before: string): string | undefined {
  const phrase = `approve ${question.tool.name}`
  if (!question.isDangerous || typed.join(' ') === phrase) return undefined
  return `This call is dangerous. To confirm it, type: ${before}${toLine(phrase)}`
}

/** Lines of a question that are shown at once, so that its head stays on the screen. */
const MOST_SHOWN = 40
/** Lines that the head, the offers and the choices take, about. */
const OTHER_LINES = 14

function pageSize(): number {
  return Math.max(8, Math.min(MOST_SHOWN, (process.stderr.rows ?? MOST_SHOWN) - OTHER_LINES))
}

function describeOffers({ offers: grants }: Shown, output: Output): string {
  const offers = grants.map(
    (offer, index) => `  ${output.noteStyle('bold', String(index + 1))}  ${toLine(offer.label)}`,
  )
  return ['What can be remembered:', ...offers].join('\n')
}

function describeChoices(question: Shown, output: Output): string {
  const { offers: grants } = question
  const bold = (text: string): string => output.noteStyle('bold', text)
  const yes = question.isDangerous ? bold(`approve ${toLine(question.tool.name)}`) : `${bold('y')} once`
  const remember =
    grants.length === 0 ? [] : [`${bold('r N')} offer N for this run`, `${bold('a N')} offer N always`]
  const look = question.tryOut === undefined ? ['view'] : ['try (run it on a copy)', 'view']
  const part = question.subject.kind === 'changes' ? [`${bold('k PATH …')} keep only these`] : []
  const choices = [yes, ...part, ...remember, `${bold('n')} deny`, 'tell WHY', 'never', ...look]
  return [
    ...(grants.length === 0 ? [] : [describeOffers(question, output)]),
    `Choose: ${choices.join(' | ')}`,
  ].join('\n')
}
