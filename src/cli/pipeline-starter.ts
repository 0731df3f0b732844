/** What `kogu pipeline new` writes. */
export const STARTER = `name = "NAME"
description = "Find the TODOs of this project and keep them in a file"

[input]
file = { type = "string", default = "todo.md" }

[[step]]
id = "find"
tool = "grep_search"
args = { pattern = "TODO", output_mode = "content" }

[[step]]
id = "write"
tool = "write_file"
args = { path = "{{input.file}}", content = "{{steps.find.text}}" }
gate = "approval"
`
