/** What a reading command reads, as access items that the engine judges. */
import { type Arg, seen } from './args.ts'
import { type Call, raise } from './call.ts'
import type { ReaderVerdict, ReadItem } from './programs/special.ts'
import { goesUpAgain, isInside, specialFile } from './protected-paths.ts'
import { absolutePaths, addAccess, normalize, type Report, type Scope } from './state.ts'

export function recordReads(
  call: Call,
  verdict: Extract<ReaderVerdict, { ok: true }>,
  directories: Arg[],
): void {
  const scope = inDirectories(call.scope, directories)
  if (verdict.reads.length > 0 || verdict.cwd !== 'no') raise(call, 'safe', '', ['reads-files'])
  for (const item of verdict.reads) recordItem(call, item, scope)
  if (verdict.cwd === 'no') return
  if (scope.cwds === null) {
    unknownFolder(call)
    return
  }
  for (const path of scope.cwds) {
    addAccess(call.report, { kind: 'file_read', path })
    if (verdict.cwd !== 'folder') recordTree(call, path, verdict.cwd === 'tree-content')
  }
}

function unknownFolder(call: Call): void {
  call.report.unresolved = true
  raise(call, 'unknown', 'The folder in which this runs is not known.')
}

/** `git -C dir`: paths are relative to that folder. */
function inDirectories(scope: Scope, directories: Arg[]): Scope {
  let cwds = scope.cwds
  for (const directory of directories) {
    const next = cwds
    cwds = directory.text === null ? null : absolutePaths(directory.text, { ...scope, cwds: next })
  }
  return { ...scope, cwds }
}

function recordItem(call: Call, item: ReadItem, scope: Scope): void {
  const { arg } = item
  const text = seen(arg)
  if (text === '-' || text === '' || (arg.text === null && arg.glob === null)) return
  if (scope.cwds === null && !text.startsWith('/')) {
    unknownFolder(call)
    return
  }
  if (goesUpAgain(text)) {
    raise(call, 'unknown', `The path \`${arg.raw}\` goes up again after a folder that may be a link.`)
  }
  if (arg.glob !== null) {
    recordGlob(call, arg.glob.pattern, scope)
    return
  }
  for (const path of absolutePaths(text, scope)) {
    addAccess(call.report, { kind: 'file_read', path })
    if (item.content) checkSpecial(call, path)
    if (item.tree) recordTree(call, path, item.content)
  }
}

function recordGlob(call: Call, pattern: string, scope: Scope): void {
  // The folder is everything before the first part with a pattern character in it.
  const parts = pattern.split('/')
  const first = parts.findIndex(part => /(?<!\\)(?:\\\\)*[*?[]/.test(part))
  const parent = parts.slice(0, first).join('/').replace(/\\(.)/g, '$1')
  const bases = pattern.startsWith('/') ? [''] : (scope.cwds ?? []).map(cwd => `${cwd}/`)
  for (const base of bases) {
    const directory = normalize(`${base}${parent}` || '/')
    addAccess(call.report, { kind: 'file_read', path: directory })
    const escaped = base.replace(/[*?[\]\\]/g, '\\$&')
    call.report.globs.set(escaped + pattern, { pattern: escaped + pattern, directory })
    checkSpecial(call, `${directory === '/' ? '' : directory}/${parts.slice(first).join('/')}`)
    // `/*/self/environ` would reach places that only look harmless.
    if (directory === '/' && parts.length - first > 1)
      raise(call, 'caution', 'The pattern begins at the root folder.')
  }
}

function recordTree(call: Call, path: string, content: boolean): void {
  const { report } = call
  const known = report.trees.get(path)
  report.trees.set(path, { path, content: content || known?.content === true })
  if (content && holdsSecrets(path, report)) {
    raise(call, 'caution', `Reading everything below ${path} also reads files that hold secrets.`)
  }
}

function holdsSecrets(path: string, report: Report): boolean {
  const outside = !isInside(path, report.context.workspace)
  return (
    outside &&
    (isInside(report.context.home, path) ||
      /^\/(?:etc|proc|sys|dev|root|var|run|(?:home|Users)\/[^/]+)?$/.test(path))
  )
}

function checkSpecial(call: Call, path: string): void {
  const reason = specialFile(path)
  if (reason !== null) raise(call, 'caution', reason, path.startsWith('/proc') ? ['reads-environment'] : [])
}
