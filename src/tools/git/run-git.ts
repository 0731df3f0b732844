import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import { realPathOf } from '../../core/real-path.ts'
import { EMPTY_PROFILE } from '../../core/sandbox.ts'
import type { ToolContext } from '../../core/tool.ts'
import { GIT_SETTINGS, gitSettings, NEUTRAL_GIT } from '../command/environment.ts'
import { findProgram, trustedPath } from '../command/find-program.ts'
import type { CommandParts } from '../command/parts.ts'

/** Where the files of a repository and its own files lie, found without starting git. */
interface Repository {
  readonly root: string
  readonly gitDir: string
  /** Of a further working tree: the repository that it belongs to. Otherwise the same. */
  readonly commonDir: string
}

interface GitResult {
  readonly stdout: string
  /** There was more. */
  readonly cut: boolean
}

/** Starts git to look at a repository, with nothing of the repository started. */
export interface GitReader {
  readonly repository: Repository
  /** Fails with the words of T-44 when git does. */
  read(args: readonly string[], mostBytes?: number): Promise<GitResult>
  /** Null when git fails. */
  tryRead(args: readonly string[]): Promise<string | null>
}

const TIMEOUT_MS = 30_000
const MOST_BYTES = 1024 * 1024

export async function openGitReader(parts: CommandParts, context: ToolContext): Promise<GitReader> {
  const repository = findRepository(context.cwd)
  if (repository === undefined) {
    throw new ToolError('not_found', 'This is not a git repository.', { hint: 'Create one with: git init' })
  }
  const ownFolders = [repository.gitDir, repository.commonDir]
  if (!ownFolders.every(folder => context.permit.mayRead(join(folder, 'HEAD')))) {
    throw new ToolError('forbidden', `The repository ${repository.gitDir} may not be read.`)
  }
  refuseForeignFiles(repository, context)
  const base = await spawner(parts, context, repository, [])
  // Filters are named by the repository and have no switch: each is given an empty program.
  const { stdout: names, cut } = await base.read(['config', '--list', '--name-only', '-z', '--includes'])
  if (cut) throw new ToolError('forbidden', 'The repository has more settings than can be looked at.')
  const drivers = new Set(
    names
      .split('\0')
      .flatMap(key => /^filter\.(.+)\.(?:clean|smudge|process|required)$/is.exec(key)?.[1] ?? []),
  )
  const settings = [...drivers].flatMap(driver => [
    [`filter.${driver}.clean`, ''] as const,
    [`filter.${driver}.smudge`, ''] as const,
    [`filter.${driver}.process`, ''] as const,
    [`filter.${driver}.required`, 'false'] as const,
  ])
  return spawner(parts, context, repository, settings)
}

// Git quotes what it does not understand in these.
const QUOTED = [
  'HEAD',
  'config',
  'packed-refs',
  'shallow',
  'info/grafts',
  'info/attributes',
  'objects/info/alternates',
  'index',
]

/** A link in the place of one of git's files makes git print a line of another file in its error. */
function refuseForeignFiles({ gitDir, commonDir }: Repository, { permit }: ToolContext): void {
  for (const path of [gitDir, commonDir].flatMap(folder => QUOTED.map(name => join(folder, name)))) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue
    const target = realPathOf(path)
    if (!permit.mayRead(target))
      throw new ToolError('forbidden', `${path} leads to ${target}, which may not be read.`)
  }
}

