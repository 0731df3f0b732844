import { baseName } from './args.ts'
import type { FoundCommand } from './types.ts'

/**
 * Programs that start commands from their arguments without being shells: `sed '1e CMD'`, `awk 'system("CMD")'`,
 * `tar --checkpoint-action=exec=CMD`. An answer that was given for one such call covers no other.
 */
const PROGRAMS =
  /^(?:g?sed|[gmn]?awk|(?:g|bsd)?tar|g?make|gdb|lldb|n?vim?|ex|ed|view|sqlite3|psql|mysql|mariadb|rsync|ssh|scp|sftp|zip)$/

/** Whether one of its words may be a command that it starts. */
export function embedsCommand(program: string, words: readonly string[]): boolean {
  if (!PROGRAMS.test(program) && !(program === 'git' && words.includes('config'))) return false
  return words.some(word => /[\s=!]|^-[A-Za-z]*[IeEox]/.test(word))
}

/** `sed s/x/CMD/e` and `awk '{ system($0) }'` run text that they make; `hash -p` and `enable -f` give programs other names. */
export function buildsCommand(program: string, words: readonly string[]): boolean {
  if (/^(?:hash|enable)$/.test(program)) return words.some(word => /^-\w*[pf]/.test(word))
  if (/^[gmn]?awk$/.test(program)) return words.some(word => /\bsystem\s*\(|(?<!\|)\|(?!\|)/.test(word))
  return /^g?sed$/.test(program) && words.some(word => SED_RUNS.test(word.slice(0, 4000)))
}

/** The flag `e` after the third mark of `s`, or the command `e` after its address. */
const SED_RUNS = /s([^\w\s\\])[^\n]*\1[gpiImM\d]*e|(?:^|[;{}!\n\d$/])\s*e(?:\s|$|[;}])/

/**
 * Arguments that name a program to start, for those that a list of programs must not let through. What is not here starts
 * what the analyser finds, or has a word that may be a command.
 */
const STARTING_ARGUMENTS: readonly (readonly [program: RegExp, words: RegExp])[] = [
  [/^(?:g|bsd)?tar$/, /^ \w*[IF]| -\w*[IF]| --(?:use|to-c|checkpoint-a|info|new-v|rsh|rmt)/],
  [/^g?sed$/, / -[nrsuzE]*f| --fi/],
  [/^[gmn]?awk$/, / -[fEil]| --(?:file|exec|include|load)/],
  [/^rsync$/, / -\w*e| --rs/],
  [/^zip$/, / -\w*TT| --unzip/],
  [/^sort$/, / --co/],
  [/^split$/, / --f/],
  [/^fd(?:find)?$/, / -\w*[xX]| --exec/],
  [/^go$/, / --?(?:toolexec|vettool|exec)/],
  [/^(?:gcc|g\+\+|cc|c\+\+|clang)$/, / -(?:wrapper|B|fplugin)/],
  [/^(?:npm|pnpm|yarn|bun)$/, / (?:exec|x|dlx|explore)(?: |$)| --(?:script-shell|node-options|shell|editor)/],
  [/^cargo$/, / --config/],
  [/^(?:npx|bunx|pnpx|uvx|pipx|stdbuf|flock|ionice|taskset|chrt|unshare|strace|ltrace|script|watch)$/, /./],
]

/** Whether its arguments may name a further program that it starts. */
export function namesProgram({ program, argv, embeds }: FoundCommand): boolean {
  const known = STARTING_ARGUMENTS.find(([name]) => name.test(baseName(program ?? '')))
  if (known === undefined) return embeds === true
  const words = argv.slice(1).map(({ text, raw }) => ` ${text ?? raw}`)
  return known[1].test(words.join(''))
}
