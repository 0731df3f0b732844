import type { Environment } from '../../config/environment.ts'
import { ToolError } from '../../core/errors.ts'
import { createProcesses } from '../../sandbox/processes/processes.ts'
import { findProgram, trustedPath } from '../../tools/command/find-program.ts'

// Git as the person's own command, on the person's repository: outside the sandbox, with the person's settings. No agent
// chooses what it does; none of the repository's hooks is run.

export interface GitAnswer {
  readonly ok: boolean
  readonly stdout: string
  readonly stderr: string
}

export interface PersonGit {
  /** Null when git fails. */
  ask(folder: string, ...args: string[]): Promise<string | null>
  /** Throws what git says when it fails. */
  run(folder: string, ...args: string[]): Promise<string>
  try(folder: string, ...args: string[]): Promise<GitAnswer>
}

/** What a command must not do besides what it is told: run hooks, tidy up, look at a file system for changes. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'fetch.writeCommitGraph=false',
  'submodule.recurse=false',
  'advice.detachedHead=false',
].flatMap(setting => ['-c', setting])

const TIMEOUT_MS = 10 * 60_000
const MOST_BYTES = 16 * 1024 * 1024

/** `workspace`: no program that lies in it is taken for git. */
export function personGit(
  { variables, path }: Environment,
  workspace: string,
  signal: AbortSignal = new AbortController().signal,
): PersonGit {
  const tryGit = async (folder: string, args: readonly string[]): Promise<GitAnswer> => {
    const processes = createProcesses({ spawner: 'direct' })
    const [out, err] = [collect(), collect()]
    try {
      const { exitCode } = await processes.run({
        file: requireGit(trustedPath(path, workspace)),
        args: ['--no-pager', ...SETTINGS, ...args],
        cwd: folder,
        env: { ...withoutGit(variables), ...QUIET },
        ...{ timeoutMs: TIMEOUT_MS, signal, onStdout: out.add, onStderr: err.add },
      })
      return { ok: exitCode === 0, stdout: out.text(), stderr: err.text() }
    } finally {
      await processes.close()
    }
  }
  return {
    try: (folder, ...args) => tryGit(folder, args),
    async ask(folder, ...args) {
      const { ok, stdout } = await tryGit(folder, args)
      return ok ? stdout.trim() : null
    },
    async run(folder, ...args) {
      const { ok, stdout, stderr } = await tryGit(folder, args)
      if (ok) return stdout
      throw new ToolError('failed', `git ${args.join(' ')} failed:\n${stderr.trim()}`)
    },
  }
}

/** Looking must not rewrite the index; nobody is asked for a password; what a filter would download stays a pointer. */
const QUIET = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_LFS_SKIP_SMUDGE: '1',
  LC_ALL: 'C.UTF-8',
}

/** Started from a hook, git's own variables would lead every command to another repository. */
function withoutGit(variables: Environment['variables']): Record<string, string> {
  const kept = /^GIT_(AUTHOR|COMMITTER|CONFIG|SSH|ASKPASS)/
  return Object.fromEntries(
    Object.entries(variables).filter(([name]) => !name.startsWith('GIT_') || kept.test(name)),
  )
}

function requireGit(path: readonly string[]): string {
  try {
    return findProgram('git', path)
  } catch {
    throw new ToolError('not_found', 'git is not installed.', { hint: 'Install git, then try again.' })
  }
}

function collect() {
  const chunks: Uint8Array[] = []
  let size = 0
  return {
    add(chunk: Uint8Array): boolean {
      chunks.push(chunk.slice())
      size += chunk.length
      return size <= MOST_BYTES
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  }
}
