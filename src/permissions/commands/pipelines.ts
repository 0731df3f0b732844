/** Rules over a whole pipe: what is harmless alone may not be together. */
import type { Pipeline } from 'unbash'
import { type Arg, baseName, literalArg, seen } from './args.ts'
import { forbiddenReason } from './forbidden.ts'
import { isShell } from './shell-wrappers.ts'
import { note, type Report, type Scope } from './state.ts'
import { commandArgs } from './static-output.ts'
import { resolveWord } from './words.ts'

export function checkPipeline(node: Pipeline, scope: Scope, report: Report): void {
  const stages = node.commands.map(command => {
    if (command.type !== 'Command') return { program: '', words: [] as string[], args: [] as Arg[] }
    const args = commandArgs(command, scope, resolveWord)
    const words = args.map(seen)
    const start = words.findIndex(word => !/^(?:sudo|env|nohup|command|exec|-\w+|\w+=.*)$/.test(word))
    return {
      program: baseName(words[start] ?? ''),
      words: words.slice(start + 1),
      args: args.slice(start + 1),
    }
  })
  checkListedDelete(stages, scope, report)
  const shell = stages.findIndex(({ program }) => isShell(program))
  const raw = stages.some(({ program, words }) => isRawConnection(program, words))
  if (shell !== -1 && raw) note(report, 'forbidden', 'This gives another machine a shell.')
  const runsInput = stages.findIndex(({ program, words }, i) => i > 0 && readsCode(program, words))
  if (runsInput === -1) return
  const fetches = stages
    .slice(0, runsInput)
    .some(({ program }) => /^(?:curl|wget|fetch|http|https|xh|aria2c|lynx|ssh)$/.test(program))
  const text = fetches
    ? 'A program from the network is run without being looked at.'
    : 'The output of a command is run as a program.'
  report.effects.add('runs-code')
  note(report, 'dangerous', text)
}

/** `find / | xargs rm` is `find / -delete`. */
function checkListedDelete(
  stages: { program: string; words: string[]; args: Arg[] }[],
  scope: Scope,
  report: Report,
): void {
  const deletes = stages.findIndex(
    ({ program, words }) =>
      /^(?:xargs|parallel)$/.test(program) &&
      words.some(word => /^(?:\S*\/)?(?:rm|shred|unlink)$/.test(word)),
  )
  for (const { program, args } of stages.slice(0, Math.max(deletes, 0))) {
    if (!/^(?:g?find|fdfind|fd)$/.test(program)) continue
    const given =
      program.endsWith('find') && program !== 'fdfind' ? args : args.filter(arg => /^[/~]/.test(seen(arg)))
    const all = [...given, literalArg('-delete')]
    const reason = forbiddenReason({ program: 'find', args: all, words: all.map(seen), scope, report })
    if (reason !== null) note(report, 'forbidden', `This ${reason}.`)
  }
}

function isRawConnection(program: string, words: string[]): boolean {
  return (
    /^(?:nc|ncat|netcat|telnet|socat)$/.test(program) || (program === 'openssl' && words[0] === 's_client')
  )
}

/** A shell or interpreter whose program is its standard input. */
function readsCode(program: string, words: string[]): boolean {
  const operands = words.filter(word => !word.startsWith('-') || word === '-')
  const inline = words.some(word => /^-\w*[ce]$/.test(word))
  if (isShell(program))
    return !inline && (operands.length === 0 || words.includes('-s') || operands[0] === '-')
  if (/^(?:python[23]?|node|perl|ruby|php|lua|deno|bun)$/.test(program))
    return !inline && (operands.length === 0 || operands[0] === '-')
  return program === 'source' || program === 'eval'
}
