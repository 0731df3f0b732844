// Sets of rules to begin with. They are appended to a person's own file after a look at what they would have decided.

export const STARTER_PACKS = {
  readOnly: `[[permissions.rules]]
id = "read-only-files"
decision = "deny"
tool = ["write_file", "edit_file", "move_file", "delete_file"]
path = "**"
reason = "This project is only read"

[[permissions.rules]]
id = "read-only-commands"
decision = "deny"
tool = "run_command"
effects = ["writes-files", "deletes-files", "delete-recursive", "git-changes", "git-history", "package-scripts", "publishes"]
reason = "This project is only read"
not_match = ["git status", "ls src"]
`,
  coding: `[[permissions.rules]]
id = "coding-edits"
decision = "allow"
tool = ["write_file", "edit_file"]
path = ["src/**", "test/**", "tests/**", "docs/**"]
reason = "Everyday edits; every one can be undone"

[[permissions.rules]]
id = "coding-tests"
decision = "allow"
tool = "run_command"
command = [["npm", "pnpm", "yarn"], ["test", "lint"], "**"]
match = ["npm test", "pnpm lint src"]
not_match = ["npm publish"]

[[permissions.rules]]
id = "coding-publish"
decision = "ask"
tool = "run_command"
effects = ["publishes", "git-history"]
always = true
reason = "Publishing and rewriting history need a person each time"
`,
  lockedDown: `[[permissions.rules]]
id = "locked-network"
decision = "deny"
tool = "http"
host = "**"
reason = "Nothing leaves this machine"

[[permissions.rules]]
id = "locked-commands"
decision = "deny"
tool = "run_command"
effects = ["network", "sends-data", "remote-shell", "publishes", "privilege", "system-change", "package-scripts", "containers"]
reason = "Nothing leaves or changes this machine"

[[permissions.rules]]
id = "locked-changes"
decision = "ask"
tool = ["write_file", "edit_file", "move_file", "delete_file"]
path = "**"
always = true
reason = "Every change is looked at"
`,
} as const

export type PackName = keyof typeof STARTER_PACKS
