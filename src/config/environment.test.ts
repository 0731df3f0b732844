import { expect, test } from 'vitest'
import { toEnvironment } from './environment.ts'

const host = { platform: 'linux' as const, uid: 1000, home: '/home/passwd' }

test('the folders follow XDG, with its defaults', () => {
  expect(toEnvironment({ HOME: '/home/ada' }, host).directories).toEqual({
    config: '/home/ada/.config/kogu',
    state: '/home/ada/.local/state/kogu',
    data: '/home/ada/.local/share/kogu',
    cache: '/home/ada/.cache/kogu',
    runtime: '/home/ada/.local/state/kogu/runtime',
    system: '/etc/kogu',
  })
  const moved = toEnvironment({ HOME: '/h', XDG_STATE_HOME: '/s', XDG_RUNTIME_DIR: '/run/user/1' }, host)
  expect(moved.directories.state).toBe('/s/kogu')
  expect(moved.directories.runtime).toBe('/run/user/1/kogu')
})

test('a relative or missing folder is not believed', () => {
  const environment = toEnvironment({ HOME: '.', XDG_STATE_HOME: 'state', PATH: '/bin:.:bin:' }, host)
  expect(environment.home).toBe('/home/passwd')
  expect(environment.directories.state).toBe('/home/passwd/.local/state/kogu')
  expect(environment.path).toEqual(['/bin'])
})

test('double underscores in a variable are dots in the key', () => {
  const variables = { KOGU_LIMITS__MAX_COST: '0.5', KOGU_MODE: 'auto', KOGU_CALL: 'c1', OTHER: 'x' }
  const environment = toEnvironment(variables, host)
  expect(environment.overrides).toEqual([
    { variable: 'KOGU_LIMITS__MAX_COST', key: 'limits.max_cost', value: '0.5' },
    { variable: 'KOGU_MODE', key: 'mode', value: 'auto' },
  ])
  expect(environment.insideCall).toBe('c1')
})

test('values of variables that look like secrets are collected, longest first, and short ones are not', () => {
  const environment = toEnvironment(
    {
      OPENAI_API_KEY: 'sk-0123456789',
      GITHUB_TOKEN: 'ghp_abcdefghijkl',
      DB_PASSWORD: 'short',
      DATABASE_URL: 'postgres://me:hunter2hunter2@db/x',
      AWS_ACCESS_KEY_ID: 'AKIA00000000',
      PWD: '/home/ada/project',
      HOME: '/home/ada',
    },
    host,
  )
  expect(environment.secrets).toEqual(['ghp_abcdefghijkl', 'hunter2hunter2', 'sk-0123456789', 'AKIA00000000'])
})

test('colour wishes are read as their conventions say', () => {
  const hints = (variables: Record<string, string>) => toEnvironment(variables, host).terminal
  expect(hints({})).toEqual({ noColor: false, forceColor: false, dumb: false, ci: false })
  expect(hints({ NO_COLOR: '' }).noColor).toBe(false)
  expect(hints({ NO_COLOR: '1' }).noColor).toBe(true)
  expect(hints({ FORCE_COLOR: '0' })).toMatchObject({ noColor: true, forceColor: false })
  expect(hints({ FORCE_COLOR: '1' }).forceColor).toBe(true)
  expect(hints({ CLICOLOR: '0' }).noColor).toBe(true)
  expect(hints({ TERM: 'dumb', CI: 'true' })).toMatchObject({ dumb: true, ci: true })
  expect(hints({ CI: 'false' }).ci).toBe(false)
})

test('a variable called __proto__ is a variable like any other', () => {
  const raw = Object.fromEntries([['__proto__', 'x']])
  expect(Object.keys(toEnvironment(raw, host).variables)).toEqual(['__proto__'])
  expect(({} as Record<string, unknown>).x).toBeUndefined()
})

test('the folder of the project is named by a variable that is no override', () => {
  const { projectRoot, overrides } = toEnvironment({ KOGU_PROJECT_ROOT: '/p' }, host)
  expect({ projectRoot, overrides }).toEqual({ projectRoot: '/p', overrides: [] })
  expect(toEnvironment({ TEBIKI_PROJECT_ROOT: '/old' }, host).projectRoot).toBe('/old')
  expect(toEnvironment({ KOGU_PROJECT_ROOT: '/p', TEBIKI_PROJECT_ROOT: '/old' }, host).projectRoot).toBe('/p')
})
