/** Effects and access of commands that do more than read: files written and deleted, machines contacted. */
import { isInside } from '../../core/real-path.ts'
import { type Arg, isUnresolved, programName, seen } from './args.ts'
import { type Call, noteAssignment, raise } from './call.ts'
import { hostsOf } from './hosts.ts'
import { type Action, findAction } from './programs/actions.ts'
import { runByRunner, subcommandStarts } from './programs/subcommands.ts'
import { absolutePaths, addAccess, addGlob, globsIn } from './state.ts'
import { LEVEL_SCORES } from './types.ts'
import { isWrapper } from './wrappers.ts'

/** Looks the command up among the known actions; `reason` says why it is not a plain reader. */
export function applyAction(call: Call, reason: string | null): void {
  const { program, args } = call
  const words = args.map(seen)
  const [action = null, ...others] = actionsOf(program, words)
  for (const { level, text, effects } of others) raise(call, level, `\`${program}\` ${text}.`, effects)
  for (const [inner, ...rest] of runByRunner(program, [program, ...words])) {
    for (const { level, text, effects } of actionsOf(inner ?? '', rest.map(String)))
      raise(call, level, `\`${inner}\` ${text}.`, effects)
  }
  if (action === null) {
    unknownProgram(call, reason)
    return
  }
  const because = reason === null ? '' : ` (${reason})`
  raise(call, action.level, `\`${program}\` ${action.text}${because}.`, action.effects)
  for (const word of words) noteAssignment(call, word)
  touch(call, action)
  applyNetwork(call)
}

/** The strictest first. More than one where it is not certain which word is the subcommand. */
function actionsOf(program: string, words: string[]): Action[] {
  const find = (from: number): Action | null =>
    findAction(program, words.slice(from).join(' ').slice(0, 4000))
  const starts = subcommandStarts(program, ['', ...words]).map(start => start - 1)
  const found = [...new Set([0, ...starts])].map(find).filter(action => action !== null)
  return [...new Set(found)].sort((a, b) => LEVEL_SCORES[b.level] - LEVEL_SCORES[a.level])
}

/** A program that is not in any table: it may do anything, and every word of it may be a file. */
function unknownProgram(call: Call, reason: string | null): void {
  const { program, args } = call
  const text =
    reason === null ? `\`${program}\` is not a known command.` : `\`${program}\` is not read-only: ${reason}.`
  raise(call, 'unknown', text, reason === null ? ['runs-code'] : [])
  for (const arg of args) {
    const value = seen(arg)
      .replace(/^--?[\w-]+=/, '')
      .replace(/^@/, '')
    if (value.length > 0 && value.length < 512 && !value.startsWith('-') && !/\s/.test(value))
      access(call, 'file_read', arg, value)
  }
  applyNetwork(call)
  hiddenCommand(call)
}

/** `somewrapper git push`: an unknown program may start what its arguments say. */
function hiddenCommand(call: Call): void {
  // The last word is hardly a command: `pgrep node`.
  const at = call.args.slice(0, -1).findIndex(arg => {
    const name = programName(seen(arg))
    return name === 'git' || name === 'find' || isWrapper(name) || findAction(name, '') !== null
  })
  if (at !== -1) call.report.judge(call.args.slice(at), { ...call.scope, depth: call.scope.depth + 1 })
}

function operandsOf(args: Arg[]): Arg[] {
  const end = args.findIndex(arg => arg.text === '--')
  return args.filter((arg, i) => (end !== -1 && i > end) || (i !== end && !seen(arg).startsWith('-')))
}

function touch(call: Call, { targets }: Action): void {
  const operands = operandsOf(call.args).slice(targets === 'skip-first-write' ? 1 : 0)
  const { each, last = each } = TOUCHED[targets]
  for (const [i, arg] of operands.entries()) {
    for (const kind of i === operands.length - 1 ? last : each) access(call, kind, arg)
  }
  if (targets === 'delete') deleteEffects(call, operands)
  options(call)
}

/** What is done to each operand, and to the last one where that is something else. */
const TOUCHED: Readonly<Record<Action['targets'], { each: FileKind[]; last?: FileKind[] }>> = {
  none: { each: [] },
  read: { each: ['file_read'] },
  write: { each: ['file_write'] },
  'skip-first-write': { each: ['file_write'] },
  archive: { each: ['file_read', 'file_write'] },
  delete: { each: ['file_delete'] },
  copy: { each: ['file_read'], last: ['file_write'] },
  move: { each: ['file_read', 'file_delete'], last: ['file_write'] },
}

