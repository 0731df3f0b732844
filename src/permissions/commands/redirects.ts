/** Redirections: what they read and write, and which of them need no shell. */
import type { HereDoc, Redirect, Redirection } from 'unbash'
import type { CommandRedirect } from '../../core/command.ts'
import { type Arg, seen } from './args.ts'
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
  const all: Redirects = { plan: [], stdin: null, input: false }
  for (const redirect of redirects) {
    const { plan, stdin, input = false } = judgeOne(redirect, scope, report)
    all.plan = plan === null || all.plan === null ? null : [...all.plan, ...plan]
    all.stdin = stdin ?? all.stdin
    all.input ||= input
  }
  return all
}

type Judged = Pick<Redirects, 'plan'> & Partial<Redirects>

function judgeOne(redirect: Redirection, scope: Scope, report: Report): Judged {
  if (redirect.type === 'HereDoc') return hereDoc(redirect, report)
  if (redirect.target === undefined) return unresolvedTarget(report)
  const arg = resolveSingle(redirect.target, scope)
  if (redirect.type === 'Redirect') return toFile(redirect, arg, scope, report)
  const text = `${seen(arg)}\n`
  const given = { stdin: text, input: true }
  if (arg.text === null) return { ...unresolvedTarget(report), ...given }
  return { plan: redirect.descriptor === undefined ? [{ kind: 'text', fd: 0, text }] : null, ...given }
}

function unresolvedTarget(report: Report): Judged {
  report.unresolved = true
  note(report, 'unknown', 'The target of a redirection is known only at run time.')
  return { plan: null }
}

function hereDoc({ body, delimiter, ...redirect }: HereDoc, report: Report): Judged {
  const text = redirect.operator === '<<-' ? body.text.replace(/^\t+/gm, '') : body.text
  const given = { stdin: text, input: true }
  if (delimiter?.quoted !== true && body.parts?.some(part => part.type !== 'Literal'))
    return { ...unresolvedTarget(report), ...given }
  // Without quotes around the delimiter backslashes are read by the shell.
  const isPlain = delimiter?.quoted === true || !body.text.includes('\\')
  const isWhole =
    redirect.descriptor === undefined && delimiter !== undefined && redirect.closing !== undefined
  return { plan: isPlain && isWhole ? [{ kind: 'text', fd: 0, text }] : null, ...given }
}

function toFile(redirect: Redirect, arg: Arg, scope: Scope, report: Report): Judged {
  const { operator, descriptor } = redirect
  if (isPattern(redirect, scope)) return unresolvedTarget(report)
  const fd = descriptor === undefined ? null : descriptor.type === 'FileDescriptor' ? descriptor.value : -1
  const duplicates = (operator === '>&' || operator === '<&') && /^(?:\d+-?|-)$/.test(seen(arg))
  if (duplicates && arg.text !== null) return { plan: duplicate(operator, fd, arg.text) }
  const reads = operator === '<' || operator === '<&' || operator === '<>'
  const writes = operator !== '<' && operator !== '<&'
  const input = reads && (fd ?? 0) === 0
  for (const path of arg.worst.flatMap(text => absolutePaths(text, scope))) checkTarget(path, writes, report)
  if (arg.text === null || (scope.cwds === null && !arg.text.startsWith('/')))
    return { ...unresolvedTarget(report), input }
  if (arg.text === '/dev/null') return { plan: toNull(operator, fd), input }
  if (/^\/dev\/std(?:out|err)$/.test(arg.text) && operator === '>')
    return { plan: standard(fd ?? 1, arg.text === '/dev/stdout' ? 1 : 2) }
  const paths = absolutePaths(arg.text, scope)
  for (const path of paths) {
    if (reads) addAccess(report, { kind: 'file_read', path })
    if (writes) addAccess(report, { kind: 'file_write', path })
  }
  if (!writes) {
    report.effects.add('reads-files')
    const special = paths.map(specialFile).find(reason => reason !== null)
    if (special != null) note(report, 'caution', special)
    if (goesUpAgain(arg.text))
      note(report, 'unknown', `The path \`${arg.raw}\` has ".." after a folder that may be a symlink.`)
    return { plan: operator === '<' && input ? [{ kind: 'file', fd: 0, path: arg.text }] : null, input }
  }
  report.effects.add('writes-files')
  note(
    report,
    /^\/(?:dev|proc|sys|etc|boot|usr|bin|sbin|lib)\//.test(arg.text) ? 'dangerous' : 'caution',
    `The output is written to ${arg.text}.`,
  )
  return { plan: null, input }
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
    return ([1, 2] as const).map(each => ({ kind: 'null', fd: each }))
  }
  const target = fd ?? (operator === '<' ? 0 : 1)
  if (operator === '<>' || operator === '<&') return null
  return target === 0 || target === 1 || target === 2 ? [{ kind: 'null', fd: target }] : null
}
