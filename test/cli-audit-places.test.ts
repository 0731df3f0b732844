import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSandboxed, PROGRAM, type Ran, type Sandboxed } from './support/kogu.ts'
import { AS_NOBODY, NOBODY, noOrdinaryUser } from './support/skips.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
  box.write('a.txt', 'a')
})
afterEach(() => box.remove())

function giveAway(path: string): void {
  chownSync(path, NOBODY, NOBODY)
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) giveAway(join(path, name))
}

function runAsNobody(...args: string[]): Ran {
  const [file = '', ...words] = [...AS_NOBODY, process.execPath, PROGRAM, ...args]
  const env = { ...box.env, NODE_COMPILE_CACHE: '' }
  const { status, stdout, stderr } = spawnSync(file, words, { cwd: box.workspace, env, encoding: 'utf8' })
  return { code: status, stdout, stderr }
}

test.skipIf(noOrdinaryUser !== '')(
  `the log of a workspace that is read-only now is still listed and verified${noOrdinaryUser}`,
  () => {
    giveAway(box.home)
    const read = ['call', 'read_file', '{"path":"a.txt"}', '--json'] as const
    const first = JSON.parse(runAsNobody(...read).stdout).call
    for (const folder of ['.kogu/audit', '.kogu']) chmodSync(join(box.workspace, folder), 0o555)
    const second = JSON.parse(runAsNobody(...read).stdout).call
    const listed = runAsNobody('audit', 'list').stdout
    expect(listed).toContain(first)
    expect(listed).toContain(second)
    const verified = runAsNobody('audit', 'verify')
    expect(verified.code).toBe(0)
    expect(verified.stdout).toMatch(
      /^intact {2}3 events in 1 segment of .*\/state\/kogu\/workspaces\/.*\/audit$/m,
    )
    expect(verified.stdout).toContain(`intact  3 events in 1 segment of ${box.workspace}/.kogu/audit`)
    for (const folder of ['.kogu', '.kogu/audit']) chmodSync(join(box.workspace, folder), 0o755)
    expect(runAsNobody('audit', 'list').stdout).toContain(second)
  },
)

test('verify names the log that it read, also in a copy of the workspace', () => {
  box.run(['call', 'read_file', '{"path":"a.txt"}'])
  const copy = join(box.home, 'copy')
  cpSync(box.workspace, copy, { recursive: true })
  const { stdout } = box.run(['audit', 'verify'], { cwd: copy })
  expect(stdout).toContain(`3 events in 1 segment of ${copy}/.kogu/audit`)
  expect(stdout).toContain('without an anchor')
})
