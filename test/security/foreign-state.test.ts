import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from '../support/kogu.ts'

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

test('a server that the repository names gets no token', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end('{"path":"/"}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  box.write('.kogu/server.json', JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: 1 }))
  expect(box.run(['open', '--print']).stderr).toContain('No kogu serve is running')
  // Whoever had connected would be heard now.
  await new Promise(resolve => server.close(resolve))
  expect(asked).toEqual([])
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
