/** One simple command: what it is, what it touches, how strict the line must be because of it. */
import {
  type Arg,
  baseName,
  isUnresolved,
  literalArg,
  programName,
  seen,
  toPlanWords,
  toWord,
} from './args.ts'
import { type Call, noteAssignment, raise } from './call.ts'
import { addWrites, applyAction } from './effects-of.ts'
import { buildsCommand, embedsCommand } from './embedded-commands.ts'
import { forbiddenEffects, forbiddenReason } from './forbidden.ts'
import { interactiveCall } from './interactive.ts'
import { readGit, splitGit } from './programs/git.ts'
import { startsProgram } from './programs/git-scripts.ts'
import { judgeReader } from './programs/judge-reader.ts'
import { READERS } from './programs/readers.ts'
import type { Reading } from './programs/special.ts'
import { recordGitReads, recordReads } from './reads.ts'
import { absolutePaths, countStep, deeper, noteUnread, type Report, type Scope } from './state.ts'
import type { FoundCommand, PlanWord } from './types.ts'
import { unwrap, type Wrapped } from './wrappers.ts'

const MAX_WORDS = 1000

/** Judges `args` (program first) and returns the words to run when it is safe. */
export function judgeCommand(given: Arg[], scope: Scope, report: Report): PlanWord[] | null {
  countStep(report, 1 + (given.length >> 4))
  const args = given.length > MAX_WORDS ? given.slice(0, MAX_WORDS) : given
  const first = args[0]
  if (first === undefined) return null
  const program = programName(seen(first))
  const found: FoundCommand = {
    argv: args.map(toWord),
    program: first.text === null ? null : program,
    cwds: scope.cwds,
    level: 'safe',
    effects: [],
  }
  report.commands.push(found)
  const call: Call = { program, args: args.slice(1), scope, report, found }
  if (given.length > MAX_WORDS) noteUnread(report, 'The command has too many words to be analysed.')
  // `find -exec {}` starts what it finds.
  if (first.text === null || first.text === '{}') report.startsUnknown = true
  if (args.some(isUnresolved)) {
    report.unresolved = true
    raise(call, 'unknown', 'A word of this command is known only at run time.')
  }
  checkForbidden(call)
  if (first.text === null && first.glob !== null)
    raise(call, 'unknown', 'The program is chosen by a file pattern.')
  const plan = judgeKnown(call)
  return found.level === 'safe' ? plan : null
}

function checkForbidden(call: Call): void {
  const { report, scope, args } = call
  const name = baseName(call.program)
  const words = args.map(seen)
  const reason = forbiddenReason({ program: name, args, words, scope, report })
  if (reason !== null) raise(call, 'forbidden', `This ${reason}.`, forbiddenEffects(reason))
  // `$X -rf /`: whatever X is, nothing good comes of it.
  if (call.found.program === null && words.some(word => /^-\w*r\w*f|^-\w*f\w*r|^--recursive$/.test(word))) {
    const guess = forbiddenReason({ program: 'rm', args, words, scope, report })
    if (guess !== null) raise(call, 'forbidden', `If this deletes, it ${guess}.`)
  }
}

function judgeKnown(call: Call): PlanWord[] | null {
  const { program, args, report } = call
  if (report.functions.has(program))
    raise(call, 'unknown', `\`${program}\` is a function of this line.`, ['runs-code'])
  if (program === 'cd') return null
  if (onlyTells(call)) {
    raise(call, 'unknown', `\`${program}\` only shows where a program is.`, ['runs-code'])
    return null
  }
  const wrapped = unwrap(program, args, call.scope.stdin)
  const alias = report.aliases.get(program)
  if (alias !== undefined) report.walkText([alias, ...args.map(arg => arg.raw)].join(' '), deeper(call.scope))
  if (judgeInteractive(call)) return null
  if (wrapped !== null) {
    judgeWrapped(call, wrapped)
    return null
  }
  if (program === 'git') return judgeGit(call)
  const reader = judgeReader(program, program === 'find' ? judgeFindActions(call) : args)
  if (reader?.ok) return readPlan(call, reader)
  lookInside(call)
  applyAction(call, reader === null ? null : reader.ok ? null : reader.reason)
  return null
}

/** Not for what only reads: text that looks like a command is data there. */
function lookInside(call: Call): void {
  const words = call.args.map(seen)
  if (embedsCommand(baseName(call.program), words)) call.found.embeds = true
  if (buildsCommand(baseName(call.program), words)) call.report.startsUnknown = true
}

/** `command -v docker`, `docker --version`: whatever else the program can do, that needs neither network nor a terminal. */
function onlyTells({ program, args }: Call): boolean {
  const first = args[0]?.text ?? ''
  if (program === 'command') return /^-[vV]$/.test(first)
  return args.length === 1 && /^(?:--version|-V)$/.test(first) && program !== 'git' && !READERS.has(program)
}

function judgeInteractive(call: Call): boolean {
  const { program, report } = call
  const interactive = interactiveCall(program, call.args, call.scope.piped)
  if (interactive === null) return false
  raise(call, 'interactive', interactive.text, ['interactive'])
  const { instead } = interactive
  if (instead !== undefined) report.interactiveProgram ??= { program, instead }
  return true
}

