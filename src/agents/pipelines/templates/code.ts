import { edges, type PipelineTemplate, says, untilChecksPass, writeStep } from './template.ts'

// Templates that change a project and check it. A check that fails goes back, three times at most.

export const DESIGN_TO_CODE: PipelineTemplate = {
  pipeline: `name = "NAME"
description = "From a design document to a file of code"

[input]
design = { required = true, description = "The design, such as doc/design.md" }
file = { required = true, description = "The file to write" }

[[step]]
id = "read"
tool = "read_file"
args = { path = "{{input.design}}" }

[[step]]
id = "code"
panel = "NAME-coder"
vars = { design = "{{steps.read.text}}", file = "{{input.file}}" }

${writeStep('code', '{{input.file}}')}`,
  panels: {
    coder: `description = "Writes one file of code from a design"
system = "You answer with the content of the file and nothing else."
prompt = "Write {{file}} as this design says.\\n\\n{{design}}"
`,
  },
  rehearsals: { coder: says('export const answer = 42\n') },
}

export const BUG_FIX: PipelineTemplate = {
  pipeline: `name = "NAME"
description = "Find the cause of a bug, fix it, check it; three tries"

[input]
report = { required = true, description = "What is wrong" }

[[step]]
id = "find"
panel = "NAME-detective"
vars = { report = "{{input.report}}" }

[[step]]
id = "fix"
panel = "NAME-fixer"

[[step]]
id = "check"
tool = "self_eval"

${edges('find fix', 'fix check')}${untilChecksPass('check', 'fix')}`,
  panels: {
    detective: `description = "Finds the cause of a bug"
prompt = "Find the cause of this bug. Name file and line.\\n\\n{{report}}"
[tools.read_file]
[tools.grep_search]
[tools.glob_search]
`,
    fixer: `description = "Fixes what was found"
system = "You change as little as possible."
prompt = "Fix this. Where a check failed, fix what it says.\\n\\n{{input}}"
[tools.read_file]
[tools.grep_search]
[tools.edit_file]
allowed_dirs = ["."]
`,
  },
  rehearsals: {
    detective: says('The cause is in the first line.'),
    fixer: says('Fixed by a rehearsal.'),
  },
}
