import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSandboxed, type Ran, type Sandboxed } from './support/kogu.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
})
afterEach(() => box.remove())

/** Without the folder for compiled code that the other tests share. */
function start(): Ran {
  const temporary = join(box.home, 'tmp')
  mkdirSync(temporary, { recursive: true })
  return box.run(['--version'], { env: { NODE_COMPILE_CACHE: '', TMPDIR: temporary } })
}

test('compiled code is kept in the private state folder, and not where others can put theirs', () => {
  expect(start().code).toBe(0)
  const state = join(box.home, 'state/kogu')
  expect(readdirSync(join(state, 'compiled')).length).toBeGreaterThan(0)
  expect(statSync(state).mode & 0o777).toBe(0o700)
  expect(statSync(join(state, 'compiled')).mode & 0o777).toBe(0o700)
  expect(readdirSync(join(box.home, 'tmp'))).toEqual([])
})

test.runIf(process.getuid?.() === 0)('compiled code in a folder of somebody else is not run', () => {
  const folder = join(box.home, 'state/kogu/compiled')
  mkdirSync(folder, { recursive: true })
  chownSync(folder, 65534, 65534)
  expect(start().code).toBe(0)
  expect(readdirSync(folder)).toEqual([])
})

test('a home that cannot be written costs only time', () => {
  box.write('file', '')
  const env = { NODE_COMPILE_CACHE: '', XDG_STATE_HOME: join(box.workspace, 'file') }
  expect(box.run(['--version'], { env })).toMatchObject({ code: 0, stderr: '' })
  expect(existsSync(join(box.home, 'state'))).toBe(false)
})

test('what every start loads holds no parser of code and no languages of a library', () => {
  const chunks = join(import.meta.dirname, '../dist/chunks')
  // Older builds leave theirs for programs that still run.
  const newest = readdirSync(chunks)
    .filter(name => /^(runtime|sandbox)-.*\.js$/.test(name))
    .map(name => ({
      text: readFileSync(join(chunks, name), 'utf8'),
      at: statSync(join(chunks, name)).mtimeMs,
    }))
    .sort((a, b) => b.at - a.at)
  for (const part of ['src/compose/compose.ts', 'src/sandbox/processes/processes.ts']) {
    const loaded = newest.find(({ text }) => text.includes(`// ${part}`))?.text ?? ''
    expect(loaded).not.toBe('')
    expect(
      loaded.match(/^\/\/ node_modules\/(acorn|undici|zod\/v4\/locales\/(?!en\.js|index\.js)).*/gm) ?? [],
    ).toEqual([])
  }
})
