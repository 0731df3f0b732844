import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ToolError, toToolError } from '../../src/core/errors.ts'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'

// What `explain` says is what the call meets: a call that it lets through is not refused on the way, and one that is
// refused has changed nothing.

let box: TestRuntime
beforeEach(async () => {
  box = await openTestRuntime(
    'mode = "accept-edits"\n[[permissions.rules]]\ndecision = "deny"\npath = "secret/**"\n[[permissions.rules]]\ndecision = "allow"\ntool = ["delete_file", "move_file", "write_file"]\npath = "**"\n',
  )
  for (const path of [
    'a.txt',
    'secret/k.txt',
    'half/HEAD',
    'half/objects/x',
    'whole/HEAD',
    'whole/refs/x',
    'whole/objects/x',
  ])
    box.write(path, 'one\n')
  const links: [target: string, name: string][] = [
    ['/dev/vda', 'disk'],
    ['/dev/zero', 'zero'],
    ['/proc/self/environ', 'environ'],
    ['secret/k.txt', 'innocent'],
    ['secret', 'folder'],
    ['../outside.txt', 'out'],
    ['missing.txt', 'dangling'],
    ['loop', 'loop'],
    ['a.txt', 'plain'],
    ['half', 'shape'],
    ['.git/hooks', 'hooks'],
  ]
  for (const [target, name] of links) symlinkSync(target, join(box.workspace, name))
  writeFileSync(join(box.home, 'outside.txt'), 'x\n')
  mkdirSync(join(box.workspace, '.git/hooks'), { recursive: true })
  execFileSync('mkfifo', [join(box.workspace, 'pipe')])
})
afterEach(() => box.close())

/** Everything in the workspace but Kogu's own records. */
function snapshot(folder = box.workspace): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.name === '.kogu') continue
    if (entry.isDirectory()) Object.assign(found, { [path]: 'folder' }, snapshot(path))
    else if (entry.isSymbolicLink()) found[path] = `-> ${readlinkSync(path)}`
    else found[path] = entry.isFile() ? readFileSync(path, 'utf8') : String(statSync(path).mode)
  }
  return found
}

const REFUSED = ['forbidden', 'denied', 'needs_approval']

async function compare(tool: string, input: object): Promise<void> {
  const before = snapshot()
  const said = await box.runtime.explain({ tool, input }).catch(toToolError)
  const result = await box.runtime.call({ tool, input })
  const code = result.error?.code ?? 'ok'
  if (said instanceof ToolError) {
    expect([tool, input, code, snapshot()]).toEqual([tool, input, said.code, before])
    return
  }
  const what = JSON.stringify([tool, input, said.decision, said.reasons[0], code])
  expect([what, result.decision.outcome]).toEqual([what, said.decision])
  expect([what, REFUSED.includes(code)]).toEqual([what, said.decision !== 'allow'])
  if (said.decision !== 'allow') expect([what, snapshot()]).toEqual([what, before])
}

const PATHS = [
  'a.txt',
  'new.txt',
  'deep/er/new.txt',
  'secret/k.txt',
  'SECRET/k.txt',
  'secret/new.txt',
  'innocent',
  'folder/k.txt',
  'folder/new',
  'out',
  '../outside.txt',
  'dangling',
  'loop',
  'plain',
  'disk',
  'zero',
  'environ',
  'pipe',
  '/dev/vda',
  '/dev/sda1',
  '/dev/null',
  '/dev/zero',
  '/dev/stdin',
  '/dev/fd/0',
  '/dev/shm/x',
  '/proc/self/mem',
  '/proc/version',
  '/sys/kernel/x',
  '/etc/hosts',
  'half/refs/y',
  'shape/refs/y',
  'half/REFS',
  'half/x',
  'whole/config',
  'whole/x',
  '.git/hooks/x',
  'hooks/x',
  '.',
  'half',
  'a.txt/x',
  '.env',
  '/tmp/x',
  '..',
]

describe('of a path', () => {
  test.each(PATHS)('%s', async path => {
    await compare('read_file', { path })
    await compare('list_directory', { path })
    await compare('grep_search', { pattern: 'one', path })
    await compare('write_file', { path, content: 'two\n', expected_hash: undefined })
    await compare('edit_file', { path, old_string: 'one', new_string: 'two' })
    await compare('move_file', { from: path, to: 'moved.txt' })
    await compare('move_file', { from: 'a.txt', to: path })
    await compare('delete_file', { path })
  })
})

describe('of a patch', () => {
  const add = (path: string): string => `*** Add File: ${path}\n+x\n`
  const patch = (...parts: string[]): string => `*** Begin Patch\n${parts.join('')}*** End Patch`
  test.each<[string, string]>([
    ['completes a repository', patch(add('r/HEAD'), add('r/objects/x'), add('r/refs/x'))],
    [
      'completes one in another order',
      patch(add('first.txt'), add('r/refs/heads/x'), add('r/config'), add('r/objects/x'), add('r/HEAD')),
    ],
    ['completes one that was there by half', patch(add('first.txt'), add('half/refs/x'))],
    ['completes one through a link', patch(add('first.txt'), add('shape/refs/x'))],
    ['completes one in capitals', patch(add('r/head'), add('r/OBJECTS/x'), add('r/Refs/x'))],
    ['completes a worktree', patch(add('r/HEAD'), add('r/commondir'))],
    [
      'moves the last piece',
      patch(
        add('r/HEAD'),
        add('r/objects/x'),
        '*** Update File: a.txt\n*** Move to: r/refs\n@@\n-one\n+two\n',
      ),
    ],
    ['writes a denied file last', patch(add('first.txt'), add('secret/new.txt'))],
    ['writes through a link', patch(add('first.txt'), add('folder/new.txt'))],
    ['writes a device', patch(add('first.txt'), add('/dev/vda'))],
    ['deletes a link to a denied file', patch(add('first.txt'), '*** Delete File: innocent\n')],
    ['writes hooks', patch(add('first.txt'), add('hooks/pre-commit'))],
    ['leaves the workspace', patch(add('first.txt'), add('../new.txt'))],
    [
      'is ordinary',
      patch(add('first.txt'), add('deep/er/two.txt'), '*** Update File: a.txt\n@@\n-one\n+two\n'),
    ],
  ])('that %s', async (_, input) => compare('apply_patch', { input }))
})
