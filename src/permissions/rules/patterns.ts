import { isAbsolute, join } from 'node:path'
import { domainToASCII } from 'node:url'
import { compileGlob as compileComponents, matchesPath } from '../../core/glob.ts'
import { realPathOf } from '../../core/real-path.ts'
import { foldPath, foldText, type PathContext } from '../paths/paths.ts'

export interface PathMatcher {
  /** The path itself matches. */
  matches(path: string): boolean
  /** The path, or a folder it lies in: what a rule forbids for a folder holds for everything below it. */
  covers(path: string): boolean
}

/**
 * Path patterns of rules. `~/` is the home folder, `/…` is absolute, `a/b` is relative to the workspace, and a pattern
 * without a slash (`*.pem`) matches a name at any depth. The fixed part of a pattern is resolved through links, so that
 * a rule written with a link still holds for the real file.
 */
export function compilePaths(
  patterns: readonly string[],
  context: PathContext,
  compare: 'folded' | 'exact',
): PathMatcher {
  const globs = [...new Set(patterns.flatMap(pattern => spellings(pattern, context)))]
  const isExact = compare === 'exact'
  const fold = isExact ? (path: string): string => path : foldPath
  const compiled = globs.map(glob => compileGlob(isExact ? glob : foldPattern(glob)))
  // `?` is one letter of the name as it is written: folding makes two of `ß`.
  const lower = isExact ? [] : globs.map(glob => compileGlob(lowerCase(glob)))
  const test = (isMatch: (glob: Glob, path: string) => boolean) => {
    const some = (all: readonly Glob[], path: string): boolean =>
      all.some(glob => path.startsWith(glob.beginning) && isMatch(glob, path))
    return (path: string): boolean =>
      some(compiled, fold(path)) || (/[^\0-\x7f]/.test(path) && some(lower, lowerCase(path)))
  }
  return { matches: test((glob, path) => glob.isMatch(path)), covers: test(coversBelow) }
}

function lowerCase(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

interface Glob {
  /** What every match begins with: most rules are about other places, and this tells it without an expression. */
  readonly beginning: string
  isMatch(path: string): boolean
}

function compileGlob(glob: string): Glob {
  const pattern = compileComponents(glob.slice(1), glob)
  // `a/**` is also `a` itself.
  const folder = glob.endsWith('/**') ? compileComponents(glob.slice(1, -3), glob) : undefined
  const [beginning = ''] = /^[\w/.-]*/.exec(`/${pattern.root}`) ?? []
  return {
    beginning,
    isMatch: path => {
      const relative = path.slice(1)
      return (
        path === glob ||
        matchesPath(pattern, relative) ||
        (folder !== undefined && matchesPath(folder, relative))
      )
    },
  }
}

function coversBelow({ beginning, isMatch }: Glob, path: string): boolean {
  const shortest = Math.max(1, beginning.length)
  for (let end = path.length; end >= shortest; end = path.lastIndexOf('/', end - 1)) {
    if (isMatch(path.slice(0, end))) return true
  }
  return false
}

function spellings(pattern: string, context: PathContext): string[] {
  const absolute = toAbsolute(pattern, context)
  // `/**/x` does not match `/x`.
  if (absolute.startsWith('/**/')) return [absolute, absolute.slice(3)]
  const { base, rest } = fixedPart(absolute)
  const real = realPathOf(base)
  // Escaped: the fixed part is a path, and a folder may be called `[x]`.
  const resolved = rest === '' ? escapeGlob(real) : `${escapeGlob(real === '/' ? '' : real)}/${rest}`
  return [absolute, resolved]
}

/** The folders before the first wildcard, as a path. */
function fixedPart(pattern: string): { base: string; rest: string } {
  const parts = pattern.split('/')
  const first = parts.findIndex(part => /[*?[\]{}()!+@]/.test(part.replaceAll(/\\./gs, '')))
  const fixed = first === -1 ? parts : parts.slice(0, first)
  return {
    base: fixed.join('/').replaceAll(/\\(.)/gs, '$1') || '/',
    rest: first === -1 ? '' : parts.slice(first).join('/'),
  }
}

function toAbsolute(pattern: string, context: PathContext): string {
  if (pattern.startsWith('~/')) return `${escapeGlob(context.home)}/${pattern.slice(2)}`
  if (pattern.startsWith('**')) return pattern.startsWith('**/') ? `/${pattern}` : `/**/${pattern}`
  if (isAbsolute(pattern)) return pattern
  if (!pattern.includes('/')) return `/**/${pattern}`
  return `${escapeGlob(context.workspace)}/${pattern.replace(/^\.\//, '')}`
}

export function escapeGlob(path: string): string {
  return (path === '' ? '' : join(path)).replaceAll(GLOB_SIGNS, '\\$&')
}

const GLOB_SIGNS = /[\\*?[\]{}()!+@]/g

/** A sign that only folding makes of a character (`＊`) stands for itself. */
function foldPattern(pattern: string): string {
  return foldText(
    pattern.replaceAll(/[^\0-\x7f]+/g, run => run.normalize('NFKD').replaceAll(GLOB_SIGNS, '\\$&')),
  )
}

/** `example.com` is that host, `*.example.com` any host below it, each with `:port` where one is meant. */
export function compileHosts(patterns: readonly string[]): (host: string, port: number) => boolean {
  const compiled = patterns.map(pattern => {
    const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? []
    return {
      name: domainToASCII(name.replace(/\.$/, '')) || name,
      port: port === undefined ? undefined : Number(port),
    }
  })
  return (host, port) =>
    compiled.some(
      pattern => (pattern.port === undefined || pattern.port === port) && hostMatches(pattern.name, host),
    )
}

function hostMatches(pattern: string, host: string): boolean {
  if (pattern === '*' || pattern === '**') return true
  if (pattern.startsWith('*.')) return host.endsWith(pattern.slice(1))
  return pattern === host
}
