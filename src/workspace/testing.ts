import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Access } from '../core/access.ts'
import type { Effect } from '../core/effects.ts'
import type { CallFiles, Receipts } from '../core/files.ts'
import type { Permit } from '../core/permit.ts'
import { absolutePath, isInside } from '../core/real-path.ts'
import { sha256 } from './files/file-content.ts'
import { createPathLocks } from './files/path-locks.ts'
import { followLinks } from './files/paths.ts'
import { createScopedFs } from './files/scoped-fs.ts'
import { openUndoStore, type UndoStore } from './undo/undo-store.ts'

// For tests of this folder and of tools: a real workspace in a temporary folder, judged as the permission engine would.

export interface TestWorkspace {
  readonly root: string
  readonly undo: UndoStore
  readonly receipts: Receipts
  /** File access for one call that declared these accesses. */
  call(
    access: readonly Access[],
    options?: { id?: string; permit?: Partial<Permit>; signal?: AbortSignal },
  ): CallFiles
  write(path: string, text: string | Uint8Array, id?: string): Promise<Effect>
  remove(path: string, id?: string): Promise<Effect[]>
  move(from: string, to: string, options?: { overwrite?: boolean; id?: string }): Promise<Effect[]>
  close(): Promise<void>
}

export interface TestWorkspaceOptions {
  /** An existing folder instead of a temporary one; it is not removed. */
  readonly root?: string
  readonly budgetBytes?: number
  readonly largeFileBytes?: number
  readonly lockWaitMs?: number
  /** Defaults to the system's clock. */
  readonly now?: () => number
}

export function createTestWorkspace(options: TestWorkspaceOptions = {}): TestWorkspace {
  const root = options.root ?? realpathSync(mkdtempSync(join(tmpdir(), 'kogu-')))
  const undo = openUndoStore({ ...options, directory: join(root, '.kogu', 'undo') })
  const locks = createPathLocks(join(root, '.kogu', 'locks'), options.lockWaitMs)
  const receipts: Receipts = new Map<string, string>()
  let calls = 0
  const call: TestWorkspace['call'] = (access, { id, permit, signal } = {}) => {
    calls += 1
    return createScopedFs({
      cwd: root,
      permit: { ...testPermit(root, access), ...permit },
      call: { id: id ?? `call-${calls}`, run: 'run', tool: 'test' },
      receipts,
      undo,
      locks,
      signal: signal ?? new AbortController().signal,
    })
  }
  return {
    root,
    undo,
    receipts,
    call,
    write: (path, text, id) =>
      call([{ kind: 'file_write', path }], id === undefined ? {} : { id }).files.update(
        path,
        () => Buffer.from(text),
        {
          createDirectories: true,
        },
      ),
    remove: (path, id) =>
      call([{ kind: 'file_delete', path }], id === undefined ? {} : { id }).files.remove(path),
    move(from, to, { id, ...moveOptions } = {}) {
      const access: Access[] = [
        { kind: 'file_delete', path: from },
        { kind: 'file_write', path: to },
      ]
      return call(access, id === undefined ? {} : { id }).files.move(from, to, moveOptions)
    },
    async close() {
      await undo.close()
      locks.close()
      if (options.root === undefined) rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Everything below a folder that a person could notice: kinds, contents, modes, targets. `.kogu` is left out. */
export function snapshot(
  root: string,
  found: Record<string, string> = {},
  below = '',
): Record<string, string> {
  for (const name of readdirSync(join(root, below)).sort()) {
    const path = join(below, name)
    const stat = lstatSync(join(root, path))
    const mode = (stat.mode & 0o7777).toString(8)
    if (path === '.kogu') continue
    if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(join(root, path))}`
    else if (stat.isFile()) found[path] = `file ${mode} ${sha256(readFileSync(join(root, path)))}`
    else {
      found[path] = `directory ${mode}`
      snapshot(root, found, path)
    }
  }
  return found
}

/** Judges every declared path as the engine would: where it leads at this moment. */
export function testPermit(root: string, access: readonly Access[]): Permit {
  const judged = new Map<string, string>()
  for (const each of access) {
    if (!('path' in each)) continue
    try {
      const absolute = absolutePath(each.path, root)
      judged.set(absolute, followLinks(absolute).real)
    } catch {
      // Not judged: the call will be refused.
    }
  }
  return {
    access,
    writeScope: [root],
    judged: path => judged.get(path),
    mayRead: () => true,
    isProtected: real => isInside(real, join(root, '.kogu')) || /\/\.git(\/|$)/.test(real),
  }
}
