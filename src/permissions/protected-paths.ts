import { lstatSync } from 'node:fs'
import { gitParts } from '../core/git-folder.ts'
import { isInside } from '../core/real-path.ts'
import { foldPath, isSystemPath, type PathContext } from './paths.ts'

// Inside the write scope, and yet no file tool changes them: they run code, or they are Kogu's own.
const PROTECTED_FOLDER =
  /^\.(git|kogu|vscode|idea|zed|fleet|claude|codex|gemini|cursor|opencode|windsurf|continue)$/
const PROTECTED_FILE =
  /^(kogu\.toml|\.mcp\.json|opencode\.jsonc?|\.(bash|zsh|ksh|csh|tcsh)rc|\.bash_(profile|login|logout|aliases)|\.profile|\.z(shenv|profile|login|logout)|\.login|\.inputrc|\.envrc|\.x(profile|initrc|sessionrc)|\.(vim|ex|nvim)rc|\.emacs|\.(gdb|lldb)init)$/

/**
 * Why no file tool may change this path, whatever rules and people say; undefined when it may. Looks at the disk only for
 * names that git knows.
 */
export function protectedReason(
  realPath: string,
  context: PathContext,
  exists: (path: string) => boolean = isThere,
): string | undefined {
  if (isSystemPath(realPath)) return 'it belongs to the system'
  // A workspace may itself lie below a folder of such a name; only what is inside it counts.
  const root = isInside(realPath, context.workspace) && context.workspace !== '/' ? context.workspace : ''
  const own = realPath.slice(root.length + 1)
  const parts = foldPath(`/${own}`).split('/')
  const name = parts.at(-1) ?? ''
  if (PROTECTED_FILE.test(name)) return `'${name}' can run code or changes what is allowed`
  const folder = parts.find(part => PROTECTED_FOLDER.test(part))
  if (folder !== undefined) return `'${folder}' can run code or holds Kogu's own state`
  const [repository] = gitParts(own, path => exists(`${root}/${path}`), foldName)
  return repository === undefined
    ? undefined
    : `it is part of a git repository, '${root}/${repository.folder}'`
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function foldName(name: string): string {
  return foldPath(`/${name}`).slice(1)
}
