import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { CommandPermit, CommandPlan } from '../../core/command.ts'
import { isInside } from '../../core/real-path.ts'
import type { SandboxProfile } from '../../core/sandbox.ts'
import { findProgram, trustedPath } from './find-program.ts'
import type { CommandParts } from './parts.ts'

/**
 * Which folders of the host a command sees. An approved one: all but what is hidden. One that runs unasked: the system's
 * own, the workspace, what the line names, and the programs; a spelling that the analysis missed then shows nothing.
 * `program` is what a tool starts by its full path, wherever it is installed: Kogu's own Node for scripts.
 */
export function openFolders(
  parts: CommandParts,
  { hidden, plan, contained }: CommandPermit,
  hiddenPaths: readonly string[],
  program = '',
): Pick<SandboxProfile, 'readable' | 'closed' | 'protected'> {
  const state = join(parts.workspace, '.kogu')
  const settings = join(parts.workspace, 'kogu.toml')
  const own = [state, settings]
  if (hidden.shown === null) return { readable: [parts.workspace], protected: own }
  const closed = closedFolders(parts)
  // Of the files beside the folders of the root, it sees what it names.
  const isClosed = (path: string): boolean =>
    dirname(path) === '/' || closed.some(folder => isInside(path, folder))
  const installed = contained === true ? storesOf(parts) : programFolders(parts, plan)
  const readable = [
    ...[...hidden.shown, ...PACKAGE_LISTS, ...installed].filter(isClosed),
    // Only the file: what lies beside it is not the tool's to show.
    ...(isAbsolute(program) ? [program] : []),
    ...(contained === true ? hidden.shown.filter(isFolderInTmp) : []),
  ]
  const open = [parts.workspace, ...readable]
  // A link that came with a clone leads to somebody else's folder.
  if (lstatSync(state, { throwIfNoEntry: false })?.isDirectory() !== true)
    return { readable: open, closed, protected: own }
  return {
    readable: [...open, ...shownIn(state, hiddenPaths)],
    closed: [...closed, state],
    protected: [settings],
  }
}

/**
 * What a contained line sees of the programs and packages that the person installed. It may run anything, so all of it is
 * searched for secrets; a line that only reads opens what its words name, and that was judged.
 */
export function packageStores(parts: CommandParts, { hidden, contained }: CommandPermit): string[] {
  if (contained !== true || hidden.shown === null) return []
  const closed = closedFolders(parts)
  const home = realFolder(parts.home)
  const seen = [...new Set(storesOf(parts).map(realFolder))].filter(
    path => existsSync(path) && closed.some(folder => isInside(path, folder)) && !isShared(path, home),
  )
  return seen.filter(path => !seen.some(other => other !== path && isInside(path, other)))
}

/** Version managers outside the person's home hold programs for all, as /usr does. */
function isShared(path: string, home: string): boolean {
  return !isInside(path, home) && MANAGERS.test(basename(path))
}

function storesOf(parts: CommandParts): string[] {
  const stores = PACKAGE_STORES.map(name => join(parts.home, name))
  return [...programFolders(parts, null), ...stores].filter(path => !isInside(parts.workspace, path))
}

/** The repository of a working tree. Files there that a line names are those of its own /tmp. */
function isFolderInTmp(path: string): boolean {
  return /^\/(var\/)?tmp\//.test(path) && lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Most of Kogu's own state is hidden: to show the rest takes less than to cover each. No links, which lead elsewhere. */
function shownIn(state: string, hidden: readonly string[]): string[] {
  return readdirSync(state, { withFileTypes: true })
    .filter(entry => entry.isDirectory() || entry.isFile())
    .map(({ name }) => join(state, name))
    .filter(path => !hidden.includes(path))
}

// Programs, their libraries and settings, and what bubblewrap makes anew. Secrets in them are hidden by name.
const SYSTEM = /^(bin|sbin|lib|lib32|lib64|libx32|usr|etc|nix|gnu|dev|proc|sys|run|tmp|boot)$/

// Where images and distributions put source code, that of applications with their secrets too.
const SOURCE_FOLDERS = ['/usr/src', '/usr/local/src']

// What `dpkg -l` and its like read.
const PACKAGE_LISTS = ['dpkg', 'apt', 'rpm', 'pacman', 'dnf', 'flatpak', 'snapd'].map(
  name => `/var/lib/${name}`,
)

// What builds and tests load, installed for the person and not for the project.
const PACKAGE_STORES = [
  ...['.cargo/bin', '.cargo/registry', '.cargo/git', '.rustup', 'go/bin', 'go/pkg/mod', '.m2/repository'],
  ...['.local/bin', '.local/lib', '.local/pipx', '.local/share/uv', '.local/share/pnpm', '.local/share/mise'],
  ...['.nvm/versions', '.pyenv', '.rbenv', '.gem', '.bun', '.deno', '.volta', '.sdkman/candidates', '.asdf'],
]

function closedFolders({ home, workspace }: CommandParts): string[] {
  const folders = readdirSync('/', { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !SYSTEM.test(entry.name))
    .map(({ name }) => `/${name}`)
    .concat(SOURCE_FOLDERS)
  const own = realFolder(home)
  const isApart = own !== '/' && !folders.some(folder => isInside(own, folder)) && !isInside(own, workspace)
  return isApart && !/^\/(tmp|run|dev|proc|sys)(\/|$)/.test(own) ? [...folders, own] : folders
}

// Version managers put a small program in the PATH that starts the real one, which lies beside it.
const MANAGERS = /^(\.(pyenv|rbenv|nodenv|goenv|jenv|asdf|volta|cargo|bun|deno|linuxbrew)|mise|fnm)$/

function programFolders({ path, workspace, home }: CommandParts, plan: CommandPlan | null): string[] {
  const folders = trustedPath(path, workspace)
  const used = wordsOf(plan).flatMap(word => {
    try {
      return [dirname(realpathSync.native(findProgram(word, folders)))]
    } catch {
      // No program of that name.
      return []
    }
  })
  return [...folders.map(realFolder), ...used].flatMap(folder => {
    const parent = dirname(folder)
    if (MANAGERS.test(basename(parent))) return [parent, join(home, '.rustup')]
    return [folder, ...['lib', 'lib64', 'libexec'].map(name => join(parent, name))]
  })
}

/** The words that may name a program; wrappers such as `timeout` have it among their arguments. */
function wordsOf(plan: CommandPlan | null): string[] {
  const stages = plan?.steps.flatMap(step => (step.kind === 'pipeline' ? step.stages : [])) ?? []
  const words = stages.flatMap(({ argv }) => argv.slice(0, MOST_WORDS))
  return words.filter(word => /^[\w.+-]+$/.test(word))
}

const MOST_WORDS = 6

function realFolder(path: string): string {
  // Most are not there, and an exception costs many times as much as a look.
  if (!existsSync(path)) return path
  try {
    return realpathSync.native(path)
  } catch {
    // Not there: nothing to be shown or closed.
    return path
  }
}
