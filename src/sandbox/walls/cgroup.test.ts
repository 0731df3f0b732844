import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  type Cgroup,
  createCgroup,
  exceededIn,
  isForUs,
  keepsLimit,
  limitGroup,
  openGroup,
  removeCgroup,
  removeGroup,
} from './cgroup.ts'

const LIMITS = { memoryBytes: 1000, processes: 7 }

describe.each([
  ['both versions, processes', 'pids', 'pids.max', '7', 'pids.events', 'max 2\n', 'processes'],
  [
    ...([
      'version 1, memory',
      'memoryOfVersion1',
      'memory.limit_in_bytes',
      '1000',
      'memory.oom_control',
    ] as const),
    ...(['oom_kill_disable 0\nunder_oom 0\noom_kill 2\n', 'memory'] as const),
  ],
  [
    ...(['version 2, memory', 'memory', 'memory.max', '1000', 'memory.events'] as const),
    ...(['low 0\nhigh 0\nmax 9\noom 1\noom_kill 2\noom_group_kill 1\n', 'memory'] as const),
  ],
] as const)('%s', (_, controller, limitFile, value, eventsFile, events, limit) => {
  test('the limit is written, and what was counted is read, where the kernel has them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kogu-test-'))
    const cgroup: Cgroup = { trees: [{ folder, controllers: [controller] }] }
    try {
      expect(openGroup(cgroup, 'one')).toEqual([join(folder, 'one/cgroup.procs')])
      limitGroup(cgroup, 'one', LIMITS)
      expect(readFileSync(join(folder, 'one', limitFile), 'utf8')).toBe(value)
      expect(exceededIn(cgroup, 'one')).toBe(null)
      writeFileSync(join(folder, 'one', eventsFile), events.replaceAll('2', '0'))
      expect(exceededIn(cgroup, 'one')).toBe(null)
      writeFileSync(join(folder, 'one', eventsFile), events)
      expect(exceededIn(cgroup, 'one')).toBe(limit)
      expect(keepsLimit(cgroup, limit)).toBe(true)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

test('groups are made only where whoever manages the place expects them', () => {
  expect(isForUs('/', '/nowhere')).toBe(true)
  expect(isForUs('/user.slice/user-0.slice/session-1.scope', '/nowhere')).toBe(true)
  expect(isForUs('/some-manager/0123', '/nowhere')).toBe(false)
})

test('the groups of a Kogu that was killed are removed by the next one', context => {
  const first = createCgroup()
  const tree = first?.trees[0]
  if (first === undefined || tree === undefined) return context.skip('no control group can be made here')
  const dead = spawnSync('/bin/true').pid
  const left = join(dirname(tree.folder), `kogu-${dead}-1`)
  mkdirSync(join(left, 'command-1'), { recursive: true })
  openGroup(first, 'one')
  const second = createCgroup()
  try {
    expect(existsSync(left)).toBe(false)
    expect(existsSync(join(tree.folder, 'one'))).toBe(true)
    expect(removeGroup(first, 'one')).toBe(true)
    expect(existsSync(join(tree.folder, 'one'))).toBe(false)
  } finally {
    expect([first, second].map(cgroup => cgroup === undefined || removeCgroup(cgroup))).toEqual([true, true])
  }
})
