import { once } from 'node:events'
import { createWriteStream, lstatSync, renameSync, type WriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import type { CallFinished } from '../../core/audit.ts'
import type { Outcome } from '../../core/decision.ts'
import { toBlock, toLine } from '../../core/visible.ts'
import { digestHere, provesInput } from '../../store/audit/input-digest.ts'
import { type ReadOptions, readEvents, type StoredEvent } from '../../store/audit/read.ts'
import { restartAudit } from '../../store/audit/restart.ts'
import { type LogReport, verifyLogs } from '../../store/audit/verify.ts'
import { logFolders, type Places, placesFor } from '../../store/places.ts'
import {
  type Command,
  type CommandContext,
  countOption,
  flag,
  textOption,
  UsageError,
  unknownVerb,
} from '../command.ts'
import { confirmed } from '../confirm.ts'
import { EXIT } from '../exit-codes.ts'
import { isWholeCallId, matchId } from '../match-id.ts'
import { loadForCommand, openRuntime } from '../open-runtime.ts'
import { type Output, table } from '../output.ts'
import { readTime } from '../read-time.ts'
import { recordedIds } from '../recorded-ids.ts'

export const audit: Command = {
  help: `
Read and verify the audit log: every call, its decision with file and line, and what it changed.

  kogu audit list                           the last 20 finished calls
  kogu audit list --tool write_file --outcome deny --since 7d
  kogu audit show call_4f9c                 both events of one call, in full, by its id or the start of it
  kogu audit show call_4f9c --input '{…}'   exit 1 when the call was made with another input
  kogu audit verify                         exit 1 when an event was changed, removed, inserted or reordered
  kogu audit export --output audit.jsonl    all events, oldest first, as they are in the log
  kogu audit restart --yes                  begin a new log after the old one was deleted on purpose

restart deletes nothing: the rest of the old log, and the proof of what is missing, stay beside the new one.

Filters: --since 7d|2026-11-01  --until …  --tool NAME  --run ID  --outcome allow|ask|deny  --text WORDS  --limit N
`,
  options: {
    since: { type: 'string' },
    until: { type: 'string' },
    tool: { type: 'string' },
    run: { type: 'string' },
    outcome: { type: 'string' },
    text: { type: 'string' },
    limit: { type: 'string' },
    output: { type: 'string' },
    input: { type: 'string' },
    yes: { type: 'boolean', short: 'y' },
  },
  words: { list: 1, show: 2, verify: 1, export: 1, restart: 1 },
  async run(context) {
    const [verb = 'list', id] = context.positionals
    const places = placesFor(loadForCommand(context).workspace.root, context.environment.directories.state)
    switch (verb) {
      case 'list':
        return list(context, places)
      case 'show':
        if (id === undefined) throw new UsageError('Which call?', 'For example: kogu audit show call_4f9c')
        return show(context, places, id)
      case 'verify':
        return verify(context, places)
      case 'export':
        return exportEvents(context, places)
      case 'restart':
        return restart(context, places)
      default:
        throw unknownVerb('audit', verb, ['list', 'show', 'verify', 'export', 'restart'])
    }
  },
}

async function list(context: CommandContext, places: Places): Promise<number> {
  const { output, values } = context
  const limit = countOption(values, 'limit') ?? 20
  const rows: StoredEvent[] = []
  for await (const stored of readEvents({ ...(await readFilters(context, places)), newestFirst: true })) {
    if (isListed(stored)) rows.push(stored)
    if (rows.length >= limit) break
  }
  if (output.json) output.object(rows.map(toData))
  else if (rows.length === 0) output.note('No matching events are recorded.')
  else output.data(table(rows.reverse().map(row => toRow(row, output))))
  return EXIT.ok
}

/** A call is listed by its end, with the answers it got. The log's own book-keeping is not. */
function isListed({ event }: StoredEvent): boolean {
  if (event.type === 'note') return !event.action.startsWith('segment-')
  return event.type === 'call-finished' || event.type === 'approval-answered'
}

function toRow({ at, event }: StoredEvent, output: Output): string[] {
  const time = at.slice(0, 19).replace('T', ' ')
  if (event.type === 'note')
    return [time, 'note', event.action, '', '', toLine(JSON.stringify(event.details), 100)]
  if (event.type === 'call-started') return [time, 'started', oneLine(event.tool), '', '', event.call]
  if (event.type === 'approval-requested') return [time, 'asked', oneLine(event.tool), '', '', event.call]
  if (event.type === 'approval-answered')
    return [time, 'answered', event.answer, '', oneLine(event.user ?? ''), event.call]
  return [
    time,
    outcomeWord(event, output),
    oneLine(event.tool),
    subjectOf(event),
    decidedBy(event),
    event.call,
  ]
}

/** What it was about: the first thing the tool said it would touch. */
function subjectOf({ access = [] }: CallFinished): string {
  const [first] = access
  if (first === undefined) return ''
  const text =
    'path' in first
      ? first.path
      : 'command' in first
        ? first.command
        : 'url' in first
          ? first.url
          : first.name
  return oneLine(text)
}

/** What the agent wrote must not look like a line of the log. */
function oneLine(text: string): string {
  return text.length > 60 ? `${toLine(text.slice(0, 59))}…` : toLine(text)
}

function outcomeWord(event: CallFinished, output: Output): string {
  if (event.ok) return output.style('green', 'ok')
  const refused = event.decision.outcome === 'deny' && event.decision.by !== 'validation'
  return output.style('red', refused ? 'denied' : (event.error?.code ?? 'failed'))
}

function decidedBy({ decision }: CallFinished): string {
  const { by, ref } = decision
  if (ref === null) return by
  return `${by} ${toLine(ref.id, 100)} (${toLine(ref.source, 200)}${ref.line === undefined ? '' : `:${ref.line}`})`
}

async function show(context: CommandContext, places: Places, given: string): Promise<number> {
  const { output } = context
  const id = isWholeCallId(given)
    ? given
    : matchId(given, 'call', await recordedIds(logFolders(places), 'call'))
  const events: StoredEvent[] = []
  for await (const stored of readEvents({ directory: logFolders(places), call: id })) events.push(stored)
  if (events.length === 0) {
    output.note(`No call '${toLine(id)}' is recorded. See: kogu audit list`)
    if (output.json)
      output.object({ ok: false, error: { code: 'not_found', message: 'No such call.', hint: null } })
    return EXIT.notFound
  }
  const input = textOption(context.values, 'input')
  if (input !== undefined) return proveInput(context, places, events, input)
  if (output.json) output.object(events.map(toData))
  else
    output.data(
      events.map(event => toBlock(JSON.stringify(toData(event), null, 2), { margin: '' })).join('\n'),
    )
  return EXIT.ok
}

/** What is masked in the log can still be proven by whoever has the input. */
function proveInput(
  { output }: CommandContext,
  { sealKey }: Places,
  events: readonly StoredEvent[],
  text: string,
): number {
  const started = events.find(({ event }) => event.type === 'call-started')?.event
  const digest = digestHere(sealKey)
  const isSame =
    started?.type === 'call-started' && digest !== undefined
      ? provesInput(started, parseInput(text), digest)
      : undefined
  if (output.json) output.object({ ok: isSame === true, same: isSame ?? null })
  else if (isSame === undefined) output.note('The log has no digest of this input, or its key is not here.')
  else
    output.data(
      isSame ? 'The call was made with exactly this input.' : 'The call was made with another input.',
    )
  return isSame === true ? EXIT.ok : EXIT.failed
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError('--input takes the input of the call as JSON.')
  }
}