function deleteEffects(call: Call, operands: Arg[]): void {
  const words = call.args.map(seen)
  if (!words.some(word => /^-\w*[rR]|^--r/.test(word))) return
  raise(call, 'dangerous', 'It deletes whole folders.', ['delete-recursive'])
  const workspace = call.report.context.workspace
  const outside = operands.some(
    arg => isUnresolved(arg) || absolutePaths(seen(arg), call.scope).some(path => !isInside(path, workspace)),
  )
  if (outside)
    raise(call, 'dangerous', 'It deletes folders outside the workspace.', [
      'delete-recursive-outside-project',
    ])
}

/** Files that are named by options: `-o file`, `--output=file`, `if=`, `of=`, `-d @file`. */
function options(call: Call): void {
  const { args, program } = call
  for (const [i, arg] of args.entries()) {
    const word = seen(arg)
    const next = args[i + 1]
    const output = /^--(?:output|output-document|output-dir|target-directory|directory)=(.+)$/.exec(word)?.[1]
    if (output !== undefined) access(call, 'file_write', arg, output)
    if (
      /^(?:-o|-O|--output|--output-document|-t|-d|-C)$/.test(word) &&
      next !== undefined &&
      /^(?:curl|wget|sort|tar|unzip|gcc|g\+\+|cc|clang|rustc|tree|iconv|cp|mv|go|cargo)$/.test(program)
    ) {
      if (program !== 'curl' || word !== '-d') access(call, 'file_write', next)
    }
    const local = /^(?:--url=)?file:\/\/(?:localhost)?(\/[^?#]*)/i.exec(word)?.[1]
    if (local !== undefined) access(call, 'file_read', arg, decoded(local))
    const raw = /^(if|of)=(.+)$/.exec(word)
    if (program === 'dd' && raw !== null)
      access(call, raw[1] === 'if' ? 'file_read' : 'file_write', arg, raw[2])
    const upload = /^(?:[\w-]+=)?[@<](.+)$/.exec(word)?.[1]
    if (/^(?:curl|http|https|xh)$/.test(program) && upload !== undefined)
      access(call, 'file_read', arg, upload)
    if (program === 'curl' && /^(?:-T|--upload-file|-K|--config)$/.test(word) && next !== undefined)
      access(call, 'file_read', next)
  }
  const inPlace = /^g?sed$/.test(program) && args.some(arg => /^-\w*i|^--in-/.test(seen(arg)))
  if (inPlace) for (const arg of operandsOf(args).slice(1)) access(call, 'file_write', arg)
  if (program === 'uniq' || program === 'xxd') {
    const second = operandsOf(args)[1]
    if (second !== undefined) access(call, 'file_write', second)
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    // Not an encoding: curl takes it as it stands.
    return path
  }
}

export function addWrites(call: Call, arg: Arg | undefined): void {
  if (arg !== undefined) access(call, 'file_write', arg)
}

type FileKind = 'file_read' | 'file_write' | 'file_delete'

function access(call: Call, kind: FileKind, arg: Arg, path = seen(arg)): void {
  // A pattern inside an option's value: bash expands the whole word, which is hardly what was meant.
  if (isUnresolved(arg) || (arg.glob !== null && path !== seen(arg))) {
    call.report.unresolved = true
    return
  }
  if (path === '-' || path === '') return
  if (call.scope.cwds === null && !path.startsWith('/')) {
    call.report.unresolved = true
    return
  }
  if (arg.glob !== null) {
    // The folder of the pattern is read; what happens to the matches does not happen to it.
    for (const glob of globsIn(arg.glob.pattern, call.scope, kind)) {
      addAccess(call.report, { kind: 'file_read', path: glob.directory })
      addGlob(call.report, glob)
    }
    return
  }
  for (const absolute of absolutePaths(path, call.scope)) addAccess(call.report, { kind, path: absolute })
}

function applyNetwork(call: Call): void {
  for (const url of hostsOf(call.program, call.args.map(seen))) {
    addAccess(call.report, { kind: 'network', url })
    raise(call, 'caution', `It contacts ${url}.`, ['network'])
  }
}
