import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { prepareOutside } from './outside-program.ts'

const state = { root: '', workspace: '', safe: '' }

beforeEach(() => {
  state.root = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-test-')))
  state.workspace = join(state.root, 'work')
  state.safe = join(state.root, 'safe')
  program('safe/hook')
  program('safe/mask.py')
  program('work/scripts/hook')
  program('work/bin/jq')
})
afterEach(() => rmSync(state.root, { recursive: true, force: true }))

function program(path: string, content = '#!/bin/sh\n'): string {
  const file = join(state.root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  chmodSync(file, 0o755)
  return file
}

function prepare(
  command: string[],
  env: Record<string, string> = { PATH: '/usr/bin:/bin', HOME: state.root },
) {
  const { workspace, safe } = state
  return prepareOutside(command, { workspace, writable: [workspace, '/var/tmp'], safePlace: safe, env })
}

test('a program where no agent writes runs, and not in the workspace', () => {
  const hook = join(state.safe, 'hook')
  expect(prepare([hook, '--strict'])).toEqual({
    file: hook,
    args: ['--strict'],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', HOME: state.root },
  })
  expect(prepare(['sh', '-c', 'echo "a.txt"; exit 1']).file).toBe('/usr/bin/sh')
})

test.each([
  ['by a relative name', () => ['./scripts/hook']],
  ['by its full path', () => [join(state.workspace, 'scripts/hook')]],
  ['by dots', () => [join(state.safe, '../work/scripts/hook')]],
  ['as the script of an interpreter', () => ['sh', 'scripts/hook']],
  ['as the script of an interpreter, by its full path', () => ['sh', join(state.workspace, 'scripts/hook')]],
  ['in the text of a shell', () => ['sh', '-c', `exec ${state.workspace}/scripts/hook`]],
  ['as the value of an option', () => ['env', `--split-string=${state.workspace}/scripts/hook`]],
  ['as a folder that an interpreter runs', () => ['python3', '.']],
  ['before it exists', () => [join(state.workspace, 'new')]],
  ['from the home folder', () => ['sh', '-c', 'exec ~/work/scripts/hook']],
  ['by a variable', () => ['sh', '-c', 'exec "$HOME/work/scripts/hook"']],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: for the shell
  ['by a variable in braces', () => ['sh', '-c', 'exec ${HOME}/work/scripts/hook']],
  ['as a file of another scheme', () => ['node', `--import=file://${state.workspace}/scripts/hook`]],
])('a program that an agent can write is refused, named %s', (_how, command) => {
  expect(() => prepare(command())).toThrow('where an agent can write')
})

test('a program in another workspace is refused: its agents can write it', () => {
  const hook = program('other/scripts/hook')
  expect(prepare([hook]).file).toBe(hook)
  mkdirSync(join(state.root, 'other/.kogu'))
  for (const command of [[hook], ['sh', hook], ['sh', '-c', `exec ${hook}`]])
    expect(() => prepare(command)).toThrow(`${join(state.root, 'other')}, where an agent can write`)
  const inherited = {
    PATH: `/usr/bin:${state.root}/other/bin`,
    HOME: state.root,
    PYTHONPATH: `${state.root}/other`,
  }
  expect(prepare(['sh'], inherited).env).toEqual({ PATH: '/usr/bin', HOME: state.root })
  mkdirSync(join(state.root, '.kogu'))
  expect(prepare([join(state.safe, 'hook')]).env.HOME).toBe(state.root)
})

test('a link is followed name by name: neither where it leads nor where it lies may be writable', () => {
  symlinkSync(join(state.workspace, 'scripts/hook'), join(state.safe, 'into'))
  symlinkSync(join(state.safe, 'hook'), join(state.workspace, 'out'))
  symlinkSync(state.safe, join(state.workspace, 'folder'))
  symlinkSync(join(state.workspace, 'folder'), join(state.safe, 'through'))
  for (const path of ['safe/into', 'work/out', 'work/folder/hook', 'safe/through/hook'])
    expect(() => prepare([join(state.root, path)])).toThrow('where an agent can write')
  symlinkSync('loop', join(state.safe, 'loop'))
  expect(() => prepare([join(state.safe, 'loop')])).toThrow()
})

test.each([
  ['by its path', () => join(state.workspace, 'bin/jq')],
  ['as a word of env', () => `/usr/bin/env -S node --require ${join(state.workspace, 'x.js')}`],
])('an interpreter that an agent can write is refused, named %s', (_how, line) => {
  const hook = program('safe/strange', `#!${line()}\n`)
  expect(() => prepare([hook])).toThrow('where an agent can write')
})

test('a workspace whose name holds blanks and quotes is found in texts, too', () => {
  state.workspace = join(state.root, "kim's own (work), new")
  const hook = program("kim's own (work), new/hook")
  expect(() => prepare(['sh', '-c', `exec "${hook}"`])).toThrow('where an agent can write')
  expect(() => prepare(['sh', '-c', `exec ${hook.replace(/[ '(),]/g, '\\$&')}`])).toThrow('can write')
  const { env } = prepare(['sh'], { PATH: '/usr/bin:/bin', BASH_ENV: hook, ENV: `${state.workspace}/.shrc` })
  expect(env).toEqual({ PATH: '/usr/bin:/bin' })
})

test('no variable leads to a writable place', () => {
  const { workspace } = state
  const { env } = prepare(['sh'], {
    PATH: `${workspace}/bin:node_modules/.bin:/usr/bin:/bin`,
    PYTHONPATH: `/usr/lib/x:${workspace}/lib`,
    NODE_OPTIONS: `--require=${workspace}/x.js`,
    BASH_ENV: '/var/tmp/x',
    LANG: 'C.UTF-8',
    TOKEN: 'a=b',
  })
  expect(env).toEqual({ PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', TOKEN: 'a=b' })
  expect(() => prepare(['jq-of-the-workspace'], { PATH: `${workspace}/bin` })).toThrow('was not found')
})

test('the refusal names the path and a place where it is safe', () => {
  try {
    prepare(['python3', join(state.workspace, 'scripts/hook')])
    expect.unreachable()
  } catch (error) {
    expect(error).toMatchObject({
      code: 'forbidden',
      message: `'python3' does not run outside the sandbox: ${state.workspace}/scripts/hook lies in ${state.workspace}, where an agent can write.`,
      hint: expect.stringContaining(state.safe),
    })
  }
})
