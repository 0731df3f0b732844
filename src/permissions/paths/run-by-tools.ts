// A file that makes a tool run code when a person merely opens or enters the folder, or works with git in it, and that
// agents have good reasons to edit. Writing it asks. What nobody needs an agent for is in protected-paths.ts; code that
// a person runs on purpose (scripts of a package, build files, tests, settings of linters) is an ordinary file.

// The last one is of agents on GitHub.
const FOLDERS =
  'husky|githooks|git-hooks|lefthook|lefthook-local|cargo-husky|devcontainer|mise|direnv|github/hooks'
const FILES = [
  // Hooks of git.
  '\\.?lefthook(-local)?\\.(ya?ml|toml|jsonc?)|\\.pre-commit-config\\.ya?ml|\\.overcommit\\.yml|captainhook\\.json',
  'grumphp\\.ya?ml|\\.rusty-hook\\.toml|\\.gitconfig',
  // Editors.
  '\\.devcontainer\\.json',
  // On entering a folder.
  '\\.?mise(\\.[\\w-]+)*\\.toml|\\.config/mise(/.*|\\.toml)',
  // Programs that agents start.
  'mcp\\.json',
]

/** On a folded path that begins with a slash. */
export const RUN_BY_TOOLS = new RegExp(
  `/(\\.(${FOLDERS})(/|$)|(${FILES.join('|')})$)|\\.(code-workspace|sublime-project)$`,
)
