import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ToolError } from '../../src/core/errors.ts'
import { createTestWorkspace, snapshot, type TestWorkspace } from '../../src/workspace/testing.ts'
import { applyUndo } from '../../src/workspace/undo/undo-apply.ts'
import { planUndo, type UndoSelection } from '../../src/workspace/undo/undo-plan.ts'

// Few names, so that operations meet: overwrite, move onto, remove what was moved, make a folder where a file was.
const path = fc
  .array(fc.constantFrom('a', 'b', 'c', 'ä 日本.txt'), { minLength: 1, maxLength: 3 })
  .map(names => names.join('/'))
const content = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  // One that is compressed, one that gets a file of its own.
  fc.constantFrom(20_000, 100_000).map(size => new Uint8Array(size).fill(7)),
)

type Operation =
  | { kind: 'write'; path: string; content: Uint8Array }
  | { kind: 'remove'; path: string }
  | { kind: 'move'; path: string; to: string; overwrite: boolean }

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), path, content }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), path }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('move' as const), path, to: path, overwrite: fc.boolean() }),
  },
)

const initial = fc.array(
  fc.record({
    path,
    entry: fc.constantFrom('file', 'file', 'directory', 'link'),
    content,
    mode: fc.constantFrom(0o644, 0o600, 0o755, 0o444),
    target: fc.constantFrom('a', '../b', 'nowhere', '.'),
  }),
  { maxLength: 8 },
)

function plant(root: string, entries: ReturnType<typeof initial.generate>['value']): void {
  for (const { path: name, entry, content: bytes, mode, target } of entries) {
    try {
      mkdirSync(join(root, dirname(name)), { recursive: true })
      if (entry === 'directory') mkdirSync(join(root, name), { mode: mode | 0o300 })
      else if (entry === 'link') symlinkSync(target, join(root, name))
      else {
        writeFileSync(join(root, name), bytes, { flag: 'wx' })
        chmodSync(join(root, name), mode)
      }
    } catch {
      // The place is taken by an earlier entry: the tree is random, not complete.
    }
  }
}

async function perform(workspace: TestWorkspace, each: Operation, id: string): Promise<void> {
  try {
    if (each.kind === 'write') await workspace.write(each.path, each.content, id)
    else if (each.kind === 'remove') await workspace.remove(each.path, id)
    else await workspace.move(each.path, each.to, { overwrite: each.overwrite, id })
  } catch (error) {
    // Refusals are part of the game, surprises are not.
    if (!(error instanceof ToolError) && (error as NodeJS.ErrnoException).code === undefined) throw error
  }
}

async function undo(workspace: TestWorkspace, selection: UndoSelection, id: string): Promise<void> {
  const plan = await planUndo(workspace.undo, selection)
  expect(plan.conflicts).toEqual([])
  await applyUndo(workspace.undo, plan, { call: { id, run: 'undo', tool: 'undo' }, mayChange: () => true })
}

test('after any operations, undo gives the tree back byte for byte, and undoing the undo the changed one', async () => {
  await fc.assert(
    fc.asyncProperty(
      initial,
      fc.array(operation, { minLength: 1, maxLength: 8 }),
      async (entries, operations) => {
        const workspace = createTestWorkspace()
        try {
          plant(workspace.root, entries)
          const before = snapshot(workspace.root)
          for (const [index, each] of operations.entries()) await perform(workspace, each, `call-${index}`)
          const after = snapshot(workspace.root)
          await undo(workspace, { run: 'run' }, 'all')
          expect(snapshot(workspace.root)).toEqual(before)
          if (JSON.stringify(before) === JSON.stringify(after)) return
          await undo(workspace, { calls: ['all'] }, 'again')
          expect(snapshot(workspace.root)).toEqual(after)
        } finally {
          await workspace.close()
        }
      },
    ),
    { numRuns: 60, endOnFailure: true },
  )
})

test('calls undone one by one, the newest first, lead through every state in between', async () => {
  await fc.assert(
    fc.asyncProperty(
      initial,
      fc.array(operation, { minLength: 2, maxLength: 5 }),
      async (entries, operations) => {
        const workspace = createTestWorkspace()
        try {
          plant(workspace.root, entries)
          const states = [snapshot(workspace.root)]
          for (const [index, each] of operations.entries()) {
            await perform(workspace, each, `call-${index}`)
            const now = snapshot(workspace.root)
            if (JSON.stringify(now) !== JSON.stringify(states.at(-1))) states.push(now)
          }
          for (let index = states.length - 2; index >= 0; index -= 1) {
            await undo(workspace, { last: 1 }, `undo-${index}`)
            expect(snapshot(workspace.root)).toEqual(states[index])
          }
        } finally {
          await workspace.close()
        }
      },
    ),
    { numRuns: 25, endOnFailure: true },
  )
})

/** What a person does in the workspace at the same time. */
function byHand(workspace: TestWorkspace, each: Operation): void {
  const at = (name: string): string => join(workspace.root, name)
  try {
    if (each.kind === 'remove') rmSync(at(each.path), { recursive: true })
    else if (each.kind === 'move') renameSync(at(each.path), at(each.to))
    else writeFileSync(at(each.path), each.content)
  } catch {
    // Nothing is there, or something else: the person sees it and does without.
  }
}

test('whatever a person does between calls, undoing several at once does what its plan says', async () => {
  const step = fc.record({ byPerson: fc.boolean(), operation })
  await fc.assert(
    fc.asyncProperty(
      initial,
      fc.array(step, { minLength: 2, maxLength: 8 }),
      fc.integer({ min: 1, max: 5 }),
      async (entries, steps, last) => {
        const workspace = createTestWorkspace()
        try {
          plant(workspace.root, entries)
          for (const [index, { byPerson, operation: each }] of steps.entries()) {
            if (byPerson) byHand(workspace, each)
            else await perform(workspace, each, `call-${index}`)
          }
          const plan = await planUndo(workspace.undo, { last })
          const call = { id: 'undo', run: 'undo', tool: 'undo' }
          await applyUndo(workspace.undo, plan, { call, mayChange: () => true, despiteConflicts: true })
        } finally {
          await workspace.close()
        }
      },
    ),
    { numRuns: 80, endOnFailure: true },
  )
})
