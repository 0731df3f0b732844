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

export const SELF_BOOTSTRAP: PipelineTemplate = {
  pipeline: `name = "NAME"
description = "Look at the project, decide, specify, write the code, check it; three tries"

[input]
goal = { required = true, description = "What the project should be able to do" }
file = { required = true, description = "The file to write" }

[[step]]
id = "goal"
text = "Goal: {{input.goal}}"

[[step]]
id = "read"
folder = "."

[[step]]
id = "analyse"
panel = "NAME-analyst"

[[step]]
id = "spec"
panel = "NAME-specifier"

[[step]]
id = "code"
panel = "NAME-coder"
vars = { spec = "{{steps.spec.text}}", file = "{{input.file}}", failure = "{{steps.check.text}}" }

${writeStep('code', '{{input.file}}')}
[[step]]
id = "check"
tool = "self_eval"

${edges(
  'goal analyse',
  'read analyse summarize=true',
  'analyse spec',
  'spec code',
  'code write',
  'write check',
)}${untilChecksPass('check', 'code')}`,
  panels: {
    analyst: `description = "Says how a project stands and what to do for a goal"
prompt = "What does this project need for the goal? Be short.\\n\\n{{input}}"
`,
    specifier: `description = "Writes a specification"
prompt = "Write the specification of one file: what it exports, how it behaves, what is an error.\\n\\n{{input}}"
`,
    coder: `description = "Writes one file of code, and fixes it"
system = "You answer with the content of the file and nothing else."
prompt = "Write {{file}} by this specification.\\n\\n{{spec}}\\n\\nWhat the last check said, if there was one:\\n{{failure}}"
`,
  },
  rehearsals: {
    analyst: says('It needs one function.'),
    specifier: says('export const answer: the number 42'),
    coder: says('export const answer = 42\n'),
    summary: says('A part of the project.'),
  },
}
