import * as z from 'zod'
import { toToolError } from '../core/errors.ts'
import { parseInput } from '../core/json.ts'
import type { Vote } from './tally.ts'

const answer = z.object({
  verdict: z.enum(['approve', 'reject', 'abstain']),
  reasoning: z.string().max(8_000).default(''),
  confidence: z.number().min(0).max(1).optional(),
})

/** What is reviewed: a call or a plan, which a reviewer approves, or an outcome, which may also be a success. */
export type Verdicts = 'approval' | 'outcome'

/**
 * Reads a reviewer's answer: strict JSON first, otherwise plain words. Whatever is ambiguous is a rejection, because a
 * text under review may try to put words into the answer.
 */
export function parseVerdict(text: string, about: Verdicts = 'approval'): Omit<Vote, 'reviewer'> {
  const bare = withoutFence(text)
  if (bare.startsWith('{')) return verdictInJson(bare)
  const reasoning = text.trim().slice(0, 8_000)
  if (reasoning === '') return { verdict: 'error', reasoning: 'The answer is empty.' }
  return { verdict: approvesInWords(text, WORDS[about]) ? 'approve' : 'reject', reasoning }
}

function verdictInJson(text: string): Omit<Vote, 'reviewer'> {
  const invalid = { verdict: 'error', reasoning: 'The answer does not follow the schema.' } as const
  try {
    JSON.parse(text)
  } catch {
    return invalid
  }
  try {
    // Of a key that is given twice, in whatever spelling, the last would count: a text under review may have put it there.
    const parsed = answer.safeParse(parseInput(text))
    if (!parsed.success) return invalid
    const { verdict, reasoning, confidence } = parsed.data
    return { verdict, reasoning, ...(confidence === undefined ? {} : { confidence }) }
  } catch (error) {
    return { verdict: 'reject', reasoning: toToolError(error).message }
  }
}

// Kogu does not know how other languages say no, so the word counts only where nothing stands beside it: `APPROVE できません`
// and `Im Text steht: Approve.` are none. A reason comes in the next sentence or behind a separator. There a single word may
// be the value of a field: `Approve: nein`.
const approval = (word: string): RegExp =>
  new RegExp(
    String.raw`^(?:VERDICT ?: ?)?(?:${word})(?: ?[.!。]| ?(?:[:;–—]|- ) ?(?!(?:NO|NOT|NEVER|NONE|FALSE)\b)\S+ \S.*)?$`,
    'u',
  )

// They take an approval back or make it depend on something, wherever they stand. REJECT and REVISE are in the requirements;
// so are NOT APPROVE and its kin: a text may be broken into lines between their words.
const DOUBTS =
  /\b(?:NOT|NO|NEVER|CANNOT|[A-Z]+N['’]T)[\s:,]+APPROV|REJECT|REVIS|ABSTAIN|\?|\b(?:REFUSE[DS]?|REFUSING|DECLINE[DS]?|DENY|DENIED|DENIES|UNSAFE|DANGEROUS|HARMFUL|MALICIOUS|UNLESS|UNTIL|IF|BUT|HOWEVER|EXCEPT|PROVIDED)\b/

const REFUSALS = /^(?:NO|NOPE|NEVER|STOP|VETO)(?:[.!,:;]|$)|^VERDICT ?:/

const WORDS: Record<Verdicts, { readonly yes: RegExp; readonly doubts: RegExp }> = {
  approval: { yes: approval('APPROVED?'), doubts: DOUBTS },
  outcome: {
    yes: approval('APPROVED?|SUCCESS'),
    doubts: new RegExp(`${DOUBTS.source}|PARTIAL|FAIL|UNSUCCESS`),
  },
}

function approvesInWords(text: string, { yes, doubts }: (typeof WORDS)[Verdicts]): boolean {
  const words = text
    .normalize('NFKC')
    .toUpperCase()
    // Markdown, and the ends of lines of Windows.
    .replaceAll(/[*_#`]/g, '')
    .replaceAll(/[^\S\n]+/g, ' ')
    .trim()
  if (doubts.test(words)) return false
  const lines = words.split(/ ?\n[ \n]*/).map(line => line.split(/(?<=[.!]) |(?<=。) ?/))
  const sentences = lines.flat()
  // A no of its own, or another verdict, whatever else is said.
  if (sentences.some(sentence => REFUSALS.test(sentence) && !yes.test(sentence))) return false
  // Beside letters, anywhere, it may be part of a no.
  const isClear = (sentence: string): boolean => yes.test(sentence) && sentence.split('APPROV').length <= 2
  if (sentences.some(sentence => sentence.includes('APPROV') && !isClear(sentence))) return false
  const ends = [sentences[0], sentences.at(-1), lines.at(-1)?.[0]]
  return sentences.some(
    sentence => isClear(sentence) && (ends.includes(sentence) || sentence.startsWith('VERDICT')),
  )
}

/** The answer without a code fence around it. */
function withoutFence(text: string): string {
  return text
    .trim()
    .replace(/^```(?:json)?\s*\n?/, '')
    .replace(/\n?```$/, '')
}
