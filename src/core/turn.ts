import { type Call, type CallResult, type CallRuntime, callTool } from './call.ts'

/**
 * The calls of one turn. Neighbours of low risk run side by side; a call of high risk waits for all before it, and all
 * after it wait for it, so that a read placed after a write sees what was written. Results keep the order of the calls.
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
    const risky = runtime.registry.candidates(call.tool)[0]?.risk === 'high'
    if (risky) await runGroup()
    group.push(call)
    if (risky) await runGroup()
  }
  await runGroup()
  return results
}
