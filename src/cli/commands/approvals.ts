import { type GivenAnswer, isSameAnswer } from '../../core/approval.ts'
import { belongsToRun, type ShownQuestion } from '../../core/stored-question.ts'
import { toBlock, toLine } from '../../core/visible.ts'
import { pipelineRunsOf } from '../../store/pipeline-runs.ts'
import {
  type Command,
  type CommandContext,
  countOption,
  flag,
  isRemote,
  SERVER_OPTION,
  textOption,
  UsageError,
  unknownVerb,
} from '../command.ts'
import { describeQuestion, questionPages } from '../describe-question.ts'
import { EXIT } from '../exit-codes.ts'
import { matchId } from '../match-id.ts'
import { openRuntime } from '../open-runtime.ts'
import { table } from '../output.ts'
import { readApproval } from '../read-approval.ts'
import type { Inbox } from '../remote.ts'
import { runPlace } from '../run-place.ts'
import { withDatabase } from '../run-session.ts'
import { subjectOf } from '../run-view.ts'

const VERBS = ['list', 'show', 'approve', 'deny', 'history']

export const approvals: Command = {
  help: `
List and answer questions that wait, because nobody could be asked at the time.

  kogu approvals list
  kogu approvals show q-4f9c21aa
  kogu approvals approve q-4f9c21aa                 this one call, once
  kogu approvals approve q-4f9c21aa --keep dist     of what a command changed, only this
  kogu approvals approve q-4f9c21aa --session 1     the first offer, for the rest of the run
  kogu approvals approve q-4f9c21aa --always 2      the second offer, until it is revoked or its time is over
  kogu approvals approve q-4f9c21aa --always 2 --where project --for 8h --words 'npm test * …'
  kogu approvals deny q-4f9c21aa --message 'use the staging database'
  kogu approvals deny q-4f9c21aa --always           refuse exactly this call from now on, until it is revoked
  kogu approvals history --limit 20                 how questions of agents' runs ended; --before ID: next page

--where panel|project|everywhere: where --always holds; without it, for the panel that asked, or in the project
--for 8h: forget it sooner. --words: of a command line, which words; * is any one word, … at the end any further words
To approve a dangerous call, add --confirm with the name of its tool.
Then let the client repeat the call, or continue it: kogu call --continue q-4f9c21aa
An answer counts once, and only if the tool, input, rules and files have not changed since.
A question that nobody answers within permissions.approval_timeout expires. Not available inside a Kogu call.
--server URL: questions of a kogu serve elsewhere; token in KOGU_TOKEN
`,
  options: {
    session: { type: 'string' },
    always: { type: 'string' },
    where: { type: 'string' },
    for: { type: 'string' },
    words: { type: 'string' },
    keep: { type: 'string', multiple: true },
    message: { type: 'string' },
    confirm: { type: 'string' },
    limit: { type: 'string' },
    before: { type: 'string' },
    ...SERVER_OPTION,
  },
  flags: { deny: ['always'] },
  words: 2,
  async run(context) {
    const [verb = 'list', id] = context.positionals
    if (!VERBS.includes(verb)) throw unknownVerb('approvals', verb, VERBS)
    if (verb === 'history') return history(context)
    const inbox = isRemote(context)
      ? (await import('../remote.ts')).remoteInbox(context)
      : await openRuntime(context)
    try {
      const questions = await inbox.listQuestions()
      if (verb === 'list') return list(context, questions)
      const question = findQuestion(questions, id)
      if (question === undefined) {
        context.output.problem(
          `No question ${toLine(id ?? '')} waits. It was answered and has ended, or it has expired.`,
        )
        return EXIT.notFound
      }
      if (verb === 'show') return show(context, question)
      return await answer(context, inbox, question, verb)
    } finally {
      await inbox.close()
    }
  },
}

async function history(context: CommandContext): Promise<number> {
  const { values, output } = context
  const place = runPlace(context)
  const before = textOption(values, 'before')
  return withDatabase(context, async database => {
    const { listApprovals } = await import('../../store/tables/approvals.ts')
    const found = await listApprovals(database, {
      place,
      limit: countOption(values, 'limit') ?? 20,
      ...(before === undefined ? {} : { before }),
    })
    if (output.json) output.object(found)
    else if (found.length === 0) output.note('No run of an agent has asked anything here.')
    else {
      const rows = found.map(({ id, createdAt, status, decidedBy, tool, input, run }) => [
        id,
        createdAt.toISOString().slice(0, 16),
        decidedBy === null ? status : `${status} by ${toLine(decidedBy)}`,
        run.slice(0, 8),
        `${toLine(tool ?? '')} ${toLine(subjectOf(input))}`,
      ])
      output.data(table(rows))
    }
    return EXIT.ok
  })
}

