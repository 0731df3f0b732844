import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'
import { noSandbox } from './support/skips.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
  // About commands that a person approved before they ran.
  box.configure('[permissions]\ncommands = "ask"\n')
})
afterEach(() => box.remove())

const run = (command: string) => box.json(['call', 'run_command', JSON.stringify({ command }), '--yes-once'])
/** From a file, so that nobody can see beforehand what it does. */
const runScript = (script: string) => {
  box.write('script', script)
  return run('bash script')
}

describe.skipIf(noSandbox !== '')(`what a command changed${noSandbox}`, () => {
  test('what a refused command printed can be read, and each reason is given once', () => {
    const refused = runScript('echo hello; mkdir .git; touch .git/{1,2,3,4,5,6,7}; exit 3')
    expect(refused.error.message).toMatch(
      /: \.git, \.git\/1, \.git\/2, \.git\/3, \.git\/4 and 3 more \([^)]*\)$/,
    )
    expect(refused.error.hint).toContain('exited with code 3')
    expect(refused.error.hint).toContain(`command_output with the id ${refused.call}`)
    const printed = box.json(['call', 'command_output', JSON.stringify({ id: refused.call })])
    expect(printed.text).toContain('hello')
  })

  test('a repository in a folder is deleted as a whole and comes back; in part or at the top it is not', () => {
    for (const folder of ['.', 'clone']) execFileSync('git', ['init', '-q', join(box.workspace, folder)])
    for (const line of [
      'rm clone/.git/config',
      'rm -rf .git',
      'mv clone clone2',
      'rm -rf clone/.git; mkdir clone/.git',
    ]) {
      expect([line, runScript(line).error?.code]).toEqual([line, 'forbidden'])
    }
    const { ok, call } = runScript('rm -rf clone')
    expect([ok, readdirSync(box.workspace)]).toEqual([true, expect.not.arrayContaining(['clone'])])
    box.run(['undo', call, '--yes'])
    expect(readdirSync(join(box.workspace, 'clone/.git'))).toContain('config')
  })

  test('a repository that hides another one around it stays', () => {
    for (const name of ['HEAD', 'config', 'objects/x', 'refs/x']) box.write(`trap/${name}`, '')
    execFileSync('git', ['init', '-q', join(box.workspace, 'trap')])
    expect(runScript('rm -rf trap/.git').error?.code).toBe('forbidden')
  })

  test('files that are too large for undo are named', () => {
    box.configure('[permissions]\ncommands = "ask"\n[undo]\nmax_file_size = "1KB"\n')
    box.write('big', 'x'.repeat(5000))
    expect(run('rm big').text).toContain('Cannot be undone, because undo could not keep the content: big')
  })

  test('a file that its owner may not read is deleted, and comes back with its mode', () => {
    box.write('sec', 'secret')
    chmodSync(join(box.workspace, 'sec'), 0)
    const { ok, call } = run('rm -f sec')
    expect([ok, existsSync(join(box.workspace, 'sec'))]).toEqual([true, false])
    box.run(['undo', call, '--yes'])
    expect(statSync(join(box.workspace, 'sec')).mode & 0o777).toBe(0)
    chmodSync(join(box.workspace, 'sec'), 0o600)
    expect(readFileSync(join(box.workspace, 'sec'), 'utf8')).toBe('secret')
  })
})
