import { hash } from 'node:crypto'
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { GivenAnswer } from '../core/approval.ts'
import type { CallResult } from '../core/call.ts'
import { canonicalJson } from '../core/canonical-json.ts'
import type { ShownQuestion } from '../core/stored-question.ts'
import type { Form, FormAnswer } from '../core/tool.ts'
import { toBlock, toLine, underMargin } from '../core/visible.ts'
import type { Runtime } from '../runtime.ts'
import type { HeldCalls, Step } from './held-calls.ts'
import { toMcpResult } from './mcp-result.ts'
import { progressNotifier } from './progress.ts'
import { findTool } from './tool-list.ts'

export interface DoorContext {
  readonly runtime: Runtime
  readonly mayApprove: boolean
  /** The run that calls of this connection belong to; opened with the first call. */
  run(): Promise<string>
  /** Who asks, for the record. Without a request, what the client said when it introduced itself. */
  client(ctx?: ServerContext): string
  /** Whether the client can ask its person, and may bring the answer. */
  canAsk(ctx?: ServerContext): boolean
  /** Outcomes of calls that were made already, by the id of their request: what is left is to ask. */
  readonly begun: Map<string | number, CallResult>
  readonly state: RequestStateCodec<AskedState>
  readonly held: HeldCalls
}

/** What comes back with an answer. It was signed by us, and is bound to one question about one call. */
export interface AskedState {
  /** The question whether the call may run. */
  readonly question?: string
  /** The call whose tool asked for values. */
  readonly held?: string
  readonly digest: string
}

export interface CallParams {
  readonly name: string
  readonly arguments?: Record<string, unknown> | undefined
}

/**
 * One `tools/call`. A call that needs a yes leaves its question in the store; a client that can ask is told to, and comes
 * back with the answer. Others get the question's id, and repeat the call when a person has answered.
 */
