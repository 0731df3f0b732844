import { isInside, lookAt } from '../../core/real-path.ts'
import { gitParts } from '../../git/git-folder.ts'
import { foldPath, isSystemPath, type PathContext } from './paths.ts'

// Inside the write scope, and yet no file tool changes them. The criterion: a tool runs code, or changes what is allowed,
// because of them when a person merely opens or enters the folder, or works with git in it. What agents edit every day
// for good reasons is asked about instead (run-by-tools.ts).
const VERSION_CONTROL = 'git|hg|svn|bzr|jj|sl|pijul'
const EDITORS = 'vscode|vs|idea|zed|fleet|helix|vim|nvim|nova|theia'
const AGENTS =
  'claude|codex|gemini|cursor|opencode|windsurf|continue|roo|kiro|amazonq|qwen|factory|trae|augment|cline|kilocode|crush|goose|junie|openhands'
const PROTECTED_FOLDER = new RegExp(`^\\.(kogu|${VERSION_CONTROL}|${EDITORS}|${AGENTS})$`)
const EDITOR_FOLDER = new RegExp(`^\\.(${EDITORS})$`)

const PROTECTED_FILE = new RegExp(
  `^(${[
    // Kogu and other agents.
    'kogu\\.toml|\\.mcp\\.json|opencode\\.jsonc?|\\.?crush\\.json|\\.claude\\.json|\\.aider\\.conf\\.ya?ml|\\.roomodes',
    // Shells, and what they start.
    '\\.(bash|zsh|ksh|csh|tcsh)rc|\\.bash_(profile|login|logout|aliases)|\\.profile|\\.z(shenv|profile|login|logout)',
    '\\.login|\\.inputrc|\\.envrc|\\.autoenv(\\.zsh|_leave\\.zsh|\\.leave)?|\\.x(profile|initrc|sessionrc)',
    // Editors.
    '\\.(g|l)?vimrc|\\.local\\.n?vimrc|\\.vimrc\\.local|_vimrc|\\.(ex|nvim)rc|\\.nvim\\.lua|\\.emacs|\\.dir-locals(-2)?\\.el',
    // Package managers: yarnPath names the program that `yarn` starts.
    '\\.yarnrc(\\.ya?ml)?|\\.pnpmfile\\.c?js',
    // Interpreters and debuggers, which read them from the folder they are started in.
    '\\.(gdb|lldb)init|\\.rprofile|\\.(pry|irb|pdb|byebug|rdbg|sqlite|psql|python|octave|iruby|jshell|lua)rc|\\.(perldb|ocamlinit|utoprc|guile|luarc|dbxinit|sbclrc)|\\.pythonrc\\.py|\\.ghci|\\.iex\\.exs|\\.erlang',
  ].join('|')})$`,
)

export type Exists = (path: string) => boolean

/**
 * Why no file tool may change this path, whatever rules and people say; undefined when it may. Looks at the disk only for
 * names that git knows.
 */
export function protectedReason(
  realPath: string,
  context: PathContext,
  exists: Exists = path => lookAt(path) !== undefined,
): string | undefined {
  return nameReason(realPath, context) ?? shapeReason(realPath, context, exists)
}

/**
 * The same for a file that a question named and that nothing but git changed: files that other tools than git and Kogu
 * run come with a project.
 */
export function protectedFromGit(realPath: string, context: PathContext, exists: Exists): string | undefined {
  const { parts } = ownPart(realPath, context)
  const isOwn = parts.some(part => OWN_FOLDER.test(part)) || parts.at(-1) === 'kogu.toml'
  const reason = isOwn || isSystemPath(realPath) ? nameReason(realPath, context) : undefined
  return reason ?? shapeReason(realPath, context, exists)
}

const OWN_FOLDER = new RegExp(`^\\.(kogu|${VERSION_CONTROL})$`)

function nameReason(realPath: string, context: PathContext): string | undefined {
  if (isSystemPath(realPath)) return 'it belongs to the system'
  const { parts } = ownPart(realPath, context)
  const name = parts.at(-1) ?? ''
  if (PROTECTED_FILE.test(name)) return `'${name}' can make tools run code or change what is allowed`
  // Packages bring the settings of their authors' editors along, and nobody opens one as a folder.
  const packages = parts.indexOf('node_modules')
  const folder = parts.find(
    (part, index) =>
      PROTECTED_FOLDER.test(part) && (packages === -1 || index < packages || !EDITOR_FOLDER.test(part)),
  )
  if (folder === undefined) return undefined
  return `'${folder}' ${folder === '.kogu' ? "holds Kogu's own state" : 'can make tools run code'}`
}

function shapeReason(realPath: string, context: PathContext, exists: Exists): string | undefined {
  const { root, own } = ownPart(realPath, context)
  const [repository] = gitParts(own, path => exists(`${root}/${path}`), foldName)
  return repository === undefined
    ? undefined
    : `it is part of a git repository, '${root}/${repository.folder}'`
}

/** A workspace may itself lie below a folder of such a name; only what is inside it counts. */
function ownPart(realPath: string, { workspace }: PathContext) {
  const root = isInside(realPath, workspace) && workspace !== '/' ? workspace : ''
  const own = realPath.slice(root.length + 1)
  return { root, own, parts: foldPath(`/${own}`).split('/') }
}

function foldName(name: string): string {
  return foldPath(`/${name}`).slice(1)
}