function toData({ seq, at, hash, segment, event }: StoredEvent): unknown {
  return { seq, at, segment, hash, ...event }
}

async function verify({ output }: CommandContext, places: Places): Promise<number> {
  const report = await verifyLogs(places)
  if (output.json) output.object(report)
  else output.data(report.logs.map(log => describeReport(log, output)).join('\n'))
  return report.ok ? EXIT.ok : EXIT.failed
}

function describeReport(report: LogReport, output: Output): string {
  const { directory, events, segments, problems, anchored } = report
  const counts = `${events} events in ${segments} segment${segments === 1 ? '' : 's'} of ${toLine(directory)}`
  const unanchored = anchored.missing.length
  const doubt =
    unanchored === 0
      ? ''
      : `\n${unanchored} of them without an anchor: their end may have been cut off unnoticed.`
  if (report.ok) return `${output.style('green', 'intact')}  ${counts}${doubt}`
  const lines = problems.map(
    ({ segment, line, kind, message }) => `  ${toLine(segment)}:${line}  ${kind}  ${toLine(message)}`,
  )
  return [`${output.style('red', 'BROKEN')}  ${counts}`, ...lines].join('\n')
}

async function restart(context: CommandContext, places: Places): Promise<number> {
  const { output, environment, values } = context
  if (environment.insideCall !== undefined) {
    throw new UsageError('The audit log cannot be restarted from inside a Kogu call.')
  }
  if (!flag(values, 'yes') && !(await confirmed(context, 'Begin a new audit log?'))) {
    output.note('Nothing was changed. To do it: kogu audit restart --yes')
    return EXIT.needsPerson
  }
  const folders = { directory: places.audit, anchorDirectory: places.anchors }
  const restarted = await restartAudit(folders, new Date())
  if (restarted === undefined) {
    output.note('The audit log is intact; there is no need to restart it.')
    return EXIT.ok
  }
  const { report, kept } = restarted
  const runtime = await openRuntime(context)
  try {
    runtime.note('audit-restarted', { events: report.events, problems: report.problems.slice(0, 20), kept })
  } finally {
    await runtime.close()
  }
  if (output.json) output.object({ ok: true, kept })
  else
    output.note(
      `A new audit log has begun; its first entry says so. Kept: ${kept.map(path => toLine(path)).join(', ')}`,
    )
  return EXIT.ok
}

