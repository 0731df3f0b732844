import { setTimeout as sleep } from 'node:timers/promises'
import type { RunEvent } from '../agents/events.ts'
import { type AnswerRequest, type Client, createClient, ServerProblem, type ServerRun } from '../client.ts'
import type { GivenAnswer } from '../core/approval.ts'
import { ToolError } from '../core/errors.ts'
import type { ShownQuestion } from '../core/stored-question.ts'
import { toBlock, toLine } from '../core/visible.ts'
import type { Places } from '../store/places.ts'
import { type CommandContext, CommandError, countOption, flag, textOption, UsageError } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { matchAgent } from './match-agent.ts'
import { matchId } from './match-id.ts'
import { table } from './output.ts'
import { createRunView } from './run-view.ts'
import { exitCode } from './work-and-tell.ts'

// `--server URL`: runs and questions of a `kogu serve` that is somewhere else. It works there, with that machine's files and
// rules; this machine needs neither a database nor a key. The token comes from KOGU_TOKEN, never from a flag.

/** Does something at the server; what it refuses becomes an exit code. */
async function atServer<T>(context: CommandContext, work: (client: Client) => Promise<T>): Promise<T> {
  const { environment, values } = context
  if (environment.insideCall !== undefined) throw new UsageError('This is not available inside a Kogu call.')
  const url = textOption(values, 'server') ?? ''
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url))
    throw new UsageError(`--server takes an address such as http://127.0.0.1:4000, not '${url}'.`)
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' && !LOOPBACK.has(hostname))
    throw new UsageError(`${url} would send the token unencrypted.`, 'Use https:// for another machine.')
  const token = environment.variables.KOGU_TOKEN ?? ''
  if (token === '')
    throw new CommandError(
      EXIT.credentials,
      'KOGU_TOKEN is not set.',
      'Create one on the server: kogu tokens create',
    )
  try {
    return await work(createClient({ url: url.replace(/\/+$/, ''), token }))
  } catch (error) {
    if (error instanceof ServerProblem && error.problem.status === 401)
      throw new CommandError(EXIT.credentials, 'The server does not accept the token in KOGU_TOKEN.')
    if (error instanceof ServerProblem) throw toToolError(error)
    if (error instanceof TypeError) throw new CommandError(EXIT.unreachable, `${url} cannot be reached.`)
    throw error
  }
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

function toToolError({ problem: { status, detail, hint } }: ServerProblem): ToolError {
  const code =
    status === 404
      ? 'not_found'
      : status === 409 || status === 410
        ? 'conflict'
        : status === 403
          ? 'denied'
          : status < 500
            ? 'invalid_input'
            : 'failed'
  return new ToolError(code, detail, hint === null ? {} : { hint })
}

/** `kogu run TASK --server URL`: starts it there and shows what happens until it ends or waits. */
export async function runAtServer(context: CommandContext, task: string): Promise<number> {
  const { values } = context
  refuseOptions(values, ['agent', 'continue', 'record', 'replay', 'orchestration', ...HERE_ONLY])
  const tools = textOption(values, 'tools')
  const pairs = Array.isArray(values.var) ? values.var.map(String) : []
  const cost = textOption(values, 'max-cost')
  const wish = {
    task,
    ...pick('model', textOption(values, 'model')),
    ...pick('panel', textOption(values, 'panel')),
    ...pick('mode', textOption(values, 'mode')),
    ...pick('tools', tools === undefined || tools === 'read-only' ? tools : tools.split(',')),
    ...pick('max_turns', countOption(values, 'max-turns')),
    ...pick('max_tokens', countOption(values, 'max-tokens')),
    ...pick('max_cost', cost === undefined ? undefined : Number(cost)),
    variables: Object.fromEntries(pairs.map(pair => pair.split(/=(.*)/s).slice(0, 2))),
  }
  return atServer(context, async client =>
    follow(context, client, (await client.request<ServerRun>('POST', '/api/runs', wish)).id),
  )
}

const HERE_ONLY = ['on-ask', 'ask-timeout', 'output', 'max-time', 'max-calls']

/** A wish that the server does not hear must not seem to be granted. */
function refuseOptions(values: CommandContext['values'], names: readonly string[]): void {
  for (const name of names)
    if (values[name] !== undefined) throw new UsageError(`--${name} does not work with --server.`)
}

function pick<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>) // one key, with this value
}

/** `kogu runs VERB … --server URL`. */
export async function runsAtServer(context: CommandContext): Promise<number> {
  const { output, values, positionals } = context
  const [verb = 'list', start, ...words] = positionals
  refuseOptions(values, ['all', 'mode', 'max-turns', 'max-cost', 'max-tokens', ...HERE_ONLY])
  return atServer(context, async client => {
    if (verb === 'list') {
      const query = new URLSearchParams({ limit: textOption(values, 'limit') ?? '20' })
      if (values.status !== undefined) query.set('status', String(values.status))
      const { items } = await client.request<{ items: ServerRun[] }>('GET', `/api/runs?${query}`)
      if (output.json) output.object(items)
      else if (items.length === 0) output.note('No runs yet.')
      else output.data(table(items.map(toRow)))
      return EXIT.ok
    }
    if (start === undefined) throw new UsageError('Which run?', 'See: kogu runs list --server URL')
    const id = await findId(client, start)
    if (verb === 'tail') return follow(context, client, id)
    if (verb !== 'show' && verb !== 'say' && verb !== 'stop' && verb !== 'pause' && verb !== 'resume')
      throw new UsageError(`kogu runs ${verb} does not work with --server.`)
    const run =
      verb === 'show'
        ? await client.run(id)
        : await client.request<ServerRun>(
            'POST',
            `/api/runs/${encodeURIComponent(id)}/${await actionOf(context, client, id, verb)}`,
            verb === 'say' ? { text: words.join(' '), ...(await oneAgent(context, client, id)) } : {},
          )
    if (output.json) output.object(run)
    else output.data([table([toRow(run)]), ...(run.text === null ? [] : [toBlock(run.text)])].join('\n'))
    return EXIT.ok
  })
}

