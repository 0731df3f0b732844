import { type Call, type CallResult, type CallRuntime, callTool } from './core/call.ts'
import { callTools } from './core/turn.ts'

// A call of a run or a pipeline is made again under the same id when its question was answered, often by another process.
// A contained command has run by then: what it did waits on its layer, and is what the person said yes to. The call goes on
// with that. Run again, the command might do something else, which would have to be asked about anew, each time.

export async function goOn(runtime: CallRuntime, call: Call): Promise<CallResult> {
  const asked = await withQuestion(runtime, call)
  return anewIfStale(runtime, asked, await callTool(runtime, asked))
}

/** The calls of one turn. */
export async function goOnAll(runtime: CallRuntime, calls: readonly Call[]): Promise<CallResult[]> {
  const asked = await Promise.all(calls.map(call => withQuestion(runtime, call)))
  const results = await callTools(runtime, asked)
  const last = results.map(async (result, index) => {
    const call = asked[index]
    return call === undefined ? result : anewIfStale(runtime, call, result)
  })
  return Promise.all(last)
}

async function withQuestion(runtime: CallRuntime, call: Call): Promise<Call> {
  const stored = await runtime.questions.find(call.id)
  if (stored === undefined || stored.outer !== undefined || stored.question.callId !== call.id) return call
  const { subject, expiresAt } = stored.question
  const isOpen = subject.kind === 'changes' && runtime.clock.now() < expiresAt
  return isOpen ? { ...call, continues: stored } : call
}

/** What waited is gone, or things have changed since: it is made as they are now. */
async function anewIfStale(
  runtime: CallRuntime,
  { continues, ...call }: Call,
  result: CallResult,
): Promise<CallResult> {
  const isStale = continues !== undefined && result.error?.code === 'stale'
  return isStale ? callTool(runtime, call) : result
}
