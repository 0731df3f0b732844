/**
 * Shell commands inside the arguments of programs that are no shells: `sed '1e CMD'`, `awk 'system("CMD")'`,
 * `tar --checkpoint-action=exec=CMD`. They run behind the same walls as the program itself, or are asked about with it;
 * only what nobody may approve is looked for.
 */
import { rawForbidden } from './guard.ts'

const PROGRAMS =
  /^(?:g?sed|[gmn]?awk|(?:g|bsd)?tar|g?make|gdb|lldb|n?vim?|ex|ed|view|sqlite3|psql|mysql|mariadb|rsync|ssh|scp|sftp|zip)$/

/** Whether one of its words may be a command that it starts; `forbidden`: one that nobody may approve. */
export function embeddedCommand(
  program: string,
  words: readonly string[],
  stdin: string | null,
): { embeds: boolean; forbidden: string | null } {
  if (!PROGRAMS.test(program) && !(program === 'git' && words.includes('config')))
    return { embeds: false, forbidden: null }
  const text = [...words, stdin ?? ''].join('\n').slice(0, 20_000)
  return {
    embeds: words.some(word => /[\s=!]|^-[A-Za-z]*[IeEox]/.test(word)),
    forbidden: quotedForbidden(text),
  }
}

/** `run(["rm", "-rf", "/"])` and `system("rm -rf /")` read the same without their marks. */
export function quotedForbidden(code: string): string | null {
  const text = code.replaceAll(/\/[gpiI\d]*e(?=\s|$)/g, ' ').replaceAll(/\\(.)/g, '$1')
  return rawForbidden(text.replaceAll(/["'`,[\](){};=@!]+/g, ' ').replaceAll(/\s+/g, ' '))
}
