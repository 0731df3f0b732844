/** Redirections: what they read and write, and which of them need no shell. */
import type { HereDoc, Redirect, Redirection } from 'unbash'
import type { CommandRedirect } from '../../core/command.ts'
import { type Arg, isUnresolved, seen } from './args.ts'
import { goesUpAgain, specialFile } from './destructive-paths.ts'
import { forbiddenRedirect } from './forbidden.ts'
import { absolutePaths, addAccess, note, type Report, type Scope } from './state.ts'
import { resolveSingle, toPieces } from './words.ts'

export interface Redirects {
  /** Null when it needs a shell. */
  plan: CommandRedirect[] | null
  /** Known text on standard input. */
  stdin: string | null
  /** Standard input is replaced by a file or a text. */
  input: boolean
}

export function judgeRedirects(redirects: readonly Redirection[], scope: Scope, report: Report): Redirects {
  const result: Redirects = { plan: [], stdin: null, input: false }
  for (const redirect of redirects) {
    const plan = judgeOne(redirect, scope, report, result)
    if (plan === null || result.plan === null) result.plan = null
    else result.plan.push(...plan)
  }
  return result
}

function judgeOne(
  redirect: Redirection,
  scope: Scope,
  report: Report,
  result: Redirects,
): CommandRedirect[] | null {
  if (redirect.type === 'HereDoc') return hereDoc(redirect, report, result)
  if (redirect.target === undefined) return unresolvedTarget(report)
  if (redirect.type === 'Redirect')
    return toFile(redirect, resolveSingle(redirect.target, scope), scope, report, result)
  const arg = resolveSingle(redirect.target, scope)
  result.input = true
  result.stdin = `${seen(arg)}\n`
  if (arg.text === null) return unresolvedTarget(report)
  return redirect.descriptor === undefined ? [{ kind: 'text', fd: 0, text: `${arg.text}\n` }] : null
}

function unresolvedTarget(report: Report): null {
  report.unresolved = true
  note(report, 'unknown', 'The target of a redirection is known only at run time.')
  return null
}

function hereDoc(redirect: HereDoc, report: Report, result: Redirects): CommandRedirect[] | null {
  const { body, delimiter } = redirect
  const strip = (text: string): string => (redirect.operator === '<<-' ? text.replace(/^\t+/gm, '') : text)
  result.input = true
  result.stdin = strip(body.text)
  if (delimiter?.quoted !== true && body.parts?.some(part => part.type !== 'Literal'))
    return unresolvedTarget(report)
  if (redirect.descriptor !== undefined || delimiter === undefined || redirect.closing === undefined)
    return null
  // Without quotes around the delimiter backslashes are read by the shell.
  if (!delimiter.quoted && body.text.includes('\\')) return null
  return [{ kind: 'text', fd: 0, text: strip(body.text) }]
}

function toFile(
  redirect: Redirect,
  arg: Arg,
  scope: Scope,
  report: Report,
  result: Redirects,
): CommandRedirect[] | null {
  const { operator, descriptor } = redirect
  if (isPattern(redirect, scope)) return unresolvedTarget(report)
  const fd = descriptor === undefined ? null : descriptor.type === 'FileDescriptor' ? descriptor.value : -1
  const duplicates = (operator === '>&' || operator === '<&') && /^(?:\d+-?|-)$/.test(seen(arg))
  if (duplicates && arg.text !== null) return duplicate(operator, fd, arg.text)
  const reads = operator === '<' || operator === '<&' || operator === '<>'
  const writes = operator !== '<' && operator !== '<&'
  if (reads && (fd ?? 0) === 0) result.input = true
  for (const path of arg.worst.flatMap(text => absolutePaths(text, scope))) checkTarget(path, writes, report)
  if (isUnresolved(arg) || arg.text === null) return unresolvedTarget(report)
  if (scope.cwds === null && !arg.text.startsWith('/')) return unresolvedTarget(report)
  if (arg.text === '/dev/null') return toNull(operator, fd)
  if (writes && /^\/dev\/std(?:out|err)$/.test(arg.text) && operator === '>') {
    return standard(fd ?? 1, arg.text === '/dev/stdout' ? 1 : 2)
  }
  for (const path of absolutePaths(arg.text, scope)) {
    if (reads) addAccess(report, { kind: 'file_read', path })
    if (writes) addAccess(report, { kind: 'file_write', path })
  }
  if (!writes) {
    report.effects.add('reads-files')
    const special = absolutePaths(arg.text, scope)
      .map(specialFile)
      .find(reason => reason !== null)
    if (special != null) note(report, 'caution', special)
    if (goesUpAgain(arg.text))
      note(report, 'unknown', `The path \`${arg.raw}\` has ".." after a folder that may be a symlink.`)
    return operator === '<' && (fd ?? 0) === 0 ? [{ kind: 'file', fd: 0, path: arg.text }] : null
  }
  report.effects.add('writes-files')
  note(
    report,
    /^\/(?:dev|proc|sys|etc|boot|usr|bin|sbin|lib)\//.test(arg.text) ? 'dangerous' : 'caution',
    `The output is written to ${arg.text}.`,
  )
  return null
}

/** Bash expands patterns in redirect targets; two matches are an error, one is a surprise. */
function isPattern(redirect: Redirect, scope: Scope): boolean {
  if (redirect.target?.parts === undefined) return false
  return toPieces(redirect.target, scope).some(piece => piece.kind === 'glob' || piece.kind === 'brace')
}

function checkTarget(path: string, writes: boolean, report: Report): void {
  const reason = forbiddenRedirect(path, writes)
  if (reason === null) return
  note(report, 'forbidden', `This ${reason} (${path}).`)
  if (path.startsWith('/dev/'))
    report.effects.add(/^\/dev\/(?:tcp|udp)/.test(path) ? 'remote-shell' : 'disk-write')
}

function duplicate(operator: string, fd: number | null, target: string): CommandRedirect[] | null {
  const from = fd ?? (operator === '>&' ? 1 : 0)
  if (!/^[12]$/.test(target)) return null
  return standard(from, target === '1' ? 1 : 2)
}

function standard(from: number, of: 1 | 2): CommandRedirect[] | null {
  return from === 1 || from === 2 ? [{ kind: 'dup', fd: from, of }] : null
}

function toNull(operator: string, fd: number | null): CommandRedirect[] | null {
  if (operator === '&>' || operator === '&>>' || (operator === '>&' && fd === null)) {
    return [
      { kind: 'null', fd: 1 },
      { kind: 'null', fd: 2 },
    ]
  }
  const target = fd ?? (operator === '<' ? 0 : 1)
  if (operator === '<>' || operator === '<&') return null
  return target === 0 || target === 1 || target === 2 ? [{ kind: 'null', fd: target }] : null
}
