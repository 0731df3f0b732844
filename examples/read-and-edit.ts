// Reads a file, edits it and takes the edit back: node read-and-edit.ts FOLDER
import { createRuntime, loadConfig, noApprover, readEnvironment } from '../src/index.ts'

const environment = readEnvironment()
const runtime = await createRuntime({
  loaded: loadConfig({ cwd: process.argv[2] ?? '.', environment, flags: { mode: 'accept-edits' } }),
  environment,
  approver: noApprover('this program has nobody to ask'),
})
try {
  // Calls of one run share what was read. Without `run`, each call is a run of its own.
  const run = (await runtime.openRun()).id
  const read = await runtime.call({ tool: 'read_file', input: { path: 'prices.json' }, run })
  console.log(read.text)

  const secret = await runtime.explain({ tool: 'read_file', input: { path: '.env' } })
  console.log(`${secret.decision}: ${secret.ref?.text}`)

  const input = { path: 'prices.json', old_string: '"tea": 120', new_string: '"tea": 95' }
  const edit = await runtime.call({ tool: 'edit_file', input, run })
  // A call that fails or is refused is a value, not an exception.
  if (!edit.ok) throw new Error(edit.error?.message)
  console.log(`${edit.effects.length} change, allowed by ${edit.decision.ref?.text}`)

  const plan = await runtime.planUndo({ calls: [edit.call] })
  const undone = await runtime.applyUndo(plan)
  console.log(`${undone.verified} path restored and read again`)
} finally {
  // Writes the rest of the audit log to the disk.
  await runtime.close()
}
