import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
})
afterEach(() => box.remove())

describe('kogu changes', () => {
  test('says why there is no diff', () => {
    const paths = {
      binary: 'a.bin',
      legacy: 'b.txt',
      wide: 'c.txt',
      large: 'd.txt',
      later: 'e.txt',
      mode: 'f.sh',
    }
    const { binary, legacy, wide, large, later, mode } = paths
    for (const path of Object.values(paths)) box.write(path, 'old\n')
    const files: [string, Buffer | string][] = [
      [binary, Buffer.from([1, 0, 2])],
      [legacy, Buffer.from('caf\xe9\n', 'latin1')],
      [wide, Buffer.from('\uFEFFwide\n', 'utf16le')],
      [large, 'x'.repeat(300_000)],
      [later, 'new\n'],
    ]
    for (const [name, content] of files) writeFileSync(join(box.workspace, `new-${name}`), content)
    const copy = files.map(([name]) => `cat new-${name} > ${name}`).join('; ')
    const args = [
      'call',
      'run_command',
      JSON.stringify({ command: `${copy}; chmod 700 ${mode}` }),
      '--yes-once',
    ]
    chmodSync(join(box.workspace, mode), 0o600)
    expect(box.json(args).error).toBeNull()
    box.write(later, 'by hand\n')
    const { stdout } = box.run(['changes'])
    for (const [path, why] of [
      [binary, 'no diff: binary'],
      [legacy, 'no diff: not UTF-8'],
      [wide, 'no diff: UTF-16, not UTF-8'],
      [large, 'no diff: too large'],
      [later, 'no diff: the file was changed later, and this content is not kept'],
      [mode, 'mode 600 → 700'],
    ]) {
      expect(stdout).toContain(`changed ${path}  (${why})`)
    }
  })

  test('shows the diff of every change, although the file was changed again or is gone', () => {
    for (const content of ['one\n', 'two\n', 'three\n']) {
      const input = JSON.stringify({ path: 'a.txt', content })
      expect(box.json(['call', 'write_file', input, '--yes-once']).error).toBeNull()
    }
    const diffs = (): string[] => box.run(['changes', '--last', '9']).stdout.match(/^ {4}[+-]\w.*$/gm) ?? []
    const all = ['    -two', '    +three', '    -one', '    +two', '    +one']
    expect(diffs()).toEqual(all)
    expect(box.run(['undo', '--last', '3', '--yes']).code).toBe(0)
    expect(box.run(['changes']).stdout).not.toContain('no diff')
  })

  test('of many calls the first are shown with diffs, the next with paths, and the rest is counted', () => {
    const calls = Array.from({ length: 110 }, (_, n) => ({
      tool: 'write_file',
      input: { path: `${n}.txt`, content: 'x\n' },
    }))
    const input = calls.map(each => JSON.stringify(each)).join('\n')
    expect(box.run(['call', '--batch', '--mode', 'accept-edits'], { input }).code).toBe(0)
    const lines = box.run(['changes']).stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThan(400)
    expect(lines.at(-1)).toMatch(/^and \d+ more calls \(all of it: --json\)$/)
    expect(box.json(['changes'])).toHaveLength(110)
  })
})
