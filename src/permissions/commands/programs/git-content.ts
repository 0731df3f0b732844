/**
 * Which git lines print what is inside files, and of which files. Objects are no files: neither a rule on paths nor a
 * hidden file stops `git log -p`. Such lines report their paths, and `history` where the names are not all in the line.
 */
import { type Arg, literalArg } from '../args.ts'
import type { ParsedFlags } from '../flags.ts'
import type { ReadItem } from './special.ts'

export interface GitOperands {
  /** Before `--`, where a word may be a revision or a path. */
  open: Arg[]
  /** After `--`, where every word is a path. */
  paths: Arg[]
}

export interface GitContent {
  reads: ReadItem[]
  /** Any file of the repository may be shown, in any version, or only as it is tracked now. */
  history: boolean | 'tracked'
}

const PATCH =
  '-p -u --patch -U --unified -W --function-context -G -S -L -c --cc --dd --check --word-diff --word-diff-regex ' +
  '--color-words --binary --patch-with-stat --patch-with-raw --diff-merges --find-object --submodule -I ' +
  '--ignore-matching-lines --anchored --inter-hunk-context --output-indicator-new'
const SUMMARY =
  '--stat --numstat --shortstat --compact-summary --summary --dirstat --cumulative --name-only --name-status --raw ' +
  '--no-patch -s --quiet'

/** Null when the line shows no contents. */
export function gitContent(
  subcommand: string,
  parsed: ParsedFlags,
  operands: GitOperands,
): GitContent | null {
  const has = (names: string): boolean => names.split(' ').some(name => parsed.flags.has(name))
  const shown = contentOf(subcommand, has, operands)
  // The whole of every commit that touches the path, and what the file was called before.
  return shown !== null && has('--full-diff --follow') ? { ...shown, history: true } : shown
}

function contentOf(
  subcommand: string,
  has: (names: string) => boolean,
  operands: GitOperands,
): GitContent | null {
  switch (subcommand) {
    case 'blame':
      // Takes one file, never a pattern; which of the words is the file does not matter.
      return { reads: [...operands.open, ...operands.paths].map(content), history: false }
    case 'show':
      return has(PATCH) || !has(SUMMARY) || operands.open.some(mayBeBlob) ? objects(operands) : null
    case 'diff':
      if (has('--no-index')) return { reads: [...operands.open, ...operands.paths].map(tree), history: false }
      if (!has(PATCH) && has(SUMMARY)) return null
      // The working tree against the index.
      if (operands.open.length === 0 && !has('--cached --staged --merge-base'))
        return withComparedFolders(ofNow(changes(operands)), operands)
      return withComparedFolders(changes(operands), operands)
    case 'stash':
      return has(PATCH) || (operands.open[0]?.text === 'show' && !has(SUMMARY)) ? everything : null
    case 'status':
      return has('-v --verbose') ? everything : null
    default:
      return has(PATCH) ? changes(operands) : null
  }
}

/** `git diff a b` outside of a repository, or with a path that is not in it, compares files: `--no-index` is implied. */
function withComparedFolders({ reads, history }: GitContent, { open, paths }: GitOperands): GitContent {
  const words = [...open, ...paths].filter(arg => !/[:^~]|@\{|[^./]\.\./.test(arg.text ?? ''))
  return { reads: [...reads, ...words.map(tree)], history }
}

function ofNow({ reads, history }: GitContent): GitContent {
  return { reads, history: history ? 'tracked' : false }
}

const everything: GitContent = { reads: [], history: true }

function content(arg: Arg): ReadItem {
  return { arg, tree: false, content: true }
}

function tree(arg: Arg): ReadItem {
  return { arg, tree: true, content: true }
}

/** Blobs are printed whatever the options say. Those without a path are found in the repository (named-object.ts). */
function mayBeBlob(arg: Arg): boolean {
  return arg.text === null || revisionPath(arg.text) !== null
}

/** `show`: as long as every word is `REV:PATH`, nothing else is shown. */
function objects(operands: GitOperands): GitContent {
  const { open, paths } = operands
  const named = open.length > 0 && open.every(arg => arg.text !== null && revisionPath(arg.text) !== null)
  if (!named) return changes(operands)
  return { reads: [...open.flatMap(revisionReads), ...paths.map(content)], history: false }
}

/** Patches: limited by plain paths after `--`, and only by those. A plain path may be a folder, so it counts as a tree. */
function changes({ open, paths }: GitOperands): GitContent {
  const limited = paths.length > 0 && paths.every(isPlainPath)
  const reads: ReadItem[] = open.flatMap(revisionReads)
  for (const arg of paths) reads.push({ ...content(arg), history: isPlainPath(arg) })
  const blobs = open.some(arg => arg.text !== null && revisionPath(arg.text) !== null)
  return { reads, history: !limited || blobs }
}

/** Git reads patterns and `:(magic)` itself; they may name anything in the repository. */
function isPlainPath(arg: Arg): boolean {
  return arg.text !== null && arg.text !== '' && !/^:|[*?[\\]/.test(arg.text)
}

/** What a word before `--` may read: `REV:PATH`, both ends of a range of them, or a plain path. */
export function revisionReads(arg: Arg): ReadItem[] {
  if (arg.text === null) return [content(arg)]
  const parts = [arg.text, ...(arg.text.includes('..') ? arg.text.split(/\.{2,3}/) : [])]
  const reads = parts.flatMap(part => {
    const path = revisionPath(part)
    if (path === null || path === '') return []
    return [{ ...content(literalArg(path)), fromRoot: !/^\.\.?(?:\/|$)/.test(path) }]
  })
  if (reads.length > 0) return reads
  const isPath = (/[./]/.test(arg.text) && !/\.\.|[~^@{:]/.test(arg.text)) || arg.text.startsWith('../')
  return isPath ? [content(arg)] : []
}

/** The path of `REV:PATH` and `:N:PATH`: after the first colon outside braces, as git reads it. Null: none. */
function revisionPath(text: string): string | null {
  const stage = /^:(?:[0-3]:)?([^/(!^:][\s\S]*)$/.exec(text)
  if (text.startsWith(':')) return stage?.[1] ?? null
  let depth = 0
  for (const [i, character] of [...text].entries()) {
    if (character === '{') depth += 1
    else if (character === '}' && depth > 0) depth -= 1
    else if (character === ':' && depth === 0) return [...text].slice(i + 1).join('')
  }
  return null
}
