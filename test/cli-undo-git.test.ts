import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'
import { noSandbox } from './support/skips.ts'

let box: Sandboxed

/** As a person would, beside Kogu. */
function git(...args: string[]): string {
  const who = ['-c', 'user.name=P', '-c', 'user.email=p@example.org']
  return execFileSync('git', [...who, ...args], { cwd: box.workspace, encoding: 'utf8', stdio: 'pipe' })
}

function command(line: string): string {
  const result = box.json(['call', 'run_command', JSON.stringify({ command: line }), '--yes-once'])
  expect(result.error).toBeNull()
  return result.call
}

const commit = (text: string): string =>
  command(`echo ${text} >> a.txt; git -c user.name=A -c user.email=a@example.org commit -qam ${text}`)
const read = (path: string): string => readFileSync(join(box.workspace, path), 'utf8')

beforeEach(() => {
  box = createSandboxed()
  git('init', '-q', '-b', 'main')
  box.write('a.txt', 'a\n')
  git('add', 'a.txt')
  git('commit', '-qm', 'first')
})
afterEach(() => box.remove())

describe.skipIf(noSandbox !== '')(`undo in a repository${noSandbox}`, () => {
  test('a tag that a person gave to a commit keeps what it refers to', () => {
    const call = commit('b')
    git('tag', 'release')
    const { code, stdout } = box.run(['undo', '--yes'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('left    3 git objects')])
    expect([read('a.txt'), git('log', '--format=%s')]).toEqual(['a\n', 'first\n'])
    expect(git('show', 'release:a.txt')).toBe('a\nb\n')
    git('fsck', '--full', '--strict')
    expect(git('status', '--porcelain', '-uno')).toBe('')
    expect(box.run(['changes', call]).stdout).not.toContain('partly')
  })

  test('a call that made nothing but objects is undone, and the next undo takes back the one before', () => {
    const first = command('echo b >> a.txt')
    const second = command('git hash-object -w a.txt')
    expect(box.run(['undo', '--yes']).stdout).toContain(`undo run_command ${second}`)
    expect(box.run(['undo', '--yes']).stdout).toContain(`undo run_command ${first}`)
    expect(read('a.txt')).toBe('a\n')
  })

  test('an undo of a commit can be taken back', () => {
    commit('b')
    const undone = box.json(['undo', '--yes']).call
    git('status')
    expect(box.run(['undo', undone, '--yes']).code).toBe(0)
    expect([read('a.txt'), git('log', '--format=%s')]).toEqual(['a\nb\n', 'b\nfirst\n'])
    git('fsck', '--full', '--strict')
  })

  test('git status between commits is in the way of none of them', () => {
    for (const text of ['b', 'c']) {
      commit(text)
      // Another time of the same file is what makes git write the index anew.
      execFileSync('touch', ['-d', '2001-01-01', join(box.workspace, 'a.txt')])
      const index = readFileSync(join(box.workspace, '.git/index'))
      git('status')
      expect(readFileSync(join(box.workspace, '.git/index')).equals(index)).toBe(false)
    }
    expect(box.run(['undo', '--last', '2', '--yes']).code).toBe(0)
    expect([read('a.txt'), git('log', '--format=%s')]).toEqual(['a\n', 'first\n'])
    expect(git('status', '--porcelain', '-uno')).toBe('')
  })

  test('what a person staged since is a conflict, and skipping it leaves the whole repository', () => {
    commit('b')
    box.write('mine.txt', 'mine\n')
    git('add', 'mine.txt')
    expect(box.run(['undo', '--yes']).code).toBe(1)
    const { code, stdout } = box.run(['undo', '--yes', '--skip-conflicts'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('its whole repository stays as it is')])
    expect([read('a.txt'), git('log', '--format=%s')]).toEqual(['a\n', 'b\nfirst\n'])
    expect(git('diff', '--cached', '--name-only')).toBe('mine.txt\n')
  })

  test('a new repository goes as a whole, or stays as a whole when somebody works with it', () => {
    const clone = 'git clone -q . copy.git --bare; git clone -q copy.git copy'
    command(clone)
    expect(box.run(['undo', '--yes']).stdout).not.toContain('git objects')
    expect(readdirSync(box.workspace).filter(name => name.startsWith('copy'))).toEqual([])
    command(clone)
    git('-C', 'copy', 'tag', 'mine')
    git('-C', 'copy.git', 'tag', 'mine')
    expect(box.run(['undo', '--yes']).code).toBe(0)
    for (const folder of ['copy', 'copy.git']) {
      git('-C', folder, 'fsck', '--full', '--strict')
      expect(git('-C', folder, 'show', 'mine:a.txt')).toBe('a\n')
    }
  })

  test('a repository is gone when the calls that made it were undone one by one', () => {
    const as = 'git -C new -c user.name=A -c user.email=a@example.org'
    for (const line of ['git init -q new', 'echo n > new/n', 'git -C new add n', `${as} commit -qm one`]) {
      command(line)
    }
    const undos = [1, 2, 3, 4].map(() => box.json(['undo', '--yes']).call)
    expect(existsSync(join(box.workspace, 'new'))).toBe(false)
    for (const undo of undos.toReversed()) expect(box.run(['undo', undo, '--yes']).code).toBe(0)
    expect(git('-C', 'new', 'show', 'HEAD:n')).toBe('n\n')
    git('-C', 'new', 'fsck', '--full', '--strict')
  })

  test('a repository that later calls filled stays, and the refusal names the way to take all of it back', () => {
    const calls = ['git init -q new', 'echo n > new/n; git -C new add n'].map(command)
    const { code, stdout, stderr } = box.run(['undo', calls[0] ?? '', '--yes'])
    expect([code, stdout]).toEqual([1, expect.stringContaining('stays   new/.git')])
    const way = /kogu (undo call_.*)/.exec(stderr)?.[1]?.split(' ') ?? []
    expect(way).toEqual(['undo', ...calls.toReversed()])
    expect(box.run([...way, '--yes']).code).toBe(0)
    expect(existsSync(join(box.workspace, 'new'))).toBe(false)
  })

  test('an object that a person made keeps the folder of its repository', () => {
    command('git init -q new')
    command('echo n > new/n; git -C new add n')
    const object = git('-C', 'new', 'hash-object', '-w', '../a.txt').trim().replace(/^../, '$&/')
    for (const _ of [1, 2]) expect(box.run(['undo', '--yes']).code).toBe(0)
    expect(existsSync(join(box.workspace, 'new/.git/objects', object))).toBe(true)
  })

  test('objects that a command packed come back beside the pack', () => {
    const object = join('.git/objects', git('rev-parse', 'HEAD').trim().replace(/^../, '$&/'))
    command('git gc -q')
    expect(existsSync(join(box.workspace, object))).toBe(false)
    expect(box.run(['undo', '--yes']).code).toBe(0)
    expect(existsSync(join(box.workspace, object))).toBe(true)
    git('fsck', '--full', '--strict')
  })
})
