/**
 * What a command prints, when it is as plain as `echo rm`. Used only to look into disguises (`$(echo rm) -rf /`,
 * `echo git push | sh`), never to call anything safe.
 */
import type { Command, ParsedScript, Word } from 'unbash'
import type { Arg } from './args.ts'
import { programName, seen } from './args.ts'
import type { Scope } from './state.ts'

type Resolve = (word: Word, scope: Scope) => Arg[]

export function staticOutput(
  script: ParsedScript | undefined,
  scope: Scope,
  resolve: Resolve,
): string | null {
  const statement = script?.commands[0]
  if (script === undefined || statement === undefined || script.commands.length !== 1 || scope.depth > 20)
    return null
  const inner: Scope = { ...scope, depth: scope.depth + 1 }
  const node = statement.command
  const commands = node.type === 'Pipeline' ? node.commands : [node]
  let text: string | null = null
  for (const command of commands) {
    if (command.type !== 'Command' || command.name === undefined) return null
    text = commandOutput(commandArgs(command, inner, resolve), text, inner)
    if (text === null) return null
  }
  return text?.replace(/\n+$/, '') ?? null
}

export function commandArgs(command: Command, scope: Scope, resolve: Resolve): Arg[] {
  const words = command.name === undefined ? [] : [command.name]
  for (const arg of command.args) if (arg.type === 'Word') words.push(arg)
  return words.flatMap(word => resolve(word, scope))
}

/** Output of one stage, given what it reads. */
export function commandOutput(args: Arg[], stdin: string | null, { cwds }: Scope): string | null {
  const [program = '', ...words] = args.map(seen)
  switch (programName(program)) {
    case 'echo':
      return words.filter(word => !/^-[neE]+$/.test(word)).join(' ')
    case 'printf':
      return words.length === 1 ? (words[0] ?? '') : words.slice(1).join(' ')
    case 'cat':
      return words.length === 0 || words[0] === '-' ? stdin : null
    case 'pwd':
      return cwds?.length === 1 && words.every(word => /^-[LP]$/.test(word)) ? (cwds[0] ?? null) : null
    default:
      return null
  }
}
