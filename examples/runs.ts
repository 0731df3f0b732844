// Opens a run for an agent, and one below it that may do less: node runs.ts FOLDER
import { createRuntime, loadConfig, noApprover, readEnvironment } from '../src/index.ts'

const environment = readEnvironment()
const runtime = await createRuntime({
  loaded: loadConfig({ cwd: process.argv[2] ?? '.', environment, flags: { mode: 'accept-edits' } }),
  environment,
  approver: noApprover('this program has nobody to ask'),
})
try {
  // An agent has no tools, `doc` to write in, a few reading commands and git to look at, until it is given more.
  const writer = await runtime.openRun({
    authority: { agent: 'writer', tools: ['read_file', 'write_file'], limits: { calls: 3 } },
  })
  // What a run opens below itself has at most what it has itself, whatever is asked for.
  const helper = await runtime.openRun({
    parent: writer.id,
    authority: { agent: 'helper', tools: 'all', writeScope: ['.'], mode: 'read-only' },
  })
  const write = (run: string, path: string) =>
    runtime.call({ tool: 'write_file', input: { path, content: 'Tea\n' }, run })
  for (const { ok, error } of [
    await write(writer.id, 'doc/tea.md'),
    await write(helper.id, 'doc/cup.md'),
    await write(writer.id, 'doc/pot.md'),
    await write(writer.id, 'doc/spoon.md'),
  ])
    console.log(ok ? 'written' : `${error?.code}: ${error?.message.replace(/'run_.*?'/, 'RUN')}`)
  // Ends the helper's run too. What was granted for the session is forgotten.
  await runtime.closeRun(writer.id)
} finally {
  await runtime.close()
}
