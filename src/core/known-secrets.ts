import { WHOLE_MASK } from './secret-mask.ts'
import { TOKEN_RULES, TOKEN_TRIGGER } from './secret-patterns.ts'

/** The kind of secret that a text carries, never the secret; undefined: none that is known. */
export type FindSecret = (text: string) => string | undefined

const SHORTEST = 8
const MOST_DECODINGS = 3
const LONGEST_TEXT = 1_000_000

/**
 * Looks for secrets that must not leave: values that are known, as they stand and in the usual disguises of a URL (percent,
 * base64, hex), and tokens that their form gives away. Whoever means to hide one can; this stops the usual ways.
 */
export function createSecretFinder(values: readonly string[]): FindSecret {
  const forms = values.filter(value => value.length >= SHORTEST).flatMap(disguises)
  // Without the signs between them: a secret in pieces (`a.b.c`) is the same secret.
  const bare = [...new Set(forms.map(toBare))].filter(form => form.length >= SHORTEST)
  return whole => {
    for (const text of decodings(whole.slice(0, LONGEST_TEXT))) {
      const plain = toBare(text)
      if (bare.some(form => plain.includes(form))) return 'the value of a variable'
      if (TOKEN_TRIGGER.test(text) && TOKEN_RULES.some(rule => rule(text, WHOLE_MASK) !== text))
        return 'an access token'
    }
    return undefined
  }
}

/** Without regard to case: hex has two spellings, and hosts are lower case. */
function toBare(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')
}

function disguises(value: string): string[] {
  const bytes = Buffer.from(value)
  const reversed = [...value].reverse().join('')
  // Inside a longer text, base64 begins at one of three places; what depends on the neighbours is left out.
  const shifted = [0, 1, 2].flatMap(skip => {
    const inner = bytes.subarray(skip === 0 ? 0 : 3 - skip)
    const whole = inner.subarray(0, inner.length - (inner.length % 3)).toString('base64')
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')]
  })
  const all = [value, reversed, bytes.toString('hex'), ...shifted]
  return [...new Set(all.map(form => form.toLowerCase()))].filter(form => form.length >= SHORTEST)
}

/** The text, and what is under its layers of percent signs. */
function* decodings(text: string): Generator<string> {
  let current = text
  for (let layer = 0; layer <= MOST_DECODINGS; layer += 1) {
    yield current
    yield* unpacked(current)
    const next = current
      .replaceAll('+', ' ')
      .replaceAll(/(?:%[0-9a-f]{2})+/gi, run => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
    if (next === current) return
    current = next
  }
}

const MOST_WORDS = 100

/** What long words say that could be base64 of something. */
function* unpacked(text: string): Generator<string> {
  let count = 0
  for (const [word] of text.matchAll(/[A-Za-z0-9+/_-]{16,}/g)) {
    count += 1
    if (count > MOST_WORDS) return
    // It may have begun with something else: `path/base64`.
    for (let skip = 0; skip < 4; skip += 1) yield Buffer.from(word.slice(skip), 'base64').toString('latin1')
  }
}
