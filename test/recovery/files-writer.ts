import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createTestWorkspace, type TestWorkspace } from '../../src/workspace/testing.ts'
import { applyUndo } from '../../src/workspace/undo/undo-apply.ts'
import { planUndo } from '../../src/workspace/undo/undo-plan.ts'

// A process of its own that changes files and is killed meanwhile: from outside at any time, or by itself right before
// the nth system call that changes something. Arguments: workspace, work, number of that call (0: never).

const [root = '', work = '', killAt = '0'] = process.argv.slice(2)

const operations: Record<string, (workspace: TestWorkspace) => Promise<unknown>> = {
  create: workspace => workspace.write('new/deep/file.txt', 'new', 'call'),
  edit: workspace => workspace.write('a.txt', 'edited', 'call'),
  remove: workspace => workspace.remove('tree', 'call'),
  move: workspace => workspace.move('tree', 'elsewhere/tree', { id: 'call' }),
  overwrite: workspace => workspace.move('a.txt', 'tree/one.txt', { id: 'call', overwrite: true }),
  'hard link': workspace =>
    workspace
      .call(
        [
          { kind: 'file_write', path: 'linked.txt' },
          { kind: 'custom', name: 'write_hard_link', details: 'linked.txt' },
        ],
        { id: 'call' },
      )
      .files.update('linked.txt', () => Buffer.from('a new content that is longer than the old one')),
  undo: workspace => undo(workspace, 'prepared'),
  'undo of a removal': workspace => undo(workspace, 'removed'),
  'undo of an undo': workspace => undo(workspace, 'restored'),
  /** Content that says of itself whether it is whole: 200 lines of one word, of different lengths. */
  async endless(workspace) {
    for (let n = process.pid; ; n += 1) {
      const word = `${process.pid}.${n} `.padEnd(8 + (n % 40), 'x')
      await workspace.write(`d${n % 3}/file-${n % 5}.txt`, `${word}\n`.repeat(200), `${process.pid}-${n}`)
      // However slow the machine is, there is a file when it is killed.
      if (n === process.pid) process.stdout.write('ready\n')
    }
  },
}

async function undo(workspace: TestWorkspace, call: string): Promise<unknown> {
  const plan = await planUndo(workspace.undo, { calls: [call] })
  return applyUndo(workspace.undo, plan, {
    call: { id: 'call', run: 'u', tool: 'undo' },
    mayChange: () => true,
  })
}

function killBefore(nth: number): void {
  let count = 0
  const changing = [
    'linkSync',
    'unlinkSync',
    'renameSync',
    'mkdirSync',
    'rmdirSync',
    'fchmodSync',
    'writeSync',
  ] as const
  for (const name of [...changing, 'ftruncateSync', 'symlinkSync', 'openSync', 'rmSync'] as const) {
    // The functions differ in their parameters; all are passed on as they came.
    const original = fs[name] as (...args: unknown[]) => unknown
    const replaced = (...args: unknown[]): unknown => {
      const isReading =
        name === 'openSync' && (typeof args[1] === 'number' ? (args[1] & 3) === 0 : args[1] === 'r')
      if (!isReading && !String(args[0]).includes('/locks/')) count += 1
      if (count === nth) {
        process.kill(process.pid, 'SIGKILL')
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      }
      return original(...args)
    }
    Object.assign(fs, { [name]: replaced })
  }
  syncBuiltinESMExports()
}

const workspace = createTestWorkspace({ root })
if (killAt !== '0') killBefore(Number(killAt))
await operations[work]?.(workspace)
await workspace.close()
