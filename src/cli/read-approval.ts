import { resolve } from 'node:path'
import type { GivenAnswer, RememberedAnswer } from '../core/approval.ts'
import type { CommandPattern } from '../core/decision.ts'
import type { ShownQuestion } from '../core/stored-question.ts'
import { toLine } from '../core/visible.ts'
import { type CommandContext, countOption, textOption, UsageError } from './command.ts'
import { readDuration } from './read-time.ts'

/** The yes that the options of `kogu approvals approve` say. What may be remembered is checked where answers are kept. */
export function readApproval(context: CommandContext, question: ShownQuestion, user: string): GivenAnswer {
  const { values } = context
  const session = countOption(values, 'session')
  const always = countOption(values, 'always')
  if (session !== undefined && always !== undefined)
    throw new UsageError('Use either --session or --always, not both.')
  refuseUnconfirmed(context, question)
  const number = session ?? always
  if (number === undefined) {
    const lost = ['where', 'for', 'words'].find(name => values[name] !== undefined)
    if (lost !== undefined) throw new UsageError(`--${lost} needs --session N or --always N.`)
    return { kind: 'once', user, ...keptPaths(context, question) }
  }
  if (values.keep !== undefined) throw new UsageError('--keep cannot be combined with --session or --always.')
  const offer = question.offers[number - 1]
  if (offer === undefined) {
    const most = question.offers.length
    throw new UsageError(
      most === 0 ? 'No answer to this call can be remembered.' : `There are only ${most} offers.`,
    )
  }
  const kind = session === undefined ? 'permanent' : 'session'
  return {
    kind,
    user,
    grant: offer.id,
    ...scopeOf(context, kind),
    ...hoursOf(context),
    ...patternOf(context),
  }
}

function scopeOf(
  { values }: CommandContext,
  kind: RememberedAnswer['kind'],
): Pick<RememberedAnswer, 'scope'> {
  const wanted = textOption(values, 'where')
  if (wanted === undefined) return {}
  if (kind === 'session') throw new UsageError('--where needs --always: --session is always for this run.')
  const scope = (['panel', 'project', 'everywhere'] as const).find(each => each === wanted)
  if (scope === undefined)
    throw new UsageError(`--where takes panel, project or everywhere, not '${toLine(wanted)}'.`)
  return { scope }
}

const HOUR_MS = 3_600_000

function hoursOf({ values }: CommandContext): Pick<RememberedAnswer, 'hours'> {
  const ms = readDuration(values, 'for')
  if (ms === undefined) return {}
  if (ms % HOUR_MS !== 0) throw new UsageError('--for takes whole hours, such as 1h, 8h or 7d.')
  return { hours: ms / HOUR_MS }
}

/** `npm test * …`: a star is any one word, and three dots at the end are any further words. */
function patternOf({ values }: CommandContext): { pattern?: CommandPattern } {
  const text = textOption(values, 'words')
  if (text === undefined) return {}
  const words = text.split(/\s+/).filter(word => word !== '')
  const more = /^(…|\.\.\.)$/.test(words.at(-1) ?? '')
  const kept = more ? words.slice(0, -1) : words
  return { pattern: { words: kept.map(word => (word === '*' ? null : word)), more } }
}

function keptPaths({ values }: CommandContext, { subject }: ShownQuestion): { paths?: string[] } {
  const names = Array.isArray(values.keep) ? values.keep.map(String) : []
  if (names.length === 0) return {}
  if (subject.kind !== 'changes')
    throw new UsageError('--keep works only for a command that has already run.')
  return { paths: names.map(name => resolve(subject.root, name)) }
}

/** As on a terminal: a dangerous call takes more than a word. */
function refuseUnconfirmed({ values }: CommandContext, { isDangerous, tool }: ShownQuestion): void {
  if (!isDangerous || textOption(values, 'confirm') === tool.name) return
  throw new UsageError('This call is dangerous.', `To confirm it, add: --confirm ${toLine(tool.name)}`)
}
