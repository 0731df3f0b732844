import { compileText, type NameTest } from '../../core/wildcard.ts'
import { isKnownProgram } from '../commands/programs/judge-reader.ts'
import {
  asScript,
  pastOptions,
  runByRunner,
  subcommandName,
  withoutHarmless,
} from '../commands/programs/subcommands.ts'

/** One position of a command pattern: a word, alternatives, `*` for any one word, `**` for any further words. */
export type TokenPattern = string | readonly string[]

type Words = readonly (string | null)[]

/**
 * Whether a command matches, word by word. A word that could not be resolved matches only `*` and `**`, and those only
 * where the rule forbids. A rule that forbids also looks past options: `git -C . push` is a `git push`, however many
 * options stand in between, and `npm publish --tag x` is an `npm publish`. One that allows looks past options only that
 * say how something is shown. `runsTexts`: one of its words may be code or a command line.
 */
export function matchCommand(
  pattern: readonly TokenPattern[],
  words: Words,
  strict: boolean,
  runsTexts = false,
): boolean {
  const program = words[0] ?? ''
  if (!strict) {
    return matchWords(pattern, words, false) || matchWords(pattern, withoutHarmless(program, words), false)
  }
  if (forms(words).some(form => matchWords(pattern, form, true))) return true
  return runsTexts && inTexts(pattern, words).some(form => matchWords([...pattern, '**'], form, true))
}

/** `/usr/lib/git-core/git-push` is `git push`, `npx npm publish` an `npm publish`, and `somewrapper git push` may be one. */
function forms(words: Words): Words[] {
  const program = words[0] ?? ''
  const [, inner] = /^git-([a-z][\w-]*)$/.exec(program) ?? []
  return [
    words,
    ...(inner === undefined ? [] : [['git', inner, ...words.slice(1)]]),
    ...asScript(program, words),
    ...runByRunner(program, words),
    ...(isKnownProgram(program) && program !== 'ssh'
      ? []
      : words.slice(1, MOST_SUFFIXES).map((_, i) => words.slice(i + 1))),
  ]
}

const MOST_SUFFIXES = 40

/** `expect -c 'spawn git push'`, `python3 -c 'run(["git", "push"])'`: what may be this command in texts that a program runs. */
function inTexts([program = '**']: readonly TokenPattern[], words: Words): Words[] {
  return words.slice(1).flatMap(word => {
    if (word === null || !/[^\w./@:+-]/.test(word)) return []
    // One cheap look: most texts do not name the program of a rule.
    if (typeof program === 'string' && !/[*?]/.test(program) && !word.includes(program)) return []
    const tokens = word.split(/[^\w./@:+-]+/).filter(Boolean)
    return tokens.flatMap((token, i) => {
      const name = token.slice(token.lastIndexOf('/') + 1)
      const begins = program === '**' || matchToken(program, name, { program: name, index: 0, strict: true })
      return begins ? [[name, ...tokens.slice(i + 1, i + MOST_SUFFIXES)]] : []
    })
  })
}

/** One look at each pair of positions, so that no pattern takes long. */
function matchWords(pattern: readonly TokenPattern[], words: Words, strict: boolean): boolean {
  const program = words[0] ?? ''
  // reached[at]: the pattern so far may end before this word.
  let reached = new Set([0])
  for (const [index, token] of pattern.entries()) {
    const next = new Set<number>()
    for (const at of strict ? pastOptions(reached, words, program, index === 1) : reached) {
      if (token === '**') for (let end = at; end <= words.length; end += 1) next.add(end)
      else if (at < words.length && matchToken(token, words[at] ?? null, { program, index, strict })) {
        next.add(at + 1)
        // `"$@"` may be several words.
        if (at > 0 && words[at] === null) next.add(at)
      }
    }
    reached = token === '**' && !strict ? withoutUnknown(reached, next, words) : next
    if (reached.size === 0) return false
  }
  return (strict ? pastOptions(reached, words, program, false) : reached).has(words.length)
}

/** A rule that allows does not let `**` stand for a word that nobody knows. */
function withoutUnknown(from: ReadonlySet<number>, to: ReadonlySet<number>, words: Words): Set<number> {
  const start = Math.min(...from)
  const unknown = words.indexOf(null, start)
  return new Set(unknown === -1 ? to : [...to].filter(end => end <= unknown))
}

interface Place {
  readonly program: string
  readonly index: number
  readonly strict: boolean
}

function matchToken(pattern: TokenPattern, word: string | null, place: Place): boolean {
  if (word === null) return place.strict
  if (typeof pattern !== 'string') return pattern.some(alternative => matchToken(alternative, word, place))
  if (pattern === '*') return true
  if (/[*?]/.test(pattern)) return wordTest(pattern)(word)
  return pattern === word || (place.strict && isShortened(pattern, word, place))
}

const tests = new Map<string, NameTest>()

/** Rules are few and asked for every command. */
function wordTest(pattern: string): NameTest {
  const known = tests.get(pattern)
  if (known !== undefined) return known
  const made = compileText(pattern)
  tests.set(pattern, made)
  return made
}

/** npm takes any beginning of a subcommand for the subcommand, and has several names for most. */
function isShortened(pattern: string, word: string, { program, index }: Place): boolean {
  if (index !== 1) return false
  if (subcommandName(program, word) === subcommandName(program, pattern)) return true
  return program === 'npm' && word.length > 1 && pattern.startsWith(word)
}
