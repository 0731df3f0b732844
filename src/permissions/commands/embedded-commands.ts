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
