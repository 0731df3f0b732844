import { resolve } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import { realPathOf } from '../../core/real-path.ts'
import type { ToolContext } from '../../core/tool.ts'
import { diff } from './git-diff.ts'
import { resolveRevision, toRepositoryPath } from './git-names.ts'
import type { GitArgs, GitOutput, ReadAction } from './git-ops.ts'
import type { GitReader } from './run-git.ts'

type Read = (git: GitReader, args: GitArgs, context: ToolContext) => Promise<GitOutput>

/** What each action that only looks asks git for, and what it makes of the answer. */
export const READS: Readonly<Record<ReadAction, Read>> = {
  status,
  diff,
  log,
  show,
  branch_list,
  blame,
  stash_list,
}

const NO_PROGRAMS = ['--no-ext-diff', '--no-textconv']

async function status(git: GitReader): Promise<GitOutput> {
  // A submodule would be looked at by a git of its own, which our settings do not reach.
  const { stdout } = await git.read(['status', '--porcelain', '-z', '--branch', '--ignore-submodules=dirty'])
  const fields = stdout.split('\0').filter(field => field !== '')
  const branch = fields[0]?.startsWith('## ') ? fields.shift()?.slice(3) : undefined
  const files: { path: string; index: string; worktree: string; from?: string }[] = []
  while (fields.length > 0) {
    const entry = fields.shift() ?? ''
    const [index = ' ', worktree = ' '] = entry
    const from = /[RC]/.test(index + worktree) ? fields.shift() : undefined
    files.push({ path: entry.slice(3), index, worktree, ...(from === undefined ? {} : { from }) })
  }
  const lines = files.map(
    ({ index, worktree, path, from }) =>
      `${index}${worktree} ${from === undefined ? '' : `${quote(from)} -> `}${quote(path)}`,
  )
  return { text: lines.join('\n'), data: { branch: branch ?? null, files } }
}

const FIELDS = ['%H', '%h', '%an', '%ae', '%aI', '%D', '%s']

async function log(git: GitReader, args: GitArgs, context: ToolContext): Promise<GitOutput> {
  const from = args.ref === undefined ? 'HEAD' : await resolveRevision(git, args.ref)
  const paths = (args.paths ?? args.files ?? []).map(path =>
    toRepositoryPath(path, context.cwd, git.repository.root),
  )
  if (args.ref === undefined && (await git.tryRead(['rev-parse', '--verify', '--quiet', 'HEAD'])) === null) {
    return { text: '', data: { commits: [] } }
  }
  const { stdout } = await git.read([
    'log',
    ...NO_PROGRAMS,
    `--max-count=${args.max_count ?? 10}`,
    '--no-show-signature',
    '-z',
    `--format=${FIELDS.join('%x1f')}`,
    from,
    '--',
    ...paths,
  ])
  const commits = parseCommits(stdout)
  const lines = commits.map(
    ({ short, refs, subject }) => `${short} ${refs.length === 0 ? '' : `(${refs.join(', ')}) `}${subject}`,
  )
  return { text: lines.join('\n'), data: { commits } }
}

function parseCommits(text: string) {
  return text
    .split('\0')
    .filter(record => record.trim() !== '')
    .map(record => {
      const [hash = '', short = '', author = '', email = '', date = '', refs = '', subject = ''] =
        record.split('\x1f')
      return {
        hash: hash.trim(),
        short,
        author,
        email,
        date,
        refs: refs === '' ? [] : refs.split(', '),
        subject,
      }
    })
}

async function show(git: GitReader, args: GitArgs): Promise<GitOutput> {
  const hash = await resolveRevision(git, args.ref ?? 'HEAD')
  const options = [...NO_PROGRAMS, '--no-show-signature', '--no-color', '--submodule=short']
  const { stdout, cut } = await git.read(['show', ...options, '--stat', '--format=medium', hash, '--'])
  const numbers = await git.read([
    'show',
    ...options,
    '--numstat',
    '-z',
    '--no-renames',
    '--format=',
    hash,
    '--',
  ])
  const details = await git.read([
    'show',
    ...options,
    '--no-patch',
    `--format=${FIELDS.join('%x1f')}`,
    hash,
    '--',
  ])
  const files = numbers.stdout.split('\0').flatMap(field => {
    const [, added, deleted, path] = /^\s*(\d+|-)\t(\d+|-)\t(.+)$/s.exec(field) ?? []
    return path === undefined ? [] : [{ path, additions: toCount(added), deletions: toCount(deleted) }]
  })
  return {
    text: stdout.trim(),
    data: { commit: parseCommits(details.stdout)[0] ?? null, files, truncated: cut },
  }
}

function toCount(text: string | undefined): number | null {
  return text === undefined || text === '-' ? null : Number(text)
}

