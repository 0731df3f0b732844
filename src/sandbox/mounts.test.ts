import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DEFAULT_SANDBOX_LIMITS, type SandboxProfile } from '../core/sandbox.ts'
import { toMounts } from './mounts.ts'

const state = { folder: '' }
beforeEach(() => {
  state.folder = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-test-')))
  mkdirSync(join(state.folder, 'cache/workspace'), { recursive: true })
})
afterEach(() => rmSync(state.folder, { recursive: true, force: true }))

function mountsOf(profile: Partial<SandboxProfile>, sockets: readonly string[] = []) {
  const all: SandboxProfile = {
    writable: [],
    readable: [],
    hidden: [],
    protected: [],
    network: 'none',
    unixSockets: false,
    env: {},
    cwd: '/',
    limits: DEFAULT_SANDBOX_LIMITS,
    ...profile,
  }
  const known = ['/run', '/var/tmp']
  return toMounts(all, { overlay: undefined, passages: [], sockets }).filter(
    ({ path }) => !known.includes(path),
  )
}

test('a cache or a shared /tmp in which something is mounted is made anew, in memory', () => {
  const [cache, workspace] = [join(state.folder, 'cache'), join(state.folder, 'cache/workspace')]
  const replaced = [{ path: cache, source: '/own' }]
  expect(
    mountsOf({ replaced, readable: [workspace], privateTmp: '/run-tmp', privateTmpIs: 'shared' }),
  ).toEqual([
    { kind: 'temporary', path: '/tmp' },
    { kind: 'temporary', path: cache },
    { kind: 'readable', path: workspace },
  ])
  expect(mountsOf({ privateTmp: '/run-tmp', privateTmpIs: 'shared' })).toEqual([
    { kind: 'temporary', path: '/tmp', source: '/run-tmp', access: 'shared' },
  ])
})

test('only what can be seen is covered', () => {
  const [seen, unseen] = [join(state.folder, 'cache'), state.folder]
  expect(mountsOf({ hidden: [unseen] }, [join(unseen, 'socket')])).toEqual([
    { kind: 'temporary', path: '/tmp' },
  ])
  expect(mountsOf({ hidden: [join(seen, 'workspace')], readable: [seen] }, [join(seen, 'socket')])).toEqual([
    { kind: 'temporary', path: '/tmp' },
    { kind: 'readable', path: seen },
    { kind: 'hidden', path: join(seen, 'socket') },
    { kind: 'hidden', path: join(seen, 'workspace') },
  ])
})

test('a cache that does not exist is left out where its place would have to be made on the host', () => {
  expect(mountsOf({ replaced: [{ path: '/usr/kogu-missing', source: '/own' }] })).toEqual([
    { kind: 'temporary', path: '/tmp' },
  ])
  const path = join(state.folder, 'missing')
  expect(mountsOf({ replaced: [{ path, source: '/own' }] })).toEqual([
    { kind: 'temporary', path: '/tmp' },
    { kind: 'replaced', path, source: '/own' },
  ])
})