async function actionOf(
  { values }: CommandContext,
  client: Client,
  run: string,
  verb: string,
): Promise<string> {
  if (verb !== 'stop') return verb
  const { execution_id } = await oneAgent({ values }, client, run)
  if (execution_id !== undefined) return `agents/${encodeURIComponent(execution_id)}/stop`
  return flag(values, 'after-step') ? 'stop-after-step' : 'stop'
}

/** The sub-agent that is meant, when one is. */
async function oneAgent(
  { values }: Pick<CommandContext, 'values'>,
  client: Client,
  run: string,
): Promise<{ execution_id?: string }> {
  const agent = textOption(values, 'agent')
  if (agent === undefined) return {}
  const path = `/api/runs/${encodeURIComponent(run)}/agents`
  const agents = await client.request<ServerAgent[]>('GET', path)
  const execution = matchAgent(
    agent,
    agents.map(({ execution_id, parent_execution_id, completed_at, name }) => ({
      ...{ execution: execution_id, name, isAtWork: parent_execution_id !== null && completed_at === null },
    })),
  )
  return { execution_id: execution }
}

interface ServerAgent {
  readonly execution_id: string
  readonly parent_execution_id: string | null
  readonly completed_at: string | null
  readonly name: string
}

const MOST_LOOKED_AT = 200

/** Of the newest runs, the one whose id begins like this. */
async function findId(client: Client, start: string): Promise<string> {
  if (start.length === WHOLE_ID) return start
  const path = `/api/runs?limit=${MOST_LOOKED_AT}`
  const { items } = await client.request<{ items: ServerRun[] }>('GET', path)
  const id = matchId(
    start,
    'run',
    items.map(run => run.id),
  )
  if (id !== start) return id
  throw new ToolError('not_found', `There is no run '${start}'.`, {
    hint: 'See: kogu runs list --server URL',
  })
}

const WHOLE_ID = '00000000-0000-0000-0000-000000000000'.length

function toRow({ id, status, stop_reason, created_at, cost_usd, task }: ServerRun): string[] {
  const state = stop_reason === null || stop_reason === 'end_turn' ? status : `${status} (${stop_reason})`
  const cost = cost_usd === null ? 'unknown' : `$${cost_usd.toFixed(4)}`
  return [id, state, created_at.slice(0, 16), cost, toLine(task.split('\n')[0] ?? '', 60)]
}

const LOOK_MS = 300

/** From its beginning until it ends or waits for somebody. */
async function follow(context: CommandContext, client: Client, id: string): Promise<number> {
  const { output, signal, values } = context
  const lines = flag(values, 'ndjson')
  const view = createRunView(output, text => {
    if (!output.json && !lines) process.stdout.write(text)
  })
  for (let after = 0; !signal.aborted; ) {
    const run = await client.run(id)
    const { items } = await client.request<{ items: (RunEvent & { seq: number })[] }>(
      'GET',
      `/api/runs/${encodeURIComponent(id)}/events?after=${after}`,
    )
    for (const event of items) {
      after = event.seq
      if (lines) output.object(event)
      view.show(event)
    }
    if (items.length > 0) continue
    const isQueued = run.stop_reason === 'queued'
    if (run.status !== 'running' && !isQueued) {
      view.endLine()
      if (output.json) output.object(run)
      else
        output.note(`${run.status}${run.stop_reason === null ? '' : ` (${run.stop_reason})`}  run ${run.id}`)
      if (run.error !== null) output.problem(toLine(run.error))
      const { status, stop_reason: stopReason } = run
      return exitCode(
        { status, stopReason, errorKind: null },
        view.denied.length > 0 && !flag(values, 'denials-ok'),
      )
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
  output.note(`It continues on the server: kogu runs tail ${id} --server ${textOption(values, 'server')}`)
  return EXIT.interrupted
}

/** What `kogu approvals` needs of a runtime, at the server. */
export interface Inbox {
  /** Of this machine's own workspace. */
  readonly places?: Places
  listQuestions(): Promise<ShownQuestion[]>
  answerQuestion(
    id: string,
    given: GivenAnswer,
  ): Promise<{ isFirst: boolean; stored: { answer?: { kind: string; user: string } | null } } | undefined>
  close(): Promise<void>
}

const NOTHING = {
  ...{ grant: undefined, hours: undefined, scope: undefined, pattern: undefined },
  ...{ message: undefined, paths: undefined },
}

export function remoteInbox(context: CommandContext): Inbox {
  const listQuestions = (): Promise<ShownQuestion[]> => atServer(context, client => client.approvals())
  return {
    listQuestions,
    async answerQuestion(id, given) {
      const question = (await listQuestions()).find(each => each.id === id)
      if (question === undefined) return undefined
      const { kind, grant, hours, scope, pattern, message, paths } = { ...NOTHING, ...given }
      const request: AnswerRequest = {
        answer: kind,
        digest: question.digest,
        ...pick('grant', grant),
        ...pick('hours', hours),
        ...pick('scope', scope),
        ...pick('pattern', pattern),
        ...pick('message', message),
        ...pick('keep', paths),
        ...pick('confirm', textOption(context.values, 'confirm')),
      }
      const { answer } = await atServer(context, client => client.answer(id, request))
      return { isFirst: true, stored: { answer } }
    },
    close: async () => undefined,
  }
}