async function branch_list(git: GitReader): Promise<GitOutput> {
  const { stdout } = await git.read([
    'for-each-ref',
    '--format=%(HEAD)%1f%(refname)%1f%(objectname:short)%1f%(symref:short)',
    'refs/heads',
    'refs/remotes',
  ])
  const branches = stdout
    .split('\n')
    .filter(line => line.trim() !== '')
    .map(line => {
      const [head = '', ref = '', hash = '', target = ''] = line.split('\x1f')
      const name = ref.replace(/^refs\/heads\//, '').replace(/^refs\//, '')
      return { name, hash, current: head === '*', ...(target === '' ? {} : { target }) }
    })
  const lines = branches.map(
    ({ name, current, target }) =>
      `${current ? '*' : ' '} ${name}${target === undefined ? '' : ` -> ${target}`}`,
  )
  return { text: lines.join('\n'), data: { branches } }
}

async function blame(git: GitReader, args: GitArgs, context: ToolContext): Promise<GitOutput> {
  const [path] = args.paths ?? args.files ?? []
  if (path === undefined) throw new ToolError('invalid_input', "No file specified for 'blame'")
  const name = toRepositoryPath(path, context.cwd, git.repository.root)
  const revision = args.ref === undefined ? [] : [await resolveRevision(git, args.ref)]
  await refuseIgnoredRevisions(git, context)
  const first = args.start_line ?? 1
  const last = Math.min(args.end_line ?? first + 1999, first + 1999)
  const look = ['blame', '--no-textconv', '--porcelain']
  const { stdout } = await git.read([...look, `-L${first},${last}`, ...revision, '--', name]).catch(error => {
    // The file has fewer lines: git then wants the exact number.
    if (args.end_line !== undefined || !/has only \d+ lines/.test(String(error))) throw error
    return git.read([...look, `-L${first},`, ...revision, '--', name])
  })
  const lines = parseBlame(stdout)
  const shown = lines.map(
    ({ commit, author, date, line, text }) =>
      `${commit.slice(0, 8)} (${author} ${date.slice(0, 10)} ${line}) ${text}`,
  )
  return { text: shown.join('\n'), data: { path: name, lines } }
}

/** No option takes this setting back, and git quotes what it does not understand in the file. */
async function refuseIgnoredRevisions(git: GitReader, { permit }: ToolContext): Promise<void> {
  const files = (await git.tryRead(['config', '--get-all', '--path', '-z', 'blame.ignoreRevsFile'])) ?? ''
  for (const file of files.split('\0').filter(name => name !== '')) {
    const path = realPathOf(resolve(git.repository.root, file))
    if (!permit.mayRead(path)) {
      throw new ToolError('forbidden', `blame.ignoreRevsFile names ${path}, which may not be read.`)
    }
  }
}

function parseBlame(text: string) {
  const known = new Map<string, { author: string; date: string }>()
  const lines: { commit: string; author: string; date: string; line: number; text: string }[] = []
  let commit = ''
  let line = 0
  let details = { author: '', date: '' }
  for (const row of text.split('\n')) {
    const head = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(row)
    if (row.startsWith('\t')) {
      known.set(commit, details)
      lines.push({ commit, ...details, line, text: row.slice(1) })
    } else if (head !== null) {
      commit = head[1] ?? ''
      line = Number(head[2])
      details = known.get(commit) ?? { author: '', date: '' }
    } else if (row.startsWith('author ')) {
      details = { ...details, author: row.slice(7) }
    } else if (row.startsWith('author-time ')) {
      details = { ...details, date: new Date(Number(row.slice(12)) * 1000).toISOString() }
    }
  }
  return lines
}

async function stash_list(git: GitReader): Promise<GitOutput> {
  if ((await git.tryRead(['rev-parse', '--verify', '--quiet', 'refs/stash'])) === null) {
    return { text: '', data: { stashes: [] } }
  }
  const format = ['%gd', '%H', '%cI', '%gs'].join('%x1f')
  const { stdout } = await git.read([
    'log',
    ...NO_PROGRAMS,
    '--no-show-signature',
    '-g',
    '-z',
    `--format=${format}`,
    'refs/stash',
    '--',
  ])
  const stashes = stdout
    .split('\0')
    .filter(record => record.trim() !== '')
    .map(record => {
      const [name = '', hash = '', date = '', subject = ''] = record.split('\x1f')
      return { name: name.trim(), hash, date, subject }
    })
  return { text: stashes.map(({ name, subject }) => `${name}: ${subject}`).join('\n'), data: { stashes } }
}

/** A name with a line end in it must not look like two. */
function quote(name: string): string {
  return /[\p{Cc}\p{Cf}"\\]/u.test(name) ? JSON.stringify(name) : name
}
