import { ToolError } from './errors.ts'
import { compileWildcard, type NameTest, startsAfter } from './wildcard.ts'

/**
 * One name with `@(a|b)`, `?(…)`, `*(…)`, `+(…)` and `!(…)`, nested. Followed through the name as the set of places that
 * may have been reached: no way back, so that the time is bounded by the lengths of pattern and name.
 */
export function compileGlobName(pattern: string): NameTest {
  if (!/[@?*+!]\(/.test(pattern)) return compileWildcard(pattern)
  if (pattern.length > LONGEST) {
    throw new ToolError('invalid_input', `This part of the pattern is too long: ${pattern.slice(0, 200)}`, {
      hint: 'Use braces {a,b} for alternatives, or search twice.',
    })
  }
  const parts = parse(pattern)
  return name => name === pattern || reach(parts, Array.from(name), new Set([0])).has(Array.from(name).length)
}

const LONGEST = 1000

type Part = { kind: 'plain'; text: string } | { kind: 'group'; mark: string; options: readonly Part[][] }

/** A group that nothing closes is text. */
function parse(pattern: string): Part[] {
  const parts: Part[] = []
  let plain = ''
  for (let at = 0; at < pattern.length; ) {
    const character = pattern[at] ?? ''
    const end = /[@?*+!]/.test(character) && pattern[at + 1] === '(' ? closing(pattern, at + 1) : -1
    if (character === '\\') {
      plain += pattern.slice(at, at + 2)
      at += 2
    } else if (end === -1) {
      plain += character
      at += 1
    } else {
      if (plain !== '') parts.push({ kind: 'plain', text: plain })
      plain = ''
      const options = split(pattern.slice(at + 2, end)).map(parse)
      parts.push({ kind: 'group', mark: character, options })
      at = end + 1
    }
  }
  return plain === '' ? parts : [...parts, { kind: 'plain', text: plain }]
}

function closing(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '(') depth += 1
    else if (text[at] === ')') {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return -1
}

/** At the bars that are in no inner group. */
function split(text: string): string[] {
  const found: string[] = []
  let from = 0
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '(') depth += 1
    else if (text[at] === ')') depth -= 1
    else if (text[at] === '|' && depth === 0) {
      found.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...found, text.slice(from)]
}

type Places = ReadonlySet<number>

function reach(parts: readonly Part[], name: readonly string[], from: Places): Places {
  let places = from
  for (const part of parts) {
    if (places.size === 0) return places
    places = part.kind === 'plain' ? startsAfter(part.text, name, places) : reachGroup(part, name, places)
  }
  return places
}

function reachGroup(group: Part & { kind: 'group' }, name: readonly string[], from: Places): Places {
  const once = (places: Places): Set<number> =>
    new Set(group.options.flatMap(option => [...reach(option, name, places)]))
  switch (group.mark) {
    case '@':
      return once(from)
    case '?':
      return new Set([...from, ...once(from)])
    case '!': {
      const ends = new Set<number>()
      for (const start of from) {
        const excluded = once(new Set([start]))
        for (let end = start; end <= name.length; end += 1) if (!excluded.has(end)) ends.add(end)
      }
      return ends
    }
    default: {
      // `*(…)` and `+(…)`: as long as it leads somewhere new.
      const all = once(from)
      for (let fresh: Places = all; fresh.size > 0; ) {
        const next = [...once(fresh)].filter(place => !all.has(place))
        for (const place of next) all.add(place)
        fresh = new Set(next)
      }
      return group.mark === '*' ? new Set([...from, ...all]) : all
    }
  }
}
