import { lstatSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isSystemError } from '../core/errors.ts'
import { isInside, realPathOf } from '../core/real-path.ts'
import { isHarmless, readGitConfig } from './git-config.ts'
import { type Repository, readBounded } from './repository.ts'

/** One value of a setting, and the file that has it. The key is in lower case. */
export interface GitSetting {
  readonly key: string
  readonly value: string
  readonly file: string
}

type Place = Pick<Repository, 'repository' | 'shared'>

const MOST_FILES = 50

/**
 * All settings of a repository, with those of the files that it includes, whatever condition an inclusion has; with
 * `home`, also the person's own. Null: a file is there that cannot be read as git would.
 */
export function settingsOf(place: Place, home?: string): GitSetting[] | null {
  const own = home === undefined ? [] : [join(home, '.gitconfig'), join(home, '.config/git/config')]
  const open = [
    ...own,
    ...foldersOf(place).flatMap(folder => [join(folder, 'config'), join(folder, 'config.worktree')]),
  ]
  const settings: GitSetting[] = []
  for (const [index, file] of open.entries()) {
    if (index > MOST_FILES) return null
    const text = readBounded(file)?.toString()
    if (text === undefined && lstatSync(file, { throwIfNoEntry: false }) === undefined) continue
    const found = text === undefined ? null : readGitConfig(text)
    if (found === null) return null
    for (const [key, values] of found) {
      settings.push(...values.map(value => ({ key, value, file })))
      if (INCLUDES.test(key)) open.push(...values.map(value => inHome(value, dirname(file), home)))
    }
  }
  return settings
}

const INCLUDES = /^include(if\..+)?\.path$/

/** A working tree beside the main one takes its settings and hooks from the repository that it belongs to. */
function foldersOf({ repository, shared = repository }: Place): string[] {
  return [...new Set([repository, shared])]
}

function inHome(value: string, folder: string, home = '/nonexistent'): string {
  return resolve(
    folder,
    value.replace(/^~(?=\/|$)/, () => home),
  )
}

/** What makes git run a program, or read settings or files, that somebody chose for this repository. */
export interface GitDanger {
  /** A setting, or `hooks/pre-commit`. */
  readonly name: string
  /** What it names in the working tree, as real paths. A folder stands for all that is in it. */
  readonly paths: readonly string[]
}

/**
 * Which programs and paths a repository makes dangerous. With `home`, those that the person's own settings name in it, too:
 * the programs of these are the person's, but a file of the working tree is anybody's. Null: its settings cannot be read.
 */
export function dangersOf(found: Repository, home?: string): GitDanger[] | null {
  const settings = settingsOf(found, home)
  if (settings === null) return null
  const dangers = settings
    .filter(({ key, value }) => !isHarmless(key, value) && !isOwnTree(key, value, found))
    .map(({ key, value, file }) => ({ name: key, paths: pathsIn(key, value, file, found, home) }))
  return [...dangers, ...hooksOf(found)]
}

/** A submodule's repository says where its files are. */
function isOwnTree(key: string, value: string, { repository, root }: Repository): boolean {
  return key === 'core.worktree' && resolve(repository, value) === root
}

/**
 * Every word of the value that may be a path: a program is a whole line for the shell. Git starts most of them at the top
 * of the working tree, and reads included files beside the one that includes them.
 */
function pathsIn(key: string, value: string, file: string, { root }: Repository, home?: string): string[] {
  const isPlace = INCLUDES.test(key) || /(path|file|dir)$/.test(key)
  const spelled = isPlace ? [] : (value.match(/[^\s'"`;|&()<>$={}!]+/g) ?? [])
  // `$PWD/merge.sh`, `$(git rev-parse --show-toplevel)/merge.sh`: any beginning of it may stand for the top.
  const words = [value, ...spelled, ...(/[$`]/.test(value) ? spelled.flatMap(endsOf) : [])]
  const from = INCLUDES.test(key) ? dirname(file) : root
  return words
    .filter(word => word !== '')
    .map(word => realOf(inHome(word, from, home)))
    .filter(path => path !== root && isInside(path, root))
    .filter(path => isPlace || lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
}

function endsOf(word: string): string[] {
  const names = word.split('/')
  return names.slice(1).map((_, index) => names.slice(index + 1).join('/'))
}

/** Those that somebody put there; git lays out samples, which it does not run. */
function hooksOf(found: Repository): GitDanger[] {
  const folder = join(found.shared ?? found.repository, 'hooks')
  try {
    const names = readdirSync(folder).filter(name => !name.endsWith('.sample'))
    return names.map(name => {
      const target = realOf(join(folder, name))
      const isLedAway = isInside(target, found.root) && !isInside(target, found.repository)
      return { name: `hooks/${name}`, paths: isLedAway ? [target] : [] }
    })
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return []
    return [{ name: 'hooks', paths: [] }]
  }
}

function realOf(path: string): string {
  try {
    return realPathOf(path)
  } catch {
    // A loop of links: nothing that git could run.
    return path
  }
}
