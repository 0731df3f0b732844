import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Row, showTime, toPlainRow, verdict } from './table.ts'
import { openTemporaryRuntime, type TemporaryRuntime } from './temporary-runtime.ts'

const FILES = 10_000
const TARGET_MS = 2000
const ALLOW = `
[[permissions.rules]]
decision = "allow"
tool = "run_command"
`

/** Commands that change 10,000 files at once: what recording costs over the bare command, and what taking back costs. */
export async function measureCommands(): Promise<Row[]> {
  const box = await openTemporaryRuntime({ userConfig: ALLOW })
  try {
    makeTree(join(box.workspace, 'packages'))
    const rows: Row[] = []
    for (const [name, command] of [
      ['copy 10,000 files (as npm install does)', 'cp -r packages copied'],
      ['delete 10,000 files (rm -rf)', 'rm -rf packages'],
    ] as const) {
      rows.push(...(await measureOne(box, name, command)))
    }
    return rows
  } finally {
    await box.close()
  }
}

async function measureOne(box: TemporaryRuntime, name: string, command: string): Promise<Row[]> {
  const before = fingerprint(box.workspace)
  const copy = `${box.workspace}-${copyNumber()}`
  cpSync(box.workspace, copy, { recursive: true, filter: path => !path.includes('/.kogu') })
  const deletes = command.startsWith('rm ')
  const early = deletes ? undefined : timeBare(copy, command)
  const started = performance.now()
  const result = await box.call('run_command', { command })
  const ran = performance.now() - started
  const undoing = performance.now()
  const undo = await takeBack(box, result.call)
  const undone = performance.now() - undoing
  const same = fingerprint(box.workspace) === before
  const redoing = performance.now()
  const redo = await takeBack(box, undo)
  const redone = performance.now() - redoing
  await takeBack(box, redo)
  const sameAgain = fingerprint(box.workspace) === before
  // ext4 is slow to make files for a minute after many were deleted: what deletes comes last, and copies stay.
  const bare = early ?? timeBare(copy, command)
  const over = Math.max(0, ran - bare)
  return [
    toPlainRow({
      name: `${name}: recording`,
      kogu: `${showTime(over)} over the bare command`,
      peer: `bare ${showTime(bare)}, with Kogu ${showTime(ran)}`,
      target: `< ${showTime(TARGET_MS)}`,
      verdict: verdict(over < TARGET_MS),
    }),
    toPlainRow({
      name: `${name}: taking back`,
      kogu: `${showTime(undone)}, ${same ? 'byte for byte' : 'NOT the same'}`,
      target: `< ${showTime(TARGET_MS)}`,
      verdict: verdict(undone < TARGET_MS && same),
    }),
    toPlainRow({
      name: `${name}: taking that back`,
      kogu: `${showTime(redone)}, ${sameAgain ? 'byte for byte' : 'NOT the same'} after one more`,
      target: `< ${showTime(TARGET_MS)}`,
      verdict: verdict(redone < TARGET_MS && sameAgain),
    }),
  ]
}

async function takeBack({ runtime }: TemporaryRuntime, call: string): Promise<string> {
  return (await runtime.applyUndo(await runtime.planUndo({ calls: [call] }))).call
}

function makeTree(root: string): void {
  for (let index = 0; index < FILES; index += 1) {
    const folder = join(root, `package-${Math.floor(index / 50)}`, 'lib')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `file-${index}.js`), `// ${index}\n`.repeat(40 + (index % 60)))
  }
}

/** The same command on a copy, without Kogu. */
function timeBare(copy: string, command: string): number {
  const started = performance.now()
  spawnSync('bash', ['-c', command], { cwd: copy })
  return performance.now() - started
}

const copies = { made: 0 }

function copyNumber(): number {
  copies.made += 1
  return copies.made
}

/** Names and contents of everything but Kogu's own. */
function fingerprint(root: string): string {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.parentPath.includes('/.kogu') && entry.name !== '.kogu')
    .map(entry => {
      const path = join(entry.parentPath, entry.name)
      return entry.isFile() ? `${path} ${hash('sha256', readFileSync(path))}` : path
    })
  return hash('sha256', entries.sort().join('\n'))
}
