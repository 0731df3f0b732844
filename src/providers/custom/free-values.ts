import type { Word } from 'unbash'

// A free value is one that the model chooses: no number, and none of a list. It may only be an argument of a program that is
// known to run none of its arguments. Any program can be a wrapper (`setarch`, `prlimit`), an interpreter (`dc -e`) or run
// what an option names, and no list of those is ever whole; a list of those that do not is as long as it is.

/** They run nothing that an argument names, whatever their options. */
const RUN_NOTHING = new Set(
  (
    'cat head tail wc ls stat file du df tree basename dirname realpath readlink cut tr nl tac rev fold fmt paste join comm ' +
    'uniq column expand cmp diff grep egrep fgrep md5sum sha1sum sha256sum sha512sum b2sum cksum shasum base64 od xxd hexdump ' +
    'strings echo printf test [ seq date touch mkdir rmdir rm cp mv ln chmod truncate tee sleep gzip gunzip zcat bzip2 xz zstd ' +
    'unzip curl dig host nslookup ping whois ps pgrep id getent which cal notify-send pdftotext shellcheck true false'
  ).split(' '),
)

/** Of these, the arguments of a few subcommands. Others take a repository, a folder or a program. */
const QUIET_VERBS: Readonly<Record<string, RegExp>> = {
  docker: /^(?:images|inspect|logs|port|ps|stats|top)$/,
  gh: /^(?:gist|issue|label|pr|release|run|search|status|workflow)$/,
  git: /^(?:add|blame|branch|checkout|cherry-pick|commit|describe|diff|log|ls-files|merge-base|restore|rev-list|rev-parse|shortlog|show|stash|status|switch|tag)$/,
  kubectl: /^(?:describe|get|logs|top)$/,
  podman: /^(?:images|inspect|logs|port|ps|stats|top)$/,
}

/** Of these, what stands alone or behind one of these options. */
const QUIET_OPTIONS: Readonly<Record<string, RegExp>> = {
  fd: /^(?:-[egtd]|--(?:extension|glob|type|max-depth))$/,
  find: /^-(?:i?name|i?path|i?regex|maxdepth|mindepth|mtime|mmin|newer|size|type|user|group|perm)$/,
  rg: /^(?:-[eginlotTmABC]+|--(?:regexp|glob|iglob|type|type-not|max-count|context|ignore-case|files-with-matches))$/,
  sort: /^(?:-[bdfgiknrtuV]+|--(?:key|field-separator))$/,
  wget: /^(?:-[qO]|--(?:quiet|output-document))$/,
}

/** Behind these options, and behind their program, which is their first operand. */
const QUIET_AFTER_PROGRAM: Readonly<Record<string, RegExp>> = {
  awk: /^-[vF]$/,
  gawk: /^-[vF]$/,
  mawk: /^-[vF]$/,
  jq: /^(?:-[rcsne]+|--(?:arg|argjson|rawfile|slurpfile))$/,
  sed: /^-[nEr]+$/,
}

/** Whether the program runs nothing, whatever the word at `index` says. `option` is the flag that it belongs to. */
export function runsNothing(program: string, words: readonly Word[], index: number, option: string): boolean {
  const values = words.map(({ value }) => value)
  // Of the shell's own, `-v` takes the name of a variable, and an index in it is run.
  if (RUN_NOTHING.has(program)) return !/^(?:printf|test|\[)$/.test(program) || !values.includes('-v')
  const verbs = lookUp(QUIET_VERBS, program)
  if (verbs !== undefined) {
    const at = verbOf(values)
    return index > at && verbs.test(values[at] ?? '') && !/^-s$|^--strategy$/.test(option)
  }
  const quiet = lookUp(QUIET_OPTIONS, program)
  if (quiet !== undefined)
    return (option === '' || quiet.test(option)) && !values.some(value => STARTS_PROGRAMS.test(value))
  const behind = lookUp(QUIET_AFTER_PROGRAM, program)
  if (behind === undefined) return false
  const code = programOperand(values)
  if (code !== -1 && index > code) return option === '' || behind.test(option)
  return index !== code && (behind.test(option) || /^--arg(?:json)?$/.test(values[index - 2] ?? ''))
}

/** `find . -exec grep {x} {} +`: the value is an argument of another program. */
const STARTS_PROGRAMS = /^(?:-(?:exec|ok)(?:dir)?|-[xX]|--exec(?:-batch)?|--pre)$/

/** Where the subcommand stands: behind `-C DIR`, `docker compose` and options. */
function verbOf(values: readonly string[]): number {
  return values.findIndex(
    (value, at) => !/^-|^compose$/.test(value) && !/^-[cCnR]$/.test(values[at - 1] ?? ''),
  )
}

/** The first operand of awk, sed and jq is a program. */
function programOperand(values: readonly string[]): number {
  const at = (index: number): string => values[index] ?? ''
  return values.findIndex(
    (value, index) =>
      !value.startsWith('-') &&
      !/^(?:-[vFl]|--(?:assign|field-separator|line-length|indent))$/.test(at(index - 1)) &&
      ![at(index - 1), at(index - 2)].some(word => /^--(?:arg|argjson|slurpfile|rawfile)$/.test(word)),
  )
}

function lookUp(table: Readonly<Record<string, RegExp>>, program: string): RegExp | undefined {
  return Object.hasOwn(table, program) ? table[program] : undefined
}
