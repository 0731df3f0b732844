import { lineEndView, lineNumbers } from './lines.ts'

/** What is wrong with an old text that is not in the file, where that is a usual mistake. */
export interface Misquote {
  readonly problem: string
  readonly hint: string
  /** The old text without the mistake. */
  readonly meant: string
  /** Whether that is in the file. */
  readonly isThere: boolean
}

export function findMisquote(before: string, oldText: string): Misquote | undefined {
  const view = lineEndView(before)
  const mistake = withLineNumbers(oldText) ?? withWrittenEscapes(oldText, view.text)
  if (mistake === undefined) return undefined
  const at = view.text.indexOf(mistake.meant)
  if (at === -1) return { ...mistake, isThere: false }
  const region = { start: view.original(at), end: view.original(at + mistake.meant.length) }
  const problem = `${mistake.problem} Without that it is at line ${lineNumbers(before, region).first}.`
  return { ...mistake, problem, isThere: true }
}

type Mistake = Omit<Misquote, 'isThere'>

/** As read_file, cat -n and others print them. */
const LINE_NUMBER = /^ *\d+(?:\t|→)/

function withLineNumbers(oldText: string): Mistake | undefined {
  const lines = lineEndView(oldText).text.split('\n')
  const numbered = lines.filter(line => LINE_NUMBER.test(line)).length
  // The first line may be quoted from its middle on, and what ends with a line break has an empty last one.
  const others = lines.filter((line, index) => index > 0 && line !== '' && !LINE_NUMBER.test(line)).length
  if (numbered === 0 || others > 0) return undefined
  return {
    problem: 'old_string holds the line numbers that read_file shows; they are not part of the file.',
    hint: 'Leave out the line numbers and the tab after each of them, in new_string too.',
    meant: lines.map(line => line.replace(LINE_NUMBER, '')).join('\n'),
  }
}

function withWrittenEscapes(oldText: string, text: string): Mistake | undefined {
  if (!/\\[nt]/.test(oldText)) return undefined
  const meant = oldText.replace(/(?:\\r)?\\n/g, '\n').replaceAll('\\t', '\t')
  if (!text.includes(meant)) return undefined
  return {
    problem: 'old_string has a backslash and a letter where the file has a line break or a tab.',
    hint: 'Escape it once: in JSON a line break is \\n with one backslash, a tab \\t. Look at new_string too.',
    meant,
  }
}
