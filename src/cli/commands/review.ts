import { toLine } from '../../core/visible.ts'
import { calibrate } from '../../review/calibration.ts'
import { reviewIssues } from '../../review-settings.ts'
import { readEvents } from '../../store/audit/read.ts'
import { type ReviewNote, reviewedCalls, toReviewNote } from '../../store/audit/reviewed-calls.ts'
import { placesFor } from '../../store/places.ts'
import { type Command, type CommandContext, countOption, unknownVerb } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand } from '../open-runtime.ts'
import { table } from '../output.ts'

export const review: Command = {
  help: `
Show what reviewers voted on calls, plans and outcomes, and how reliable each is.

  kogu review list                 the last verdicts, with the votes that disagreed
  kogu review stats                compare each reviewer's votes with later decisions of people, and undo
  kogu review check                list reviewers and conflicting settings; exit 3 on an error

Options
  --limit N            for list: how many, newest first; defaults to 20

See also: docs/review.md
`,
  options: { limit: { type: 'string' } },
  words: 1,
  async run(context) {
    const [verb = 'list'] = context.positionals
    if (verb === 'list') return list(context)
    if (verb === 'stats') return stats(context)
    if (verb === 'check') return check(context)
    throw unknownVerb('review', verb, ['list', 'stats', 'check'])
  },
}

function auditOf(context: CommandContext): string {
  const { root } = loadForCommand(context).workspace
  return placesFor(root, context.environment.directories.state).audit
}

async function list(context: CommandContext): Promise<number> {
  const { output, values } = context
  const limit = countOption(values, 'limit') ?? 20
  const found: (ReviewNote & { at: string })[] = []
  for await (const { event, at } of readEvents({
    directory: auditOf(context),
    text: 'quorum-review',
    newestFirst: true,
  })) {
    const note = toReviewNote(event)
    if (note !== undefined) found.push({ ...note, at: String(at) })
    if (found.length === limit) break
  }
  if (output.json) output.object({ verdicts: found })
  else if (found.length === 0) output.note('Nothing was reviewed yet.')
  else for (const note of found) output.data(describe(note))
  return EXIT.ok
}

/** The verdict in one line, and below it whoever saw it otherwise. */
function describe({
  phase,
  tool,
  run,
  passed,
  undecided,
  display,
  votes,
  at,
}: ReviewNote & { at: string }): string {
  const what = phase === 'action' ? (tool ?? 'call') : phase
  const how = undecided ? 'not decided' : passed ? 'passed' : 'rejected'
  const dissent = votes
    .filter(({ verdict }) => verdict !== (passed ? 'approve' : 'reject'))
    .map(
      ({ reviewer, verdict, reasoning }) => `    ${reviewer}: ${verdict}. ${toLine(reasoning).slice(0, 160)}`,
    )
  return [`${at}  ${display}  ${what} ${how}  ${toLine(run)}`, ...dissent].join('\n')
}

async function stats(context: CommandContext): Promise<number> {
  const { output } = context
  const records = calibrate(await reviewedCalls(readEvents({ directory: auditOf(context) })))
  if (output.json)
    output.object({
      reviewers: records.map(({ reviewer, reviews, approvals, rejections, ...rest }) => ({
        ...{ reviewer, reviews, approvals, rejections, without_vote: rest.withoutVote },
        ...{ approval_precision: rest.approvalPrecision, rejection_precision: rest.rejectionPrecision },
      })),
    })
  else if (records.length === 0) output.note('Nothing was reviewed yet.')
  else
    output.data(
      table([
        ['reviewer', 'votes', 'approvals', 'that stood', 'rejections', 'that were right', 'no vote'],
        ...records.map(record => [
          ...[record.reviewer, String(record.reviews), String(record.approvals)],
          ...[percent(record.approvalPrecision), String(record.rejections)],
          ...[percent(record.rejectionPrecision), String(record.withoutVote)],
        ]),
      ]),
    )
  return EXIT.ok
}

function percent(share: number | null): string {
  return share === null ? 'not known' : `${Math.round(share * 100)} %`
}

function check(context: CommandContext): number {
  const { output } = context
  const loaded = loadForCommand(context)
  const issues = reviewIssues(loaded)
  const { needed, on_deny, on_error, ...named } = loaded.config.reviewers
  const members = Object.entries(named).map(([name, { kind, model, command }]) => ({
    name,
    who: kind === 'command' ? (command ?? []).join(' ') : (model ?? ''),
  }))
  if (output.json)
    output.object({ ok: !issues.some(({ severity }) => severity === 'error'), reviewers: members, issues })
  else {
    if (members.length === 0) output.note('There are no reviewers. See: docs/review.md')
    else output.data(table(members.map(({ name, who }) => [name, who])))
    for (const { severity, key, message } of issues) output.problem(`${severity}: ${key}: ${message}`)
  }
  return issues.some(({ severity }) => severity === 'error') ? EXIT.config : EXIT.ok
}
