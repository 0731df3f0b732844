/** Rules over a whole pipe: what is harmless alone may not be together. */
import type { Pipeline } from 'unbash'
import { baseName, seen } from './args.ts'
import { note, type Report, type Scope } from './state.ts'
import { commandArgs } from './static-output.ts'
import { resolveWord } from './words.ts'
import { isShell } from './wrappers.ts'

export function checkPipeline(node: Pipeline, scope: Scope, report: Report): void {
  const stages = node.commands.map(command => {
    if (command.type !== 'Command') return { program: '', words: [] }
    const words = commandArgs(command, scope, resolveWord).map(seen)
    const start = words.findIndex(word => !/^(?:sudo|env|nohup|command|exec|-\w+|\w+=.*)$/.test(word))
    return { program: baseName(words[start] ?? ''), words: words.slice(start + 1) }
  })
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