// Beyond those of lines that only read: files that a setting makes git print from, or order and colour by.
const MORE_SETTINGS: readonly (readonly [string, string])[] = [
  ['diff.orderFile', '/dev/null'],
  ['color.ui', 'false'],
  ['core.quotePath', 'false'],
  ['i18n.logOutputEncoding', 'UTF-8'],
  ['log.mailmap', 'false'],
  ['mailmap.file', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
]

async function spawner(
  parts: CommandParts,
  context: ToolContext,
  repository: Repository,
  settings: readonly (readonly [string, string])[],
): Promise<GitReader> {
  const folders = trustedPath(parts.path, parts.workspace)
  const file = findGit(folders)
  const env = {
    ...NEUTRAL_GIT,
    ...gitSettings([...GIT_SETTINGS, ...MORE_SETTINGS, ...settings]),
    PATH: folders.join(':'),
    HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
    // Named, so that neither `core.worktree` nor a folder in the shape of a repository leads elsewhere.
    GIT_DIR: repository.gitDir,
    GIT_WORK_TREE: repository.root,
    GIT_LITERAL_PATHSPECS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
  }
  const start = async (args: readonly string[], mostBytes: number) => {
    const out = collect(mostBytes)
    const err = collect(16 * 1024)
    const command = {
      file,
      args: ['--no-pager', ...args],
      timeoutMs: TIMEOUT_MS,
      signal: context.signal,
      onStdout: out.add,
      onStderr: err.add,
    }
    const profile = {
      ...EMPTY_PROFILE,
      readable: [parts.workspace, repository.root, repository.gitDir, repository.commonDir],
      hidden: [...parts.places.own, parts.places.temporary, ...parts.socketFolders],
      cwd: repository.root,
      env,
    }
    const result =
      parts.sandbox === null
        ? await parts.processes.run({ ...command, cwd: repository.root, env })
        : await parts.sandbox.run(profile, command)
    if (result.timedOut)
      throw new ToolError('timeout', `git ${args[0]} took longer than ${TIMEOUT_MS / 1000} s.`)
    context.signal.throwIfAborted()
    return {
      ok: result.exitCode === 0 || out.isCut(),
      stdout: out.text(),
      cut: out.isCut(),
      stderr: err.text(),
    }
  }
  return {
    repository,
    async read(args, mostBytes = MOST_BYTES) {
      const { ok, stdout, stderr, cut } = await start(args, mostBytes)
      if (ok) return { stdout, cut }
      throw new ToolError('failed', `git ${args.join(' ')} failed:\n${stderr.trim()}`)
    },
    async tryRead(args) {
      const { ok, stdout } = await start(args, MOST_BYTES)
      return ok ? stdout : null
    },
  }
}

function findGit(folders: readonly string[]): string {
  try {
    return findProgram('git', folders)
  } catch (error) {
    throw new ToolError(
      'failed',
      `Failed to run git: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function collect(mostBytes: number) {
  const chunks: Uint8Array[] = []
  let bytes = 0
  return {
    /** False when it is enough. */
    add(chunk: Uint8Array): boolean {
      if (bytes < mostBytes) chunks.push(chunk.subarray(0, mostBytes - bytes))
      bytes += chunk.length
      return bytes <= mostBytes
    },
    isCut: () => bytes > mostBytes,
    text: () => new TextDecoder().decode(Buffer.concat(chunks)),
  }
}

/** The nearest `.git` at or above a folder: a folder, or a file that names one. */
function findRepository(folder: string): Repository | undefined {
  for (let root = folder; ; root = dirname(root)) {
    const gitDir = gitDirOf(root)
    if (gitDir !== undefined) return { root, gitDir, commonDir: commonDirOf(gitDir) }
    if (dirname(root) === root) return undefined
  }
}

function commonDirOf(gitDir: string): string {
  try {
    return realpathSync(resolve(gitDir, readFileSync(join(gitDir, 'commondir'), 'utf8').trim()))
  } catch {
    // The repository itself.
    return gitDir
  }
}

function gitDirOf(root: string): string | undefined {
  const path = join(root, '.git')
  try {
    const stat = statSync(path)
    if (stat.isDirectory()) return realpathSync(path)
    if (!stat.isFile() || stat.size > 4096) return undefined
    const target = /^gitdir: (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1]
    return target === undefined ? undefined : realpathSync(resolve(root, target.trim()))
  } catch {
    // Not there, or leads nowhere.
    return undefined
  }
}
