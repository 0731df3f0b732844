import * as z from 'zod'
import type { Vote } from './tally.ts'

const answer = z.object({
  verdict: z.enum(['approve', 'reject', 'abstain']),
  reasoning: z.string().max(8_000).default(''),
  confidence: z.number().min(0).max(1).optional(),
})

/**
 * Reads a reviewer's answer: strict JSON first, otherwise plain words. Whatever is ambiguous is a rejection, because a
 * text under review may try to put words into the answer.
 */
export function parseVerdict(text: string): Omit<Vote, 'reviewer'> {
  const json = onlyJson(text)
  if (json !== undefined) {
    const parsed = answer.safeParse(json)
    if (!parsed.success) return { verdict: 'error', reasoning: 'The answer does not follow the schema.' }
    const { verdict, reasoning, confidence } = parsed.data
    return { verdict, reasoning, ...(confidence === undefined ? {} : { confidence }) }
  }
  const reasoning = text.trim().slice(0, 8_000)
  if (reasoning === '') return { verdict: 'error', reasoning: 'The answer is empty.' }
  return { verdict: approvesInWords(text) ? 'approve' : 'reject', reasoning }
}

// Any of these, and the sentence may say the opposite: "I would never approve this", "should not be approved", "approve? no".
const DOUBTS =
  /\b(?:NO|NOT|NOR|NONE|NEVER|NEITHER|NOTHING|CANNOT|WITHOUT|UNABLE|UNWILLING|REFUSE[DS]?|REFUSING|DECLINE[DS]?|DENY|DENIED|DENIES|AGAINST|HARDLY|UNSAFE|DANGEROUS|HARMFUL|MALICIOUS|UNLESS|UNTIL|IF|WOULD|COULD|SHOULD|MIGHT|MAY|BUT|HOWEVER|EXCEPT|ONLY|AFTER|ONCE|ABSTAIN\w*|REJECT\w*|REVIS\w*|DISAPPROV\w*|STOP|BLOCK\w*|FAIL\w*)\b|N['’ʼ`]T\b|[?]/

// It stands by itself: at the beginning of a line or a sentence, or as what "I" do. Anywhere else, and in another language, it
// may be part of a no.
const CLEAR = /(?:^|[.:!*#>\n]\s*|\bI\s+)APPROVED?(?=\s*(?:$|[^\w\s]|\n)|\s+(?:THIS|IT|THE)\b)/

function approvesInWords(text: string): boolean {
  const words = text
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^\S\n]+/g, ' ')
  return CLEAR.test(words) && !DOUBTS.test(words)
}

/** The answer as JSON when it is nothing else, with or without a code fence around it. */
function onlyJson(text: string): unknown {
  const bare = text
    .trim()
    .replace(/^```(?:json)?\s*\n?/, '')
    .replace(/\n?```$/, '')
  if (!bare.startsWith('{')) return undefined
  try {
    // Of two verdicts in one object the last would count. Inside of a reason its quotes have backslashes.
    return [...bare.matchAll(/(?<!\\)"verdict"/g)].length > 1 ? null : JSON.parse(bare)
  } catch {
    return null
  }
}
