import type { RunEvent, WorkspaceEvent } from './agents/events.ts'
import type { CallResult } from './core/call.ts'
import type { ShownQuestion } from './core/stored-question.ts'
import type { Problem } from './server/problem.ts'

// For programs that talk to `kogu serve`. No dependency: it runs wherever there is `fetch`, in a browser too.

export interface ClientOptions {
  /** Such as http://127.0.0.1:4000; in a page of the server itself, an empty text. */
  readonly url: string
  /** From `kogu tokens create`. A page has its session instead. */
  readonly token?: string
}

export type ToolResult = Omit<CallResult, 'images' | 'label' | 'question'> & {
  /** The question that waits for an answer, when the call does. */
  readonly question: string | null
}

export interface ServerRun {
  readonly id: string
  readonly execution_id: string
  readonly status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  readonly stop_reason: string | null
  readonly error: string | null
  readonly text: string | null
  readonly task: string
  readonly model: string
  readonly agent: string | null
  readonly created_at: string
  readonly completed_at: string | null
  readonly cost_usd: number | null
  readonly tokens: number
  readonly calls: number
}

export interface RunRequest {
  readonly task: string
  readonly agent_id?: string
  readonly model?: string
  readonly tools?: 'read-only' | readonly string[]
  readonly max_turns?: number
  readonly max_cost?: number
}

export interface AnswerRequest {
  readonly answer: 'once' | 'session' | 'permanent' | 'deny' | 'deny-permanently'
  /** Of the question as it was looked at. */
  readonly digest: string
  readonly grant?: string
  /** How long the answer is remembered at most. */
  readonly hours?: number
  /** Where a permanent answer holds. */
  readonly scope?: 'panel' | 'project' | 'everywhere'
  /** Of a command line: which words, null being any one word. Never wider than the offer. */
  readonly pattern?: { readonly words: readonly (string | null)[]; readonly more: boolean }
  readonly message?: string
  /** Of the changes that a command has made, only these. */
  readonly keep?: readonly string[]
  readonly confirm?: string
}

export type ServerEvent = (RunEvent | WorkspaceEvent | { type: 'resync' }) & {
  readonly seq?: number
  readonly at?: string
  readonly run?: string
}

export interface ServerTool {
  readonly name: string
  readonly category: string
  readonly risk: 'low' | 'high'
  readonly enabled: boolean
  readonly definition: {
    readonly name: string
    readonly description: string
    readonly input_schema: Readonly<Record<string, unknown>>
  }
}

/** What an agent may do with a tool. */
export interface AgentToolConfig {
  readonly toolName: string
  readonly isEnabled: boolean
  readonly config?: Readonly<Record<string, unknown>>
}

/** An answer of the server that says what went wrong. */
export class ServerProblem extends Error {
  override readonly name = 'ServerProblem'
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
}

export interface Client {
  /** Any route of /api/openapi.json. */
  request<T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<T>
  call(tool: string, input: object, run?: string): Promise<ToolResult>
  listTools(): Promise<ServerTool[]>
  /** Tools that are not named stay as they are. */
  updateToolPermissions(agentId: string, tools: readonly AgentToolConfig[]): Promise<{ status: 'ok' }>
  approvals(): Promise<ShownQuestion[]>
  answer(approval: string, answer: AnswerRequest): Promise<ShownQuestion>
  continueCall(approval: string): Promise<ToolResult>
  startRun(request: RunRequest): Promise<ServerRun>
  run(id: string): Promise<ServerRun>
  stopRun(id: string): Promise<ServerRun>
  say(id: string, text: string): Promise<ServerRun>
  /** Events after a number, for as long as they are wanted; a lost connection is made again and nothing is missed. */
  events(options?: { after?: number; run?: string; signal?: AbortSignal }): AsyncGenerator<ServerEvent>
}

export function createClient({ url, token }: ClientOptions): Client {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ...(token === undefined ? { 'x-kogu-csrf': '1' } : { authorization: `Bearer ${token}` }),
  }
  const request = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${url}${path}`, { method, headers, redirect: 'error', ...content })
    const text = await response.text()
    if (!response.ok) throw toProblem(response.status, text)
    // What a route answers is described in /api/openapi.json; the caller says which it is.
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  const idOf = encodeURIComponent
  return {
    request,
    call: (tool, input, run) =>
      request('POST', '/api/calls', { tool, input, ...(run === undefined ? {} : { run }) }),
    listTools: () => request('GET', '/api/tools'),
    updateToolPermissions: (agentId, tools) =>
      request('POST', '/api/tools/config', { agent_id: agentId, tools }),
    approvals: () => request('GET', '/api/approvals'),
    answer: (id, answer) => request('POST', `/api/approvals/${idOf(id)}/answer`, answer),
    continueCall: id => request('POST', `/api/approvals/${idOf(id)}/continue`, {}),
    startRun: wish => request('POST', '/api/runs', wish),
    run: id => request('GET', `/api/runs/${idOf(id)}`),
    stopRun: id => request('POST', `/api/runs/${idOf(id)}/stop`, {}),
    say: (id, text) => request('POST', `/api/runs/${idOf(id)}/say`, { text }),
    events: (options = {}) => readEvents(url, headers, options),
  }
}

function toProblem(status: number, text: string): Error {
  try {
    return new ServerProblem(JSON.parse(text) as Problem)
  } catch {
    return new Error(`The server answered ${status}.`)
  }
}

const LONGEST_PAUSE_MS = 30_000

async function* readEvents(
  url: string,
  headers: Readonly<Record<string, string>>,
  { after, run, signal }: { after?: number; run?: string; signal?: AbortSignal },
): AsyncGenerator<ServerEvent> {
  let position = after
  const wanted = (): boolean => signal?.aborted !== true
  for (let pause = 1_000; wanted(); pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const query = new URLSearchParams({
      ...(position === undefined ? {} : { after: String(position) }),
      ...(run === undefined ? {} : { run }),
    })
    try {
      const response = await fetch(`${url}/api/events?${query}`, {
        headers,
        redirect: 'error',
        ...(signal == null ? {} : { signal }),
      })
      if (!response.ok) throw toProblem(response.status, await response.text())
      for await (const event of parseStream(response)) {
        position = event.seq ?? position
        pause = 1_000
        yield event
      }
    } catch (error) {
      // What was refused will be refused again; what was interrupted will not.
      if (error instanceof ServerProblem && error.problem.status < 500) throw error
    }
    if (wanted()) await new Promise(resolve => setTimeout(resolve, pause))
  }
}

async function* parseStream(response: Response): AsyncGenerator<ServerEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  let text = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += value
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, type] = /^event: (.+)$/m.exec(block) ?? []
        const [, data] = /^data: (.+)$/m.exec(block) ?? []
        // Written by the server's events route.
        if (data !== undefined && type !== 'idle') yield { type, ...JSON.parse(data) } as ServerEvent
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
