import { noModel } from '../../agents/models/models.ts'
import { counted } from '../../core/counted.ts'
import { toLine } from '../../core/visible.ts'
import { openModels } from '../../models.ts'
import { createBuild } from '../../pipelines/build/build.ts'
import { findBegin } from '../../pipelines/build/copy-repository.ts'
import { personGit } from '../../pipelines/build/person-git.ts'
import { workOnBuild } from '../build-session.ts'
import { type Command, type CommandContext, CommandError, flag, textOption, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand } from '../open-runtime.ts'
import { withParts } from '../pipeline-runs.ts'

export const build: Command = {
  help: `
Let agents change this repository, on a copy and a branch of its own: look, specify, write, check, fix, commit.

  kogu build "add a --json flag to list"
  kogu build "fix the failing test" --rounds 5 --on-ask deny     unattended: what would ask is refused
  kogu build - < goal.md                                         reads the goal from standard input

  kogu pipeline show pl_4f9c12ab34cd      what was asked, changed, checked, refused and spent
  kogu pipeline accept pl_4f9c12ab34cd    merge its branch into what is checked out
  kogu pipeline discard pl_4f9c12ab34cd   delete its copy and its branch
  kogu pipeline resume pl_4f9c12ab34cd    go on after an answer, Ctrl-C or a crash

Options
  --model M            provider/model or rehearsal:FILE; see: kogu models list
  --rounds N           how often the fixer may try after a failed check; 0 to 20, default 3
  --gate               ask a person before the commit, with the whole difference
  --mode MODE          ask (default) or auto: what would ask is refused. Edits in the copy need no answer
  --on-ask WHAT        without a terminal: fail (default; exit code 7, resume after the answer) ·
                       deny: refuse what would ask · wait: wait for an answer, at most --ask-timeout 30m
  --json               one object at the end

Your files, index and HEAD are not touched; uncommitted changes are not part of the build. What may happen without a
question, and what asks: docs/build.md
Exit codes: 0 completed · 1 failed, nothing is committed · 4 no key · 7 waits for a person · 130 stopped
`,
  options: {
    model: { type: 'string' },
    rounds: { type: 'string' },
    gate: { type: 'boolean' },
    mode: { type: 'string' },
    'on-ask': { type: 'string' },
    'ask-timeout': { type: 'string' },
  },
  words: 1,
  run: runBuild,
}

async function runBuild(context: CommandContext): Promise<number> {
  const { environment, output, signal } = context
  const goal = await readGoal(context)
  const rounds = readRounds(context)
  const loaded = loadForCommand(context)
  const { config, workspace } = loaded
  if (config.mode === 'read-only')
    throw new UsageError('A build changes files, and the mode is read-only.', 'Add --mode ask.')
  // Before anything is made: without a model or a commit there is nothing to do.
  const models = openModels(loaded, environment)
  const model = textOption(context.values, 'model') ?? models.defaultId()
  if (model === undefined) {
    const { message, hint } = noModel()
    throw new CommandError(EXIT.credentials, message, hint)
  }
  models.find(model)
  const begin = await findBegin(personGit(environment, workspace.root, signal), workspace.root)
  if (begin.changed > 0)
    output.note(`${counted(begin.changed, 'file')} with uncommitted changes: they are not part of the build.`)
  return withParts(context, async parts => {
    const wish = { goal, rounds, model, gate: flag(context.values, 'gate') }
    const run = await createBuild(parts, begin, wish)
    output.note(`${output.signs.begins} build ${run.id}  ${toLine(model)}  branch ${run.build?.branch}`)
    output.detail(`copy ${run.build?.root}`)
    return workOnBuild(context, parts, run)
  })
}

const MOST_ROUNDS = 20

function readRounds({ values }: CommandContext): number {
  const text = textOption(values, 'rounds') ?? '3'
  const rounds = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN
  if (rounds <= MOST_ROUNDS) return rounds
  throw new UsageError(`--rounds takes a number from 0 to ${MOST_ROUNDS}, not '${text}'.`)
}

async function readGoal({ positionals: [first], stdin }: CommandContext): Promise<string> {
  const goal = first === '-' ? await readAll(stdin) : (first ?? '').trim()
  if (goal !== '') return goal
  throw new UsageError('What should be built?', 'kogu build "…", or kogu build --help')
}

async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8').trim()
}