function readPlan(call: Call, verdict: Reading, directories: Arg[] = []): PlanWord[] | null {
  recordReads(call, verdict, directories)
  if (call.found.level !== 'safe') return null
  return toPlanWords(verdict.argv ?? [literalArg(call.program), ...call.args])
}

function judgeWrapped(call: Call, wrapped: Wrapped): void {
  const { report, scope, program, args } = call
  raise(call, wrapped.level, `\`${program}\` ${wrapped.text}.`, wrapped.effects)
  if (program === 'env' && wrapped.inner === null && wrapped.scripts.length === 0) {
    raise(call, 'caution', '`env` prints variables, which may hold secrets.', ['reads-environment'])
  }
  for (const arg of args) noteAssignment(call, seen(arg))
  if (program === 'alias') {
    for (const arg of args) {
      const [, name, text] = /^([^=]+)=([\s\S]*)$/.exec(seen(arg)) ?? []
      // Not by its own name: `alias ls='ls -l'` is `ls` inside.
      if (name !== undefined && text !== undefined && !text.trimStart().startsWith(`${name} `))
        report.aliases.set(name, text)
    }
  }
  const directory = wrapped.directory
  const inner = deeper(scope, directory === undefined ? {} : { cwds: absolutePaths(directory, scope) })
  for (const script of wrapped.scripts) report.walkText(script, inner)
  if (wrapped.scripts.length > 0 && args.some(isUnresolved)) report.startsUnknown = true
  if (wrapped.inner === null) {
    if (wrapped.scripts.length === 0) applyAction(call, null)
    return
  }
  // The words that xargs adds are only known when it runs.
  if (wrapped.appendsStdin !== undefined) report.unresolved = true
  report.judge(innerArgs(wrapped), inner)
}

/** xargs and parallel: the words that arrive on standard input, when they are known, belong to the command. */
function innerArgs(wrapped: Wrapped): Arg[] {
  const inner = wrapped.inner ?? []
  if (wrapped.appendsStdin === undefined) return inner
  const input = wrapped.appendsStdin?.trim().split(/\s+/).slice(0, 100) ?? ['']
  const words = input.map((text): Arg => ({ raw: text, text: null, glob: null, worst: [text] }))
  const placeholder = wrapped.placeholder
  if (placeholder === undefined) return [...inner, ...words]
  return inner.map(arg => {
    if (!seen(arg).includes(placeholder)) return arg
    const worst = input.map(text => seen(arg).replaceAll(placeholder, text))
    return { raw: arg.raw, text: null, glob: null, worst }
  })
}

function judgeGit(call: Call): PlanWord[] | null {
  const split = splitGit(call.args)
  const subcommand = call.args.at(-1 - split.rest.length)?.text ?? null
  const isCertain = call.found.program !== null && split.subcommand !== null
  if (isCertain && subcommand !== null) call.found.subcommand = subcommand
  if (split.config.length > 0) {
    call.found.embeds = true
    raise(call, 'unknown', 'A setting given to git can make it run other programs.', ['runs-code'])
  }
  const alias = split.config
    .map(setting => /^alias\.([\w-]+)=([^!][\s\S]*)$/.exec(setting))
    .find(match => match !== null && match[1] === split.subcommand)
  if (alias?.[2] !== undefined) {
    const words = alias[2].trim().split(/\s+/).map(literalArg)
    call.report.judge([literalArg('git'), ...words, ...split.rest], deeper(call.scope))
  }
  if (startsProgram(split.subcommand ?? '', split.rest.map(seen))) {
    call.found.embeds = true
    raise(call, 'dangerous', '`git` runs a program that one of its arguments names.', ['runs-code'])
    const text = split.rest.map(seen).join(' ')
    call.report.walkText(
      `x ${text.replaceAll(/--?[\w-]+=|-\w*?[xucO](?=\w)|\w+::/g, ' ')}`,
      deeper(call.scope),
    )
  }
  const verdict = readGit(split)
  if (verdict.ok) return readPlan(call, verdict, split.directories)
  recordGitReads(call, split)
  lookInside(call)
  applyAction(call, verdict.reason)
  return null
}

/** Takes the actions of find that do something out and judges them; returns what is left, which only reads. */
function judgeFindActions(call: Call): Arg[] {
  const words = call.args.map(seen)
  const rest: Arg[] = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    const arg = call.args[i]
    if (/^-(?:exec|execdir|ok|okdir)$/.test(word)) {
      let end = i + 1
      while (end < words.length && words[end] !== ';' && words[end] !== '+') end += 1
      raise(call, 'caution', '`find` runs a command for every file.', ['runs-code'])
      const known = call.report.commands.length
      if (end > i + 1) call.report.judge(call.args.slice(i + 1, end), deeper(call.scope))
      // Files may be called as what a rule forbids: `find deploy -exec make {} +`.
      for (const found of call.report.commands.slice(known))
        found.argv = found.argv.map(word => (word.text?.includes('{}') ? { ...word, text: null } : word))
      i = end
    } else if (word === '-delete') {
      raise(call, 'dangerous', '`find` deletes every file that it finds.', [
        'deletes-files',
        'delete-recursive',
      ])
    } else if (/^-f(?:print|print0|ls|printf)$/.test(word)) {
      raise(call, 'caution', '`find` writes its result to a file.', ['writes-files'])
      addWrites(call, call.args[i + 1])
      i += word === '-fprintf' ? 2 : 1
    } else if (arg !== undefined) rest.push(arg)
  }
  return rest
}
