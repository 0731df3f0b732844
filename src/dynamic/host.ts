import { hash } from 'node:crypto'
import type { Access } from '../core/access.ts'
import type { Answer, Approver } from '../core/approval.ts'
import type { ToolError } from '../core/errors.ts'
import { compileGlob, matchesPath } from '../core/glob.ts'
import { Diverged } from '../core/inner-calls.ts'
import { Pending } from '../core/obtain-approval.ts'
import type { Clock } from '../sandbox/isolate/isolates.ts'
import { type Answering, answerFetch, asRecord, dataOf, isDeclaredHost } from './answer-fetch.ts'
import type { DynamicTool } from './definition.ts'
import type { CodeContext } from './life-cycle.ts'
import type { DynamicParts } from './parts.ts'

/** Calls of code inside calls of code. Each holds a process while it waits. */
const MOST_DEPTH = 4
const PREFIX = 'inside'

export interface Host {
  /** How many runs of code are above this one. */
  readonly depth: number
  /** Ends the code when its call cannot go on in this process. */
  readonly stop: AbortSignal
  /** Why: a call of the code waits for an answer, or the code went another way than before it waited. */
  stopped(): ToolError | undefined
  answer(operation: string, value: unknown, clock: Clock): Promise<unknown>
  /** Ends what the code asked for and did not wait for: no call goes on after the one it belongs to. */
  end(): Promise<void>
}

/**
 * What code in an isolate can reach: requests become calls of their own, in a run below the caller's, through the same
 * pipeline as every call. Nothing that comes from the code is trusted: it is parsed here, and judged there.
 */
export function createHost(tool: DynamicTool, outer: CodeContext, parts: DynamicParts): Host {
  const depth = depthOf(outer)
  const ended = new AbortController()
  const context = { ...outer, signal: AbortSignal.any([outer.signal, ended.signal]) }
  const pending = new Set<Promise<unknown>>()
  const stop = new AbortController()
  let stopped: ToolError | undefined
  /** The code learns nothing of it. What it has begun besides comes to its end first, so that it is not done again. */
  const stopFor = async (error: ToolError, own: Promise<unknown>): Promise<never> => {
    stopped ??= error
    pending.delete(own)
    while (pending.size > 0) await Promise.allSettled(pending)
    stop.abort()
    return never()
  }
  const start = async (operation: string, value: unknown, clock: Clock): Promise<unknown> => {
    if (depth >= MOST_DEPTH) throw new Error(`Calls of code inside of code end at ${MOST_DEPTH} levels.`)
    const answering = { context, parts, approver: capabilityApprover(tool, context, clock) }
    switch (operation) {
      case 'fetch':
        return await answerFetch(asRecord(value), tool, answering)
      case 'tool':
        return await answerTool(value, tool, answering)
      case 'read':
        return await answerRead(value, tool, answering)
      default:
        throw new Error('There is no such request.')
    }
  }
  return {
    depth,
    stop: stop.signal,
    stopped: () => stopped,
    answer(operation, value, clock) {
      if (stopped !== undefined) return never()
      const work = start(operation, value, clock)
      pending.add(work)
      void work.catch(() => undefined).finally(() => pending.delete(work))
      return work.catch(error => {
        const isOver = error instanceof Pending || error instanceof Diverged
        return isOver ? stopFor(error, work) : Promise.reject(error)
      })
    },
    async end() {
      ended.abort()
      await Promise.allSettled(pending)
    },
  }
}

const never = (): Promise<never> => new Promise(() => undefined)

/** How many runs of code are above this call. */
function depthOf({ run }: CodeContext): number {
  let depth = 0
  for (let each: typeof run | undefined = run; each !== undefined; each = each.parent)
    if (each.id.startsWith(PREFIX)) depth += 1
  return depth
}

/** The same in every process that makes this call. */
export function innerRunId(call: string): string {
  return `${PREFIX}_${hash('sha256', call).slice(0, 32)}`
}

/**
 * A person is asked as by the call itself, and the code's clock stands still meanwhile. What was declared when the tool
 * was made was asked then: only what no rule speaks of counts as answered.
 */
function capabilityApprover(tool: DynamicTool, context: CodeContext, clock: Clock): Approver {
  const { run, callId } = context
  return {
    async ask(question, signal, live): Promise<Answer> {
      const isDeclared = (access: Access): boolean =>
        access.kind === 'network' && isDeclaredHost(tool, access.url)
      const declared = question.access.length > 0 && question.access.every(isDeclared)
      if (declared && question.decision.by === 'mode')
        return { kind: 'once', user: `the approval of ${tool.id}` }
      const resume = clock.pause()
      try {
        // Under the outer call's id: whoever answers one question of a call only, answers one.
        const answer = await run.approver.ask({ ...question, callId }, signal, live)
        if (answer.kind !== 'pending' || context.call !== undefined) return answer
        return { kind: 'unavailable', reason: 'whoever tries the code has to answer while it runs' }
      } finally {
        resume()
      }
    },
  }
}

async function answerTool(
  value: unknown,
  tool: DynamicTool,
  { context, parts, approver }: Answering,
): Promise<unknown> {
  const { name, input } = asRecord(value)
  const wanted = String(name)
  if (!tool.capabilities.tools.includes(wanted)) throw notDeclared(parts, `tools: ["${wanted}"]`)
  const result = await parts.call({
    kind: 'tool',
    tool: wanted,
    input: asRecord(input),
    run: context.run,
    approver,
    tools: tool.capabilities.tools,
    isDeclared: true,
    cwd: context.cwd,
    signal: context.signal,
    make: context.call,
  })
  dataOf(result)
  return { text: result.text, data: result.data }
}

async function answerRead(
  value: unknown,
  tool: DynamicTool,
  { context, parts, approver }: Answering,
): Promise<unknown> {
  const path = String(asRecord(value).path)
  const isDeclared = tool.capabilities.read.some(glob => matchesPath(compileGlob(glob), path))
  if (!isDeclared || path.split('/').includes('..')) throw notDeclared(parts, `read: ["${path}"]`)
  const result = await parts.call({
    kind: 'own',
    tool: 'read_file',
    input: { path },
    run: context.run,
    approver,
    tools: ['read_file'],
    isDeclared: true,
    cwd: context.workspace,
    signal: context.signal,
    make: context.call,
  })
  return dataOf(result)
}

function notDeclared({ texts }: DynamicParts, what: string): Error {
  return new Error(texts.errors.notDeclared(what))
}
