// Gives a model a task and shows what it does: node agent.ts FOLDER [MODEL]
import { createRuntime, loadConfig, noApprover, openModels, readEnvironment, runAgent } from '../src/index.ts'

const [, , folder = '.', id = `rehearsal:${import.meta.dirname}/agent.toml`] = process.argv
const environment = readEnvironment()
const loaded = loadConfig({ cwd: folder, environment, flags: { mode: 'accept-edits' } })
const runtime = await createRuntime({ loaded, environment, approver: noApprover('nobody is here') })
try {
  const result = await runAgent({
    runtime,
    model: openModels(loaded, environment).find(id),
    task: 'Lower the price of tea to 95.',
    tools: ['read_file', 'edit_file'],
    limits: { maxTurns: 10, maxCostUsd: 0.5 },
    onEvent(event) {
      if (event.type === 'call.finished') console.log(`${event.tool}: ${event.ok ? 'ok' : event.error?.code}`)
    },
  })
  console.log(`${result.stopReason} after ${result.turns} turns: ${result.text}`)
} finally {
  await runtime.close()
}
