import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EMPTY_PROFILE, type SandboxProfile } from '../../core/sandbox.ts'
import { hiddenInLayer, toMounts } from './mounts.ts'

const state = { folder: '' }
beforeEach(() => {
  state.folder = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-test-')))
  mkdirSync(join(state.folder, 'cache/workspace'), { recursive: true })
})
afterEach(() => rmSync(state.folder, { recursive: true, force: true }))

function mountsOf(profile: Partial<SandboxProfile>, sockets: readonly string[] = []) {
  const known = ['/run', '/var/tmp']
  const options = { overlay: undefined, passages: [], layeredHome: '/layer', sockets }
  return toMounts({ ...EMPTY_PROFILE, ...profile }, options).filter(({ path }) => !known.includes(path))
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

test('the home has a layer where it is seen and is not part of a writable workspace', () => {
  const home = state.folder
  const layer = { kind: 'layered', path: home, source: '/layer' }
  expect(mountsOf({ home, readable: ['/tmp'] })).toContainEqual(layer)
  for (const profile of [
    {},
    { readable: [home] },
    { readable: ['/tmp'], writable: [home] },
    { readable: ['/tmp'], hidden: [home] },
  ]) {
    expect(mountsOf({ home, ...profile })).not.toContainEqual(layer)
  }
})

test('in a layer over the home, a link and what it leads to are not there, nor what may come', () => {
  const home = state.folder
  symlinkSync('cache/workspace', join(home, 'link'))
  const hidden = ['link', 'later', 'no-folder/later'].map(name => join(home, name))
  const profile = { ...EMPTY_PROFILE, home, hidden, readable: ['/tmp'] }
  const mounts = mountsOf(profile)
  expect(hiddenInLayer(profile, mounts).sort()).toEqual(
    ['cache/workspace', 'later', 'link'].map(name => join(home, name)),
  )
  expect(mounts.filter(({ kind }) => kind === 'hidden')).toEqual([])
})