async function exportEvents(context: CommandContext, places: Places): Promise<number> {
  const path = textOption(context.values, 'output')
  if (path !== undefined) refuseExisting(path)
  // Under its own name only when it is whole: one that was cut off must not look like one.
  const part = `${path}.part`
  const target = path === undefined ? process.stdout : await createFile(part)
  for await (const { text } of readEvents(await readFilters(context, places))) {
    if (!target.write(`${text}\n`)) await once(target, 'drain')
  }
  if (path !== undefined) {
    target.end()
    await finished(target)
    refuseExisting(path)
    renameSync(part, path)
  }
  return EXIT.ok
}

async function createFile(path: string): Promise<WriteStream> {
  refuseExisting(path)
  const stream = createWriteStream(path, { flags: 'wx', mode: 0o600 })
  await once(stream, 'open')
  return stream
}

/** An export never overwrites a file. */
function refuseExisting(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw new UsageError(`The file already exists: ${path}`, 'Choose another name, or delete it first.')
}

const OUTCOMES: readonly Outcome[] = ['allow', 'ask', 'deny']

async function readFilters({ values }: CommandContext, places: Places): Promise<ReadOptions> {
  const outcome = textOption(values, 'outcome')
  if (outcome !== undefined && !OUTCOMES.some(known => known === outcome)) {
    throw new UsageError(`--outcome takes ${OUTCOMES.join(', ')}, not '${outcome}'.`)
  }
  const filters: Record<string, unknown> = { directory: logFolders(places) }
  for (const name of ['tool', 'text', 'outcome']) filters[name] = textOption(values, name)
  const run = textOption(values, 'run')
  filters.run =
    run === undefined ? undefined : matchId(run, 'run', await recordedIds(logFolders(places), 'run'))
  for (const name of ['since', 'until']) filters[name] = readTime(textOption(values, name), name)
  const given = Object.entries(filters).filter(([, value]) => value !== undefined)
  // Built from the names above, which are those of ReadOptions.
  return Object.fromEntries(given) as unknown as ReadOptions
}
