import { type Call, type CallResult, type CallRuntime, callTool, explainCall } from './call.ts'

/**
 * The calls of one turn. Neighbours whose tools say that they may run side by side; any other call waits for all before
 * it, and all after it wait for it, so that a read placed after a write sees what was written. Results keep the order.
 */
export async function callTools(runtime: CallRuntime, calls: readonly Call[]): Promise<CallResult[]> {
  const results: CallResult[] = []
  let group: Call[] = []
  const runGroup = async (): Promise<void> => {
    results.push(...(await Promise.all(group.map(call => callTool(runtime, call)))))
    group = []
  }
  for (const call of calls) {
    const isAlone = !(await mayRunBeside(runtime, call))
    if (isAlone) await runGroup()
    group.push(call)
    if (isAlone) await runGroup()
  }
  await runGroup()
  return results
}

async function mayRunBeside(runtime: CallRuntime, call: Call): Promise<boolean> {
  const [entry] = runtime.registry.candidates(call.tool)
  // An unknown tool changes nothing; it may stand in any group.
  if (entry === undefined || entry.tool.parallel === true) return true
  if (entry.tool.parallelContained === undefined || call.continues !== undefined) return false
  try {
    const { request, judgement } = await explainCall(runtime, call)
    if (judgement.decision.by !== 'contained' || request.tool !== entry.tool) return false
    // Whoever names what it writes may write it for the next one.
    const names = judgement.access.some(({ kind }) => kind === 'file_write' || kind === 'file_delete')
    return !names && entry.tool.parallelContained(request.input)
  } catch {
    // It will fail, or be refused, in its turn.
    return false
  }
}
