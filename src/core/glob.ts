import { ToolError } from './errors.ts'
import { compileGlobName, readGroup } from './extended-glob.ts'
import { hasOpenClass, type NameTest } from './wildcard.ts'

/** A pattern as a machine that takes one path component after another. */
export interface GlobPattern {
  /** Literal folders before the first wildcard; where the walk begins. May be absolute or begin with `..`. */
  readonly root: string
  readonly start: States
  /** The states after entering a folder; none left means that nothing below it can match. */
  enter(states: States, name: string): States
  accepts(states: States, name: string): boolean
}

/** Positions in the alternatives of a pattern; each packs alternative × 256 + component. */
export type States = readonly number[]

const MOST_ALTERNATIVES = 256
const MOST_COMPONENTS = 255

type Component = NameTest | 'globstar'

/** Compiles a glob with `*`, `?`, `[…]`, `**`, braces and extended groups. `asked` is what errors call it. */
export function compileGlob(pattern: string, asked = pattern): GlobPattern {
  const { root, rest } = splitRoot(pattern)
  const alternatives = expandBraces(rest).map(alternative => compileComponents(alternative, asked))
  const component = (state: number): Component | undefined => alternatives[state >> 8]?.[state & 0xff]
  /** `**` may also stand for nothing: the states behind it count as reached. */
  const close = (states: Iterable<number>): number[] => {
    const closed = new Set<number>()
    for (const state of states) {
      for (let next = state; ; next += 1) {
        closed.add(next)
        if (component(next) !== 'globstar' || component(next + 1) === undefined) break
      }
    }
    return [...closed]
  }
  return {
    root,
    start: close(alternatives.map((_, index) => index << 8)),
    enter: (states, name) => {
      const next = new Set<number>()
      for (const state of states) {
        const test = component(state)
        if (test === 'globstar') next.add(state)
        else if (component(state + 1) !== undefined && test?.(name) === true) next.add(state + 1)
      }
      return close(next)
    },
    accepts: (states, name) =>
      states.some(state => {
        const test = component(state)
        if (test === undefined || component(state + 1) !== undefined) return false
        return test === 'globstar' || test(name)
      }),
  }
}

/** Whether a whole path, relative to where the pattern begins, matches. */
export function matchesPath({ root, start, enter, accepts }: GlobPattern, path: string): boolean {
  if (root !== '' && !path.startsWith(`${root}/`)) return false
  const folders = path.slice(root === '' ? 0 : root.length + 1).split('/')
  const name = folders.pop() ?? ''
  let states = start
  for (const folder of folders) states = enter(states, folder)
  return accepts(states, name)
}

/** Splits off the leading components that name exactly one folder. */
function splitRoot(pattern: string): { root: string; rest: string } {
  const components = pattern
    .replaceAll(/\/{2,}/g, '/')
    .replace(/^\.\//, '')
    .split('/')
  const first = components.findIndex(component => /[*?[\]{}()!+@\\]/.test(component))
  const end = first === -1 ? components.length - 1 : first
  const root = components.slice(0, end).join('/')
  const rest = components.slice(end).join('/')
  return { root: root === '' && pattern.startsWith('/') ? '/' : root, rest }
}

function compileComponents(alternative: string, pattern: string): Component[] {
  const names = alternative.split('/').filter(name => name !== '' && name !== '.')
  if (names.length > MOST_COMPONENTS) throw tooComplex(pattern)
  if (names.includes('..')) {
    throw new ToolError('invalid_input', `'..' cannot follow a wildcard: ${pattern.slice(0, 200)}`, {
      hint: 'Name the folder to search in with base_dir.',
    })
  }
  if (names.some(hasOpenClass)) {
    throw new ToolError('invalid_input', `Unclosed bracket in the pattern: ${pattern.slice(0, 200)}`, {
      hint: 'A bracket opens a character class such as [abc]. Write \\[ to match the bracket itself.',
    })
  }
  const components = names.map(name => (name === '**' ? 'globstar' : compileGlobName(name)))
  // `**/**` is `**`.
  return components.filter(
    (component, index) => component !== 'globstar' || components[index - 1] !== 'globstar',
  )
}

/** `{a,b}` and `{1..3}`, nested; braces without a comma or range are characters like others. */
export function expandBraces(pattern: string): string[] {
  const done: string[] = []
  const open = [pattern]
  while (open.length > 0) {
    if (open.length + done.length > MOST_ALTERNATIVES) throw tooComplex(pattern)
    const next = open.shift() ?? ''
    const group = firstGroup(next)
    if (group === undefined) done.push(next)
    else
      open.push(...group.options.map(option => next.slice(0, group.start) + option + next.slice(group.end)))
  }
  return [...new Set(done)]
}

function firstGroup(text: string): { start: number; end: number; options: string[] } | undefined {
  for (let start = text.indexOf('{'); start !== -1; start = text.indexOf('{', start + 1)) {
    const group = text[start - 1] === '\\' ? undefined : readGroup(text, start, '{,}')
    if (group === undefined) continue
    const options = group.options.length > 1 ? group.options : rangeOf(group.options[0] ?? '')
    if (options !== undefined) return { start, end: group.end, options }
  }
  return undefined
}

function rangeOf(body: string): string[] | undefined {
  const [, from, to] = /^(-?\d{1,9})\.\.(-?\d{1,9})$/.exec(body) ?? []
  if (from === undefined || to === undefined) return undefined
  const [low, high] = [Math.min(Number(from), Number(to)), Math.max(Number(from), Number(to))]
  if (high - low >= MOST_ALTERNATIVES) throw tooComplex(`{${body}}`)
  return Array.from({ length: high - low + 1 }, (_, index) => String(low + index))
}

function tooComplex(pattern: string): ToolError {
  return new ToolError('invalid_input', `The pattern has too many alternatives: ${pattern.slice(0, 200)}`, {
    hint: 'Use a shorter pattern, or search several times.',
  })
}
