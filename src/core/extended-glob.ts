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
    const isGroup = /[@?*+!]/.test(character) && pattern[at + 1] === '('
    const group = isGroup ? readGroup(pattern, at + 1, '(|)') : undefined
    if (character === '\\') {
      plain += pattern.slice(at, at + 2)
      at += 2
    } else if (group === undefined) {
      plain += character
      at += 1
    } else {
      if (plain !== '') parts.push({ kind: 'plain', text: plain })
      plain = ''
      parts.push({ kind: 'group', mark: character, options: group.options.map(parse) })
      at = group.end
    }
  }
  return plain === '' ? parts : [...parts, { kind: 'plain', text: plain }]
}

/** What stands in the group that begins at `start`, split where no inner group is, and where it ends, if anything closes it. */
export function readGroup(
  text: string,
  start: number,
  [open, bar, close]: string,
): { options: string[]; end: number } | undefined {
  const options: string[] = []
  let from = start + 1
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]
    if (character === '\\') at += 1
    else if (character === open) depth += 1
    else if (character === close) depth -= 1
    if (depth === 0) return { options: [...options, text.slice(from, at)], end: at + 1 }
    if (character !== bar || depth > 1) continue
    options.push(text.slice(from, at))
    from = at + 1
  }
  return undefined
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
