import { compileWildcard, type NameTest } from '../../core/wildcard.ts'

/** What one ignore file says about the entries of its folder and those below. */
export interface IgnoreRules {
  /** True when it is ignored, false when `!` takes that back, undefined when no rule speaks of it. */
  verdict(entry: IgnoredEntry): boolean | undefined
}

interface IgnoredEntry {
  readonly name: string
  readonly isFolder: boolean
  /** Whether it lies in the folder of the ignore file itself. */
  readonly isTop: boolean
  /** Its path relative to the folder of the ignore file; most rules do not need it. */
  path(): string
}

interface Rule {
  /** Later rules win. */
  readonly order: number
  readonly ignores: boolean
  readonly foldersOnly: boolean
}

interface NamedRule extends Rule {
  readonly test: NameTest
}

interface PathRule extends Rule {
  readonly components: readonly (NameTest | 'globstar')[]
}

/** Compiles a `.gitignore`. Null: it has no rules. */
export function parseIgnoreRules(content: string): IgnoreRules | null {
  const byName = new Map<string, Rule[]>()
  const byExtension = new Map<string, Rule[]>()
  const names: NamedRule[] = []
  const top: NamedRule[] = []
  const paths: PathRule[] = []
  for (const [order, line] of content.split('\n').entries()) {
    const parsed = parseLine(line)
    if (parsed === undefined) continue
    const rule: Rule = { order, ignores: parsed.ignores, foldersOnly: parsed.foldersOnly }
    const { pattern } = parsed
    if (parsed.isPath && pattern.includes('/')) paths.push({ ...rule, components: componentsOf(pattern) })
    else if (parsed.isPath) top.push({ ...rule, test: compileWildcard(pattern) })
    else if (/^[^*?[\\]+$/.test(pattern)) push(byName, pattern, rule)
    else if (/^\*\.[^*?[\\.]+$/.test(pattern)) push(byExtension, pattern.slice(1), rule)
    else names.push({ ...rule, test: compileWildcard(pattern) })
  }
  if (byName.size + byExtension.size + names.length + top.length + paths.length === 0) return null
  return {
    verdict({ name, isFolder, isTop, path }) {
      let best: Rule | undefined
      const consider = (rule: Rule): void => {
        if ((best === undefined || rule.order > best.order) && (isFolder || !rule.foldersOnly)) best = rule
      }
      for (const rule of byName.get(name) ?? NONE) consider(rule)
      if (byExtension.size > 0) {
        const dot = name.lastIndexOf('.')
        if (dot !== -1) for (const rule of byExtension.get(name.slice(dot)) ?? NONE) consider(rule)
      }
      for (const rule of names) if (rule.test(name)) consider(rule)
      if (isTop) for (const rule of top) if (rule.test(name)) consider(rule)
      if (paths.length > 0) {
        const parts = path().split('/')
        for (const rule of paths) if (matchPath(rule.components, parts)) consider(rule)
      }
      return best?.ignores
    },
  }
}

const NONE: readonly Rule[] = []

function push(map: Map<string, Rule[]>, key: string, rule: Rule): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [rule])
  else list.push(rule)
}

interface ParsedLine {
  pattern: string
  ignores: boolean
  foldersOnly: boolean
  /** Relative to the folder of the file; otherwise it matches names at any depth. */
  isPath: boolean
}

function parseLine(raw: string): ParsedLine | undefined {
  if (raw.startsWith('#') || raw.length > LONGEST_LINE) return undefined
  const line = withoutTrailingSpaces(raw.endsWith('\r') ? raw.slice(0, -1) : raw)
  const ignores = !line.startsWith('!')
  let end = line.length
  while (line[end - 1] === '/') end -= 1
  const pattern = line.slice(ignores ? 0 : 1, end)
  if (pattern === '') return undefined
  const foldersOnly = end < line.length
  const isPath = pattern.includes('/')
  const relative = pattern.startsWith('/') ? pattern.slice(1) : pattern
  // `**/name` says no more than `name`.
  const name = /^\*\*\/([^/]+)$/.exec(relative)?.[1]
  if (name !== undefined && name !== '**') return { pattern: name, ignores, foldersOnly, isPath: false }
  return { pattern: relative, ignores, foldersOnly, isPath }
}

const LONGEST_LINE = 4096

/** Spaces at the end count only when the last one is escaped. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length
  while (line[end - 1] === ' ' || line[end - 1] === '\t') end -= 1
  return line[end - 1] === '\\' && end < line.length ? line.slice(0, end + 1) : line.slice(0, end)
}

function componentsOf(pattern: string): (NameTest | 'globstar')[] {
  return pattern.split('/').map(component => (component === '**' ? 'globstar' : compileWildcard(component)))
}

/** As with stars in a name: going back to the last `**` is enough. */
function matchPath(components: readonly (NameTest | 'globstar')[], parts: readonly string[]): boolean {
  let component = 0
  let at = 0
  let star = -1
  let resume = 0
  while (at < parts.length) {
    const current = components[component]
    if (current === 'globstar') {
      star = component
      // At the end `**` stands for what is inside, not for the folder itself.
      resume = component === components.length - 1 ? at + 1 : at
      at = resume
      component += 1
      if (component === components.length) return parts.length >= at
    } else if (current?.(parts[at] ?? '') === true) {
      component += 1
      at += 1
    } else if (star !== -1) {
      component = star + 1
      resume += 1
      at = resume
    } else return false
  }
  return component === components.length
}
