import type { LinearPattern } from './linear-pattern.ts'
import {
  ASSIGNMENT_TRIGGER,
  isPlaceholder,
  maskAssigned,
  SECRET_KEY,
  secretKind,
} from './secret-assignments.ts'
import { type Mask, TOKEN_MASK, WHOLE_MASK } from './secret-mask.ts'
import { CONTEXT_RULES, CONTEXT_TRIGGER, TOKEN_RULES, TOKEN_TRIGGER } from './secret-patterns.ts'

/** For results, events and errors: all that could belong to a secret is removed. A mask says of which kind it was. */
export interface Redactor extends Redaction {
  /** For what somebody decides about, and for the log: a mask covers one token, so that all code stays readable. */
  readonly perToken: Redaction
}

export interface Redaction {
  text(text: string): string
  /** Without the patterns of the configuration, for names of our own: those must stay what they are. */
  ownText(text: string): string
  /**
   * A deep copy of plain data with every string and key redacted; a string under a key like `api_key`, or behind `--api-key`
   * in a list, goes altogether.
   * Cycles and nesting beyond 100 levels are cut. `shorten` says what stands for a string that is longer than that.
   */
  value<T>(value: T, shorten?: Shorten): T
}

/** To look for secrets in a long text costs more than all the rest of a call, for a text that is not kept. */
export interface Shorten {
  readonly longest: number
  /** Has to redact what it keeps of the text. */
  replace(text: string): unknown
}

export interface RedactorOptions {
  /** More patterns; the whole match is removed. */
  patterns?: readonly LinearPattern[]
  /** Secrets that are known, removed wherever they stand. Shorter than 4 characters they are left: too much would go. */
  values?: readonly string[]
}

const DEEPEST = 100
const SHORTEST_VALUE = 4

export function createRedactor(options: RedactorOptions = {}): Redactor {
  const known = spellings(options.values ?? [])
  const own = options.patterns ?? []
  return { ...createRedaction(known, own, WHOLE_MASK), perToken: createRedaction(known, own, TOKEN_MASK) }
}

function createRedaction(known: readonly string[], own: readonly LinearPattern[], mask: Mask): Redaction {
  const custom = (match: string): string => mask.mark('custom', match)
  const redact = (input: string, patterns: readonly LinearPattern[]): string => {
    let output = input
    for (const value of known) {
      if (output.includes(value)) output = output.replaceAll(value, () => mask.mark('value', value, true))
    }
    for (const pattern of patterns) output = pattern.replaceAll(output, custom)
    if (TOKEN_TRIGGER.test(output)) for (const rule of TOKEN_RULES) output = rule(output, mask)
    if (CONTEXT_TRIGGER.test(output)) for (const rule of CONTEXT_RULES) output = rule(output, mask)
    return ASSIGNMENT_TRIGGER.test(output) ? maskAssigned(output, mask) : output
  }
  const text = (input: string): string => redact(input, own)
  const strip: Strip = {
    mask,
    text: remember(text, (input, output) => output === input),
    key: remember(
      key => ({ name: text(key), promises: promised(key) }),
      (key, { name }) => name === key,
    ),
  }
  return {
    text: strip.text,
    ownText: input => redact(input, []),
    value: (value, shorten) =>
      // Every string of the value may be changed, never its shape; that is what the type says.
      copy(
        value,
        shorten === undefined ? strip : { ...strip, shorten },
        undefined,
        new Set(),
      ) as typeof value,
  }
}

interface Strip {
  readonly mask: Mask
  readonly text: (text: string) => string
  readonly key: (key: string) => Key
  readonly shorten?: Shorten
}

interface Key {
  readonly name: string
  /** The kind of secret that it promises. */
  readonly promises: string | undefined
}

const LONGEST_REMEMBERED = 250
const MOST_REMEMBERED = 1000

/**
 * Nearly all keys and short strings of events are the same few: names, paths, reasons. `isWorth`: what held a secret is
 * not kept.
 */
export function remember<T>(
  make: (text: string) => T,
  isWorth: (text: string, made: T) => boolean,
): (text: string) => T {
  const known = new Map<string, T>()
  return text => {
    if (text.length > LONGEST_REMEMBERED) return make(text)
    const found = known.get(text)
    if (found !== undefined) return found
    const made = make(text)
    if (!isWorth(text, made)) return made
    if (known.size === MOST_REMEMBERED) known.clear()
    known.set(text, made)
    return made
  }
}

/** A secret as it stands, inside JSON, and inside a URL; the longest first, so that no rest of one stays behind. */
function spellings(values: readonly string[]): string[] {
  const all = values
    .filter(value => value.length >= SHORTEST_VALUE)
    .flatMap(value => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())])
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

/** `secret`: the kind of secret that the key promised; `above`: the objects that this one is part of. */
function copy(value: unknown, strip: Strip, secret: string | undefined, above: Set<object>): unknown {
  if (typeof value === 'string') {
    if (secret !== undefined && !isPlaceholder(value)) return strip.mask.mark(secret, value)
    const { shorten } = strip
    return shorten !== undefined && value.length > shorten.longest
      ? shorten.replace(value)
      : strip.text(value)
  }
  if (typeof value !== 'object' || value === null) return value
  if (above.has(value)) return '‹circular›'
  if (above.size === DEEPEST) return '‹nested too deeply›'
  above.add(value)
  const copied = copyEntries(value, strip, secret, above)
  above.delete(value)
  return copied
}

function copyEntries(value: object, strip: Strip, secret: string | undefined, above: Set<object>): unknown {
  if (Array.isArray(value))
    return value.map((item, index) =>
      copy(item, strip, secret ?? promisedByFlag(value[index - 1], strip), above),
    )
  if (value instanceof Date) return new Date(value)
  const entries = Object.entries(value)
  let isRenamed = false
  for (const entry of entries) {
    const { name, promises } = strip.key(entry[0])
    isRenamed ||= name !== entry[0]
    entry[0] = name
    entry[1] = copy(entry[1], strip, promises, above)
  }
  if (isRenamed) makeUnique(entries)
  // Defines each key, so that `__proto__` stays data.
  return Object.fromEntries(entries)
}

/** Two secret keys may look the same once redacted; neither may overwrite the other. */
function makeUnique(entries: [string, unknown][]): void {
  const taken = new Set<string>()
  for (const entry of entries) {
    while (taken.has(entry[0])) entry[0] += '+'
    taken.add(entry[0])
  }
}

/** Of the words of a command, `--token` promises what the next one is. */
function promisedByFlag(word: unknown, { key }: Strip): string | undefined {
  if (typeof word !== 'string' || !/^--?[A-Za-z][\w-]{0,50}$/.test(word)) return undefined
  return key(word.replace(/^-+/, '')).promises
}

function promised(key: string): string | undefined {
  const name = SECRET_KEY.exec(key)?.[1]
  return name === undefined ? undefined : secretKind(name)
}
