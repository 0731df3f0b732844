import { execFile, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openBrowser } from '../../src/cli/open-browser.ts'
import { toEnvironment } from '../../src/config/environment.ts'
import { placesFor } from '../../src/store/places.ts'
import { workspaceId } from '../../src/store/workspace-id.ts'
import { createSandboxed, PROGRAM, type Sandboxed } from '../support/kogu.ts'

// A repository that was cloned with a `.kogu` in it. What Kogu finishes at its start, it must have begun itself.

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
  box.write('a.txt', 'hello\n')
})
afterEach(() => box.remove())

test('a layer that came with the repository is not brought over, neither here nor elsewhere', () => {
  const elsewhere = join(box.home, 'elsewhere')
  mkdirSync(elsewhere)
  for (const [name, workspace] of [
    ['here', box.workspace],
    ['there', elsewhere],
  ]) {
    box.write(`.kogu/overlays/${name}/upper/planted`, 'echo OWNED\n')
    const journal = {
      workspace,
      open: [],
      gone: [],
      folders: [],
      move: [{ path: 'planted', mode: 0o644 }],
      touch: [],
    }
    box.write(`.kogu/overlays/${name}/journal`, JSON.stringify(journal))
  }
  // As a clone would: the folder looks used.
  box.write('.kogu/.gitignore', '*\n')
  box.write('.kogu/owner', `${box.workspace}\n${'0'.repeat(64)}\n`)
  const { code, stderr } = box.run(['call', 'read_file', '{"path":"a.txt"}'])
  expect(code).toBe(0)
  expect(stderr).toContain('was not written by this Kogu')
  expect(existsSync(join(box.workspace, 'planted'))).toBe(false)
  expect(readdirSync(elsewhere)).toEqual([])
  expect(existsSync(join(box.workspace, '.kogu/overlays/here'))).toBe(false)
})

test.each([
  ['with the clone', false],
  ['by a pull, into a folder that is in use', true],
])('a server that the repository names %s is not asked, and no browser is sent there', async (_, isUsed) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end('{"path":"/"}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  if (isUsed) box.run(['call', 'read_file', '{"path":"a.txt"}', '--run', 'r'])
  const url = `http://127.0.0.1:${port}`
  const address = JSON.stringify({ url, open: url, id: randomUUID() })
  for (const text of [address, `${address}\n${'0'.repeat(64)}\n`]) {
    box.write('.kogu/server.json', text)
    // Not spawnSync, which would keep the server from answering.
    expect(await openPrint(box)).toContain('No kogu serve is running')
  }
  await new Promise(resolve => server.close(resolve))
  expect(asked).toEqual([])
})

function openPrint({ workspace, env }: Sandboxed): Promise<string> {
  return new Promise(resolve =>
    execFile(process.execPath, [PROGRAM, 'open', '--print'], { cwd: workspace, env }, (_, _stdout, stderr) =>
      resolve(stderr),
    ),
  )
}

test('no program of the workspace gets the link that signs in', () => {
  box.write('bin/xdg-open', `#!/bin/sh\necho "$1" > ${box.home}/stolen\n`)
  chmodSync(join(box.workspace, 'bin/xdg-open'), 0o755)
  const environment = toEnvironment(
    { ...box.env, PATH: `${box.workspace}/bin:/usr/bin:/bin` },
    { platform: 'linux', uid: process.getuid?.(), home: box.home },
  )
  return openBrowser(environment, box.workspace, 'http://127.0.0.1/x').then(() =>
    expect(existsSync(join(box.home, 'stolen'))).toBe(false),
  )
})

test.each([
  ['shows all of it', '!*\n'],
  ['hides nothing', ''],
  ['shows one folder after it hid all', '*\n!/undo/\n!undo/**\n'],
])('a .gitignore that came along and %s does not bring state into a commit', (_, text) => {
  const git = (...args: string[]) =>
    spawnSync('git', args, { cwd: box.workspace, env: box.env, encoding: 'utf8' })
  git('init', '-q')
  box.configure('mode = "accept-edits"\n')
  box.write('.kogu/.gitignore', text)
  box.run(['call', 'write_file', '{"path":"b.txt","content":"x"}', '--run', 'r'])
  expect(existsSync(join(box.workspace, '.kogu/undo'))).toBe(true)
  git('add', '-A')
  expect(
    git('ls-files')
      .stdout.split('\n')
      .filter(name => name.startsWith('.kogu/')),
  ).toEqual([])
})

test('what a project shows of its .kogu stays as it wrote it', () => {
  const text = '*\n!.gitignore\n!config.toml\n!pipelines/\n!pipelines/nightly.toml\n'
  box.write('.kogu/.gitignore', text)
  box.run(['call', 'read_file', '{"path":"a.txt"}'])
  expect(box.read('.kogu/.gitignore')).toBe(text)
})

test('a workspace id that came along is not believed', async () => {
  mkdirSync(join(box.home, 'other'))
  const other = await workspaceId(placesFor(join(box.home, 'other'), join(box.home, 'state/kogu')))
  const places = placesFor(box.workspace, join(box.home, 'state/kogu'))
  const copied = readFileSync(join(box.home, 'other/.kogu/workspace-id'))
  mkdirSync(places.state)
  writeFileSync(join(places.state, 'workspace-id'), copied)
  const own = await workspaceId(places)
  expect(own).not.toBe(other)
  expect(await workspaceId(places)).toBe(own)
})

test('the state of the same Kogu is believed at its next start', () => {
  box.configure('mode = "accept-edits"\n')
  expect(box.run(['call', 'write_file', '{"path":"b.txt","content":"x"}', '--run', 'r']).code).toBe(0)
  expect(box.run(['undo', '--yes']).code).toBe(0)
  expect(existsSync(join(box.workspace, 'b.txt'))).toBe(false)
  expect(readdirSync(join(box.workspace, '.kogu')).filter(name => name.startsWith('foreign'))).toEqual([])
  writeFileSync(join(box.workspace, '.kogu/owner'), 'nonsense')
  expect(box.run(['changes']).stderr).toContain('was not written by this Kogu')
})
