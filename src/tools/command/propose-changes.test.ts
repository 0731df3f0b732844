import { lstatSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { OverlayChange, OverlayEntry } from '../../sandbox/layer/overlay-changes.ts'
import { testPermit } from '../../workspace/testing.ts'
import { proposeChanges } from './propose-changes.ts'

const folder = mkdtempSync(join(tmpdir(), 'kogu-propose-'))
const [workspace, upper] = [join(folder, 'work'), join(folder, 'layer', 'upper')]

function change(path: string, before: string | undefined, after: string): OverlayChange {
  const write = (root: string, text: string): OverlayEntry => {
    mkdirSync(root, { recursive: true })
    writeFileSync(join(root, path), text)
    const { ino, mode, size, mtimeMs: modifiedMs, ctimeMs: changedMs } = lstatSync(join(root, path))
    return { entry: 'file', ino, mode: mode & 0o777, size, modifiedMs, changedMs }
  }
  const old = before === undefined ? {} : { before: write(workspace, before) }
  return {
    change: before === undefined ? 'created' : 'changed',
    path,
    entry: 'file',
    ...old,
    after: write(upper, after),
  }
}

test('of a file that may not be read, size and digest are shown, of the others the difference', async () => {
  const changes = [
    change('a.txt', 'old secret\n', 'new secret\n'),
    change('b.txt', 'old text\n', 'new text\n'),
  ]
  const layer = {
    workspace,
    upper,
    changes,
    touched: [],
    dropped: [],
    startedMs: 0,
  }
  const { preview, summary } = await proposeChanges(layer, testPermit(workspace, []))
  expect(preview(new Set())).toContain('-old secret\n+new secret')
  const shown = preview(new Set([join(workspace, 'a.txt')]))
  expect(shown).not.toContain('secret')
  expect(shown).toContain('-old text\n+new text')
  expect(shown).toMatch(/changed a\.txt \(11 bytes, content not shown, was 11 bytes, sha256 [0-9a-f]{16}…\)/)
  expect(summary).toBe('2 entries written, +2 -2 lines')
})
