import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'
import { visibleNode } from './support/outside-tmp.ts'
import { noSandbox } from './support/skips.ts'

// What a layer over the workspace cannot do, and what the caller is told to do instead.

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
})
afterEach(() => box.remove())

const run = (command: string) => box.json(['call', 'run_command', JSON.stringify({ command }), '--yes-once'])

describe.skipIf(noSandbox !== '')(`the limits of a layer${noSandbox}`, () => {
  test('a folder that cannot be renamed in one step is explained, and what is advised works', () => {
    box.write('src/a.txt', 'a\n')
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', box.workspace, '-c', 'user.name=k', '-c', 'user.email=k@x', ...args])
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'one')
    for (const line of [
      'git mv src lib',
      `'${visibleNode()}' -e 'fs.renameSync("src", "lib")'`,
      `perl -e 'rename("src", "lib") or die "failed: $!"'`,
    ]) {
      const { denial } = run(line).data
      expect([line, denial]).toEqual([line, expect.objectContaining({ kind: 'rename', allowedBy: null })])
    }
    expect(readdirSync(join(box.workspace))).toContain('src')
    const advised = run('mv src lib && git add -A src lib && git status --short')
    expect(advised.data.stdout).toContain('R  src/a.txt -> lib/a.txt')
    expect(readdirSync(join(box.workspace, 'lib'))).toEqual(['a.txt'])
  })

  test('a name that is not UTF-8 is shown so that it can be pasted, with what to do', () => {
    box.write('docs/a.txt', '1')
    const made = run("echo x > $'docs/caf\\xe9\\'s.txt'; rm docs/a.txt").error
    expect(made).toMatchObject({
      message: `The command made an entry whose name is not UTF-8, so none of its changes were kept: $'docs/caf\\xe9\\'s.txt'`,
      hint: `Give it another name in the same line, for example: mv $'docs/caf\\xe9\\'s.txt' NAME`,
    })
    expect(readdirSync(join(box.workspace, 'docs'))).toEqual(['a.txt'])
    const renamed = run("echo x > $'docs/caf\\xe9\\'s.txt'; mv $'docs/caf\\xe9\\'s.txt' docs/cafe.txt")
    expect(renamed).toMatchObject({ ok: true, effects: [{ change: 'created' }] })

    execFileSync('bash', ['-c', "echo x > $'docs/old\\xe9'"], { cwd: box.workspace })
    expect(run('rm -r docs').error).toMatchObject({
      message: expect.stringContaining('changed or deleted'),
      hint: `Give it another name outside of Kogu first, for example: mv $'docs/old\\xe9' NAME`,
    })
    expect(run('echo more > docs/new').ok).toBe(true)
  })
})
