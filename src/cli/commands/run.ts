import { noModel } from '../../agents/models/models.ts'
import { openModels } from '../../models.ts'
import {
  type Command,
  type CommandContext,
  isRemote,
  SERVER_OPTION,
  textOption,
  UsageError,
} from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand } from '../open-runtime.ts'
import { modelOption, readRunSpec } from '../run-options.ts'
import { withRuns } from '../run-session.ts'
import { checkFiles, workAndTell } from '../work-and-tell.ts'

export const run: Command = {
  help: `
Give a model a task and let it work with Kogu's tools. Every call is decided, recorded and can be undone.

  kogu run "Find the TODOs in src and list them in todo.md"
  kogu run "Update the prices" --model anthropic/claude-sonnet-4-5 --mode accept-edits --max-cost 0.50
  kogu run "Look around" --tools read-only --json
  kogu run "Try it without a key" --model rehearsal:demo.toml
  kogu run --continue 3f2a "Now add a test"

  kogu run TASK | -             - reads the task from standard input; kogu "TASK" is the same for more than one word

Options
  --model M            provider/model or rehearsal:FILE; see: kogu models list
  --panel NAME         run the panel .kogu/panels/NAME.toml; --var k=v fills its {{k}}
  --agent NAME         run as an agent; see: kogu agents list
  --tools a,b          only these tools · read-only: tools that change nothing. Defaults to all tools, or the agent's
  --mode MODE          ask (default) · accept-edits · read-only · auto; as in kogu call
  --orchestration M    none (default, see [defaults] orchestration) · automatic: sub-agents may do parts of the task
                       approval: the same, but you approve the plan and every side effect
  --max-turns N  --max-cost USD  --max-tokens N  --max-time 10m  --max-calls N    limits; they end it with exit code 8
  --on-ask WHAT        without a terminal: fail (default; exit code 7, resume the run after the answer) ·
                       deny: refuse what would ask · wait: wait for an answer, at most --ask-timeout 30m
  --denials-ok         exit 0 even if something was refused
  --continue ID        send another message to a run, or resume it
  --record FILE        save what the model does as a rehearsal · --replay FILE: play one (as --model rehearsal:FILE)
  --output FILE        also write the last answer to this file
  --server URL         run it on a kogu serve elsewhere, with its files and rules; needs a token in KOGU_TOKEN
  --json               one object at the end · --ndjson: every event as it happens, one per line

Ctrl-C pauses the run. To continue: kogu runs resume ID
Exit codes: 0 done · 1 failed · 4 no key or refused · 5 vendor not reachable · 6 something was refused · 7 waits for a person
            8 a limit was reached · 9 no such run · 10 somebody else works on it · 130 paused
See also: kogu runs, kogu agents, kogu usage, docs/agents.md
`,
  options: {
    model: { type: 'string' },
    panel: { type: 'string' },
    agent: { type: 'string' },
    tools: { type: 'string' },
    mode: { type: 'string' },
    orchestration: { type: 'string' },
    'max-turns': { type: 'string' },
    'max-cost': { type: 'string' },
    'max-tokens': { type: 'string' },
    'max-time': { type: 'string' },
    'max-calls': { type: 'string' },
    'on-ask': { type: 'string' },
    'ask-timeout': { type: 'string' },
    output: { type: 'string' },
    'denials-ok': { type: 'boolean' },
    var: { type: 'string', multiple: true },
    continue: { type: 'string' },
    record: { type: 'string' },
    replay: { type: 'string' },
    ndjson: { type: 'boolean' },
    ...SERVER_OPTION,
  },
  run: runCommand,
}

async function runCommand(context: CommandContext): Promise<number> {
  const continued = textOption(context.values, 'continue')
  const task = await readTask(context)
  const panel = textOption(context.values, 'panel')
  if (task === undefined && continued === undefined && panel === undefined) {
    throw new UsageError('What is the task?', 'kogu run "…", or kogu run --help')
  }
  if (isRemote(context)) return (await import('../remote.ts')).runAtServer(context, task ?? '')
  checkFiles(context)
  // Before anything is started: without a model there is nothing to do.
  if (continued === undefined) {
    const models = openModels(loadForCommand(context), context.environment)
    const id = modelOption(context) ?? models.defaultId()
    const isAgents = panel !== undefined || context.values.agent !== undefined
    if (id === undefined && !isAgents) return tellNoModel(context)
    if (id !== undefined) models.find(id)
  }
  return withRuns(context, async session => {
    if (continued === undefined) {
      const spec = await readRunSpec(context, task ?? '', session)
      return workAndTell(context, session, await session.runs.create(spec))
    }
    // Taken first: nothing is said to a run that belongs to another folder or to another Kogu.
    const run = await session.runs.take(await session.findId(continued))
    if (task !== undefined) await session.say(run.id, task)
    return workAndTell(context, session, run)
  })
}

function tellNoModel({ output }: CommandContext): number {
  const { code, message, hint } = noModel()
  if (output.json) output.object({ ok: false, error: { code, message, hint } })
  output.problem(`${message}\n${hint}`)
  return EXIT.credentials
}

async function readTask({ positionals, stdin }: CommandContext): Promise<string | undefined> {
  const [first, ...extra] = positionals
  if (extra.length > 0) throw new UsageError('Too many arguments.', 'Quote the task: kogu run "…"')
  if (first !== '-') return first?.trim() === '' ? undefined : first
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8').trim() || undefined
}
