import { DEFAULT_SANDBOX_LIMITS as limits } from '../../src/core/sandbox.ts'
import { runOnOverlay } from '../../src/sandbox/layer/overlay.ts'
import { commitOverlay } from '../../src/sandbox/layer/overlay-commit.ts'
import { createProcesses } from '../../src/sandbox/processes/processes.ts'
import { createSandbox } from '../../src/sandbox/walls/sandbox.ts'
import { findSandboxSystem } from '../../src/sandbox/walls/system.ts'
import { recordChanges } from '../../src/tools/command/record-changes.ts'
import { testPermit } from '../../src/workspace/testing.ts'
import { applyUndo } from '../../src/workspace/undo/undo-apply.ts'
import { planUndo } from '../../src/workspace/undo/undo-plan.ts'
import { openUndoStore } from '../../src/workspace/undo/undo-store.ts'

// Kogu as a process of its own, as far as it matters for commands: runs a line on a layer, prints `deciding`, brings its
// changes over on record, prints `done`; with a third argument `undo`, takes them back. Arguments: workspace, line.

const [workspace = '', line = '', then = ''] = process.argv.slice(2)
const processes = createProcesses()
const system = findSandboxSystem()
if (typeof system === 'string') throw new Error(system)
const sandbox = createSandbox({ processes, system })
const run = await runOnOverlay(sandbox, processes, {
  workspace,
  folder: `${workspace}/.kogu/overlay/x`,
  profile: {
    writable: [workspace],
    readable: [],
    hidden: [],
    protected: [],
    network: 'none',
    unixSockets: false,
    env: { PATH: '/usr/bin:/bin' },
    cwd: workspace,
    limits,
  },
  command: {
    file: '/bin/bash',
    args: ['-ec', line],
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  },
})
const store = openUndoStore({ directory: `${workspace}/.kogu/undo` })
const record = store.begin({ id: 'command', run: 'run', tool: 'run_command' })
process.stdout.write('deciding ')
await commitOverlay(run.changes, recordChanges(record, testPermit(workspace, []), run.changes, []))
process.stdout.write('done')
if (then === 'undo') {
  const plan = await planUndo(store, { calls: ['command'] })
  await applyUndo(store, plan, { call: { id: 'undo', run: 'run', tool: 'undo' }, mayChange: () => true })
}
await store.close()
sandbox.close()
await processes.close()
