import { type Call, type CallResult, type CallRuntime, callTool } from './call.ts'

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
    // An unknown tool changes nothing; it may stand in any group.
    const [entry] = runtime.registry.candidates(call.tool)
    const isAlone = entry !== undefined && entry.tool.parallel !== true
    if (isAlone) await runGroup()
    group.push(call)
    if (isAlone) await runGroup()
  }
  await runGroup()
  return results
}