function findQuestion(
  questions: readonly ShownQuestion[],
  id: string | undefined,
): ShownQuestion | undefined {
  if (id === undefined) throw new UsageError('Which question?', 'See: kogu approvals list')
  const whole = matchId(
    id,
    'question',
    questions.flatMap(each => [each.id, each.callId]),
  )
  return questions.find(each => each.id === whole || each.callId === whole)
}

function list({ output }: CommandContext, questions: readonly ShownQuestion[]): number {
  if (output.json) output.object(questions)
  else if (questions.length === 0) output.note('No question waits for an answer.')
  else
    output.data(
      table([
        ['QUESTION', 'TOOL', 'RUN', 'UNTIL', 'ANSWER', 'ABOUT'],
        ...questions.map(question => [
          question.id,
          [...(question.within ?? []).map(({ tool }) => tool), question.tool.name]
            .map(name => toLine(name))
            .join(' › '),
          toLine(question.runPath[0]?.slice(0, 12) ?? ''),
          new Date(question.expiresAt).toISOString().slice(11, 19),
          question.answer?.kind ?? 'none yet',
          oneLine(question.reasons[0] ?? ''),
        ]),
      ]),
    )
  return EXIT.ok
}

function show({ output }: CommandContext, question: ShownQuestion): number {
  if (output.json) output.object(question)
  else
    output.data(
      [
        describeQuestion(question, questionPages(question, 200, 'kogu approvals show ID --json'), output),
        toBlock(`input: ${JSON.stringify(question.input)}`),
        ...question.offers.map(({ label }, index) => `  offer ${index + 1}: ${toLine(label)}`),
        question.answer === null
          ? `Answer: kogu approvals approve ${question.id}, or: kogu approvals deny ${question.id}`
          : `Answered: ${question.answer.kind} by ${toLine(question.answer.user)}`,
      ].join('\n'),
    )
  return EXIT.ok
}

async function answer(
  context: CommandContext,
  inbox: Inbox,
  question: ShownQuestion,
  verb: string,
): Promise<number> {
  const { environment, output } = context
  if (environment.insideCall !== undefined) {
    // Otherwise a command that an agent runs could approve what the agent may not do.
    throw new UsageError('This is not available inside a Kogu call: only a person can approve.')
  }
  const given = verb === 'deny' ? denial(context) : readApproval(context, question, userOf(context))
  const answered = await inbox.answerQuestion(question.id, given)
  if (answered === undefined) {
    output.problem(`The question ${question.id} has ended in the meantime.`)
    return EXIT.notFound
  }
  const kept = answered.stored.answer ?? given
  const { kind, user } = kept
  const counts = answered.isFirst || isSameAnswer(kept, given)
  if (output.json) output.object({ question: question.id, call: question.callId, answer: kind, user })
  else if (!answered.isFirst) output.note(`It was answered already: ${kind} by ${toLine(user)}.`)
  else output.note(verb === 'deny' ? deniedNote(given) : `Approved. ${howToGoOn(question, inbox)}`)
  return counts ? EXIT.ok : EXIT.conflict
}

/** A pipeline and an agent's run make their calls themselves. */
function howToGoOn(question: ShownQuestion, { places }: Inbox): string {
  const [asked = ''] = question.runPath
  const open = places === undefined ? [] : pipelineRunsOf(places).listOpen()
  const root = open.find(({ runs }) => runs.includes(asked))?.id ?? asked
  if (root.startsWith('pl_'))
    return `A server goes on with the pipeline by itself; otherwise: kogu pipeline resume ${root}`
  return belongsToRun(question)
    ? `A server goes on with the run by itself; otherwise: kogu runs resume ${root}`
    : `Repeat the call, or: kogu call --continue ${question.id}`
}

function denial(context: CommandContext): GivenAnswer {
  const { values } = context
  const ofYes = ['session', 'where', 'for', 'words', 'keep', 'confirm'].find(
    name => values[name] !== undefined,
  )
  if (ofYes !== undefined) throw new UsageError(`--${ofYes} is for kogu approvals approve.`)
  const message = textOption(values, 'message')
  return {
    kind: flag(values, 'always') ? 'deny-permanently' : 'deny',
    user: userOf(context),
    ...(message === undefined ? {} : { message }),
  }
}

function deniedNote({ kind }: GivenAnswer): string {
  if (kind === 'deny') return 'Denied.'
  return 'Denied, and refused from now on. To take that back: kogu permissions grants list, then kogu permissions grants revoke ID'
}

function userOf({ environment }: CommandContext): string {
  return environment.variables.USER ?? 'terminal'
}

function oneLine(text: string): string {
  return toLine(text, 80)
}
