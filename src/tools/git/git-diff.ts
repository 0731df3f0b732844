import { join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import type { ToolContext } from '../../core/tool.ts'
import { resolveRevision, toRepositoryPath } from './git-names.ts'
import type { GitArgs, GitOutput } from './git-ops.ts'
import type { GitReader } from './run-git.ts'

const MOST_DIFF_BYTES = 200 * 1024
const MOST_FILES = 2000

interface DiffHunk {
  old_start: number
  old_lines: number
  new_start: number
  new_lines: number
}

interface DiffFile {
  path: string
  additions: number
  deletions: number
  binary: boolean
  hunks: DiffHunk[]
}

/**
 * The working tree against the index, the index against HEAD, or two commits. Which files differ is asked first, and
 * the contents of those that may not be read are left out: a repository holds what its files were, secrets too.
 */
export async function diff(git: GitReader, args: GitArgs, context: ToolContext): Promise<GitOutput> {
  const { root } = git.repository
  const revisions = await Promise.all(
    [args.from, args.to].filter(isGiven).map(name => resolveRevision(git, name)),
  )
  const wanted = (args.paths ?? args.files ?? []).map(path => toRepositoryPath(path, context.cwd, root))
  const common = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty', '--no-color']
  const staged = args.staged === true ? ['--cached'] : []
  const list = await git.read([
    'diff',
    ...common,
    ...staged,
    '--no-renames',
    '--name-only',
    '-z',
    ...revisions,
    '--',
    ...wanted,
  ])
  if (list.cut) throw new ToolError('failed', 'Too many files differ. Narrow it down with paths.')
  const names = list.stdout.split('\0').filter(isGiven)
  const hidden = names.filter(name => !context.permit.mayRead(join(root, name)))
  if (names.length === hidden.length)
    return { text: describeHidden(hidden), data: { files: [], hidden, truncated: false } }
  const shown = hidden.length === 0 ? wanted : names.filter(name => !hidden.includes(name))
  if (shown.length > MOST_FILES)
    throw new ToolError('failed', 'Too many files differ. Narrow it down with paths.')
  const { stdout, cut } = await git.read(
    ['diff', ...common, ...staged, '-M', ...revisions, '--', ...shown],
    MOST_DIFF_BYTES,
  )
  const notes = [
    cut ? `[The difference is longer than ${MOST_DIFF_BYTES / 1024} KB. Name fewer paths.]` : '',
    describeHidden(hidden),
  ]
  return {
    text: [stdout.trim(), ...notes].filter(isGiven).join('\n'),
    data: { files: parseDiff(stdout), hidden, truncated: cut },
  }
}

function describeHidden(names: readonly string[]): string {
  return names.length === 0 ? '' : `[Not shown, because reading them needs an approval: ${names.join(', ')}]`
}

function isGiven<T extends string>(value: T | undefined): value is T {
  return value !== undefined && value !== ''
}

/** Files and hunks of a unified diff as git prints it. */
function parseDiff(text: string): DiffFile[] {
  const files: DiffFile[] = []
  let current: DiffFile | undefined
  let left = { old: 0, new: 0 }
  for (const line of text.split('\n')) {
    const inHunk = left.old > 0 || left.new > 0
    if (inHunk && current !== undefined) {
      if (line.startsWith('+')) {
        current.additions += 1
        left.new -= 1
      } else if (line.startsWith('-')) {
        current.deletions += 1
        left.old -= 1
      } else if (!line.startsWith('\\')) {
        left = { old: left.old - 1, new: left.new - 1 }
      }
      continue
    }
    const start = /^diff --git (?:"?a\/.*"? )?"?b\/(.*?)"?$/.exec(line)
    if (start !== null) {
      current = { path: start[1] ?? '', additions: 0, deletions: 0, binary: false, hunks: [] }
      files.push(current)
    }
    if (current === undefined) continue
    if (line.startsWith('Binary files ')) current.binary = true
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (hunk === null) continue
    const [, oldStart, oldLines = '1', newStart, newLines = '1'] = hunk
    left = { old: Number(oldLines), new: Number(newLines) }
    current.hunks.push({
      old_start: Number(oldStart),
      old_lines: left.old,
      new_start: Number(newStart),
      new_lines: left.new,
    })
  }
  return files
}
