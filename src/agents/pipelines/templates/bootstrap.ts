import {
  CHECK_FAILED,
  CHECKS_PASSED,
  edges,
  onlyWhen,
  type PipelineTemplate,
  says,
  untilChecksPass,
} from './template.ts'

export interface BootstrapChoices {
  /** How often the fixer may try after a check has failed. */
  readonly rounds: number
  /** Whether a person sees the whole difference before it is committed. */
  readonly gate: boolean
}

/**
 * The loop that builds: look, specify, write, check, fix what the check says, commit. Models look and write with tools;
 * the checks and the commit are calls of the pipeline itself, so no model can leave them out or say that they passed.
 */
export function selfBootstrap({ rounds, gate }: BootstrapChoices): PipelineTemplate {
  const checks = rounds > 0 ? ['check', 'recheck'] : ['check']
  return {
    pipeline: `name = "NAME"
description = "Look at the project, specify, write the code, check it, fix what fails (${rounds} ${rounds === 1 ? 'round' : 'rounds'}), commit"

[input]
goal = { required = true, description = "What the project should be able to do" }

[[step]]
id = "goal"
text = "Goal: {{input.goal}}"

[[step]]
id = "tree"
tool = "list_directory"
args = { path = "." }

[[step]]
id = "log"
tool = "git_ops"
args = { action = "log" }
rehearsal = "a1b2c3d The last commit"
on_error = "continue"

[[step]]
id = "analyse"
panel = "NAME-analyst"

[[step]]
id = "spec"
panel = "NAME-specifier"

[[step]]
id = "code"
panel = "NAME-coder"
vars = { goal = "{{input.goal}}", spec = "{{steps.spec.text}}" }

${rounds > 0 ? fixing(rounds) : CHECKING}
# What git ignores is not added.
[[step]]
id = "add"
tool = "git_ops"
args = { action = "add", args = { files = ["."] } }
rehearsal = "Done."

[[step]]
id = "diff"
tool = "git_ops"
args = { action = "diff", args = { staged = true } }
rehearsal = "No differences."

${reviewing(gate)}
[[step]]
id = "commit"
tool = "git_ops"
args = { action = "commit", args = { message = "{{input.goal}}\\n\\nKogu-Run: {{run.id}}" } }
rehearsal = "Done."

${edges(
  'goal analyse',
  'tree analyse',
  'log analyse',
  'analyse spec',
  'spec code',
  'code check',
  ...(rounds > 0 ? ['fix recheck'] : []),
  'add diff',
  'diff review',
  'review commit',
)}${rounds > 0 ? onlyWhen('check', 'fix', CHECK_FAILED) : ''}${rounds > 1 ? untilChecksPass('recheck', 'fix', rounds - 1) : ''}${checks.map(check => onlyWhen(check, 'add', CHECKS_PASSED)).join('')}`,
    panels: PANELS,
    rehearsals: {
      analyst: says('It needs one function.'),
      specifier: says('export const answer: the number 42'),
      coder: says('Written by a rehearsal.'),
      fixer: says('Fixed by a rehearsal.'),
    },
  }
}

const CHECKING = `[[step]]
id = "check"
tool = "self_eval"
`

/** The first check only warns: what the last one says counts. */
const fixing = (rounds: number): string => `[[step]]
id = "check"
tool = "self_eval"
on_error = "continue"

[[step]]
id = "fix"
panel = "NAME-fixer"
vars = { goal = "{{input.goal}}", spec = "{{steps.spec.text}}", first = "{{steps.check.text}}", last = "${rounds > 1 ? '{{steps.recheck.text}}' : ''}" }

[[step]]
id = "recheck"
tool = "self_eval"
`

/** Reviewers of the configuration see the whole difference, and with a gate a person does, too. */
const reviewing = (
  gate: boolean,
): string => `# The reviewers of [quorum], where there are any, vote on the whole difference.
[[step]]
id = "review"
text = "{{steps.diff.text}}"
quorum = true
${gate ? 'gate = "approval"\n' : ''}`

const READING = `[tools.read_file]
[tools.list_directory]
[tools.glob_search]
[tools.grep_search]
[tools.git_ops]
git = "ReadOnly"
`

const WRITING = `${READING}[tools.edit_file]
allowed_dirs = ["."]
[tools.write_file]
[tools.apply_patch]
[tools.move_file]
[tools.delete_file]
`

const PANELS: Readonly<Record<string, string>> = {
  analyst: `description = "Says how a project stands and what a goal needs"
system = "You look at a project before others change it. You change nothing yourself."
prompt = """
Look at the files that matter for the goal, and at the history where it helps. Then say, in short: how the project is built and \\
checked, which files the goal concerns and why, what is there already that can be used, and what could go wrong.

{{input}}
"""

[limits]
max_turns = 30

# To let it search the web, add these, and gate = "approval" to each later step that changes something.
# [tools.web_search]
# [tools.web_fetch]
${READING}`,
  specifier: `description = "Writes a specification"
system = "You write specifications that another engineer follows without asking. You change nothing yourself."
prompt = """
Write the specification: each file to change or add, how it behaves, what is an error, and the tests that show it. Leave \\
everything else as it is.

{{input}}
"""

[limits]
max_turns = 30

${READING}`,
  coder: `description = "Changes the project by a specification"
system = """
You change a project with the file tools. Read a file before you change it, follow the style around you, and change nothing that \\
the goal does not need. The checks of the project run after you; you cannot run them.
"""
prompt = """
Goal: {{goal}}

Do what this specification says, with tests. When all files are written, say in a few sentences what you changed.

{{spec}}
"""

[limits]
max_turns = 100

${WRITING}`,
  fixer: `description = "Fixes what the checks found"
system = """
You repair a change that another engineer made. The files are as that engineer left them: read them first. Change as little as \\
possible. Never remove or weaken a check to make it pass.
"""
prompt = """
Goal: {{goal}}

The specification:
{{spec}}

What the checks said after the change:
{{first}}

What they said after the last repair, if there was one:
{{last}}

Find the cause and repair it in the files. Then say in a few sentences what was wrong.
"""

[limits]
max_turns = 100

${WRITING}`,
}