export async function callTool(
  door: DoorContext,
  { name, arguments: input = {} }: CallParams,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { runtime } = door
  await runtime.registry.settled()
  const entry = findTool(runtime.registry, name)
  if (entry === undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`)
  }
  const state = ctx.mcpReq.requestState<AskedState>()
  const answered = state !== undefined && state.digest === digestOf(name, input) ? state : undefined
  const live = progressNotifier(ctx.mcpReq._meta?.progressToken, ctx.mcpReq.notify)
  const begun = door.begun.get(ctx.mcpReq.id)
  door.begun.delete(ctx.mcpReq.id)
  const step: Step =
    begun === undefined
      ? await takeStep(door, { name, input, answered, ctx, live })
      : { kind: 'done', result: begun }
  await live.end()
  if (step.kind === 'asks') {
    const requestState = await door.state.mint({ held: step.id, digest: digestOf(name, input) })
    return inputRequired({
      requestState,
      inputRequests: { values: inputRequired.elicit(toElicitation(step.form)) },
    })
  }
  const { result } = step
  // A call may ask more than once: about calls inside of it.
  if (result.question !== undefined && door.canAsk(ctx) && answered?.question !== result.question) {
    const question = (await runtime.listQuestions()).find(each => each.id === result.question)
    if (question !== undefined && question.answer === null && fitsInForm(question)) {
      const requestState = await door.state.mint({ question: question.id, digest: digestOf(name, input) })
      return askClient(question, requestState)
    }
  }
  return toMcpResult(result, entry.tool)
}

interface Requested {
  readonly name: string
  readonly input: Record<string, unknown>
  readonly answered: AskedState | undefined
  readonly ctx: ServerContext
  readonly live: ReturnType<typeof progressNotifier>
}

/** Begins the call, goes on with one that was answered, or hands its tool the values that it asked for. */
async function takeStep(door: DoorContext, { name, input, answered, ctx, live }: Requested): Promise<Step> {
  const { runtime, held } = door
  const { signal } = ctx.mcpReq
  if (answered?.held !== undefined) {
    const next = held.goOn(answered.held, readForm(ctx), signal)
    if (next !== undefined) return next
  }
  const caller = `mcp:${door.client(ctx)}`
  const run = await door.run()
  return held.start(way => {
    const options = {
      signal: way.signal,
      ...live.onProgress,
      ...(door.canAsk(ctx) ? { elicit: way.elicit } : {}),
    }
    if (answered?.question !== undefined) return goOn(door, answered.question, ctx, options)
    return runtime.call({ tool: name, input, caller, run, ...options })
  }, signal)
}

async function goOn(
  { runtime, client, mayApprove }: DoorContext,
  id: string,
  ctx: ServerContext,
  options: Parameters<Runtime['continueCall']>[1],
): Promise<CallResult> {
  const question = (await runtime.listQuestions()).find(each => each.id === id)
  const answer = readAnswer(ctx, question, `${client(ctx)} (MCP client)`)
  const by = { caller: `mcp:${client(ctx)}`, mayApprove }
  if (answer !== undefined) await runtime.answerQuestion(id, answer, by)
  return runtime.continueCall(id, options)
}

/** A client that sends anything else than a filled form has nobody who answers. */
function readForm(ctx: ServerContext): FormAnswer {
  const response = inputResponse(ctx.mcpReq.inputResponses, 'values')
  if (response.kind !== 'elicit') return { action: 'cancel' }
  return response.action === 'accept'
    ? { action: 'accept', content: response.content ?? {} }
    : { action: response.action }
}

type Elicitation = Parameters<typeof inputRequired.elicit>[0]

function toElicitation({ message, schema }: Form): Elicitation {
  // A form of plain values: the SDK of whoever asked has checked it.
  return { message, requestedSchema: schema as Elicitation['requestedSchema'] }
}

/** What the client says its person chose. Anything else than a clear yes is a no; a closed form is no answer at all. */
function readAnswer(
  ctx: ServerContext,
  question: ShownQuestion | undefined,
  user: string,
): GivenAnswer | undefined {
  const response = inputResponse(ctx.mcpReq.inputResponses, 'approval')
  if (response.kind !== 'elicit' || response.action === 'cancel') return undefined
  const { decision, phrase } = response.action === 'accept' ? (response.content ?? {}) : { decision: 'deny' }
  // A form can be sent on without having been read; what has to be typed cannot.
  if (question?.isDangerous !== false && phrase !== phraseOf(question?.tool.name))
    return { kind: 'deny', user }
  const offer = question === undefined ? undefined : offerOf(question)
  if (decision === 'once') return { kind: 'once', user }
  if (decision === 'session' && offer !== undefined) return { kind: 'session', user, grant: offer.id }
  return { kind: 'deny', user }
}

/** As on the terminal. */
function phraseOf(tool: string | undefined): string {
  return `approve ${tool}`
}

/** What may be remembered; nothing about a dangerous call, or that has no room in a form, whatever the client sends back. */
function offerOf({ isDangerous, offers }: ShownQuestion): ShownQuestion['offers'][number] | undefined {
  return isDangerous ? undefined : offers.findLast(({ label }) => toLine(label).length <= LONGEST_CHOICE)
}

const LONGEST_CHOICE = 300

function askClient(question: ShownQuestion, requestState: string): InputRequiredResult {
  const offer = offerOf(question)
  const choices = [
    { const: 'once', title: 'Yes, this once' },
    ...(offer === undefined
      ? []
      : [{ const: 'session', title: `Yes, for this session: ${toLine(offer.label)}` }]),
    { const: 'deny', title: 'No' },
  ]
  return inputRequired({
    requestState,
    inputRequests: {
      approval: inputRequired.elicit({
        message: describe(question),
        requestedSchema: {
          type: 'object',
          properties: {
            decision: { type: 'string', title: 'Allow this?', oneOf: choices, default: 'deny' },
            ...(question.isDangerous
              ? {
                  phrase: {
                    type: 'string' as const,
                    title: 'Confirm it',
                    description: `This call is dangerous. To allow it, type: ${phraseOf(question.tool.name)}`,
                  },
                }
              : {}),
          },
          required: ['decision'],
        },
      }),
    },
  })
}

const IN_FORM = { mostCharacters: 20_000, mostLines: 300 }

/** Nobody says yes to what is cut: a longer question is answered where all of it can be read. */
function fitsInForm(question: ShownQuestion): boolean {
  return [subjectOf(question), question.preview ?? ''].every(
    text => text.length <= IN_FORM.mostCharacters && text.split('\n').length <= IN_FORM.mostLines,
  )
}

function subjectOf({ details, input }: ShownQuestion): string {
  return details ?? JSON.stringify(input)
}

function describe(question: ShownQuestion): string {
  const { tool, preview, cwd, decision, isDangerous, within = [] } = question
  return [
    `${isDangerous ? 'DANGEROUS: ' : ''}${tool.name} asks for your approval.`,
    toBlock(subjectOf(question), IN_FORM),
    ...(preview === undefined ? [] : [toBlock(preview, IN_FORM)]),
    ...within.map(({ tool: outer }) => `It is a part of ${toLine(outer)}.`),
    `in ${toLine(cwd)}`,
    underMargin(decision.reason),
    ...(decision.notes ?? []).map(note => underMargin(note)),
  ].join('\n')
}

/** An answer holds for these arguments and no others. */
function digestOf(name: string, input: unknown): string {
  return hash('sha256', canonicalJson([name, input]))
}
