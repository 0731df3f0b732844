import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { findSandboxSystem } from '../../src/sandbox/system.ts'
import { createPerson, IN_TMP, type Person, USERS } from './person.ts'

const system = findSandboxSystem()
const why = typeof system === 'string' ? ` (skipped: ${system})` : ''

const made: Person[] = []
afterEach(() => {
  for (const person of made.splice(0)) person.remove()
})

function person(user: number, base?: string): Person {
  const someone = createPerson({ user, ...(base === undefined ? {} : { base }) })
  made.push(someone)
  someone.write('.npm/_npx/1/package.json', 'the person’s own')
  return someone
}

const PLANT = 'mkdir -p ~/.npm/_npx/2 && echo evil > ~/.npm/_npx/2/index.js && echo planted'

describe.skipIf(why !== '').each(USERS)(`caches, as user %d${why}`, user => {
  test('what a command puts into a cache is not there for the person, who would run it', () => {
    const someone = person(user)
    expect(someone.approve(`${PLANT}; ls ~/.npm/_npx`).data.stdout).toBe('planted\n2\n')
    expect(readdirSync(join(someone.home, '.npm/_npx'))).toEqual(['1'])
  })

  test('the next command of the workspace finds it again, another workspace does not', () => {
    const someone = person(user)
    someone.approve(PLANT)
    expect(someone.approve('cat ~/.npm/_npx/2/index.js').data.stdout).toBe('evil\n')
    someone.write('other/file', '')
    const other = { cwd: join(someone.home, 'other') }
    const result = someone.approve('cat ~/.npm/_npx/2/index.js; ls ~/.local/state/kogu/workspaces', other)
    expect(result.data.stdout).toBe('')
  })

  test('a preview finds an empty cache and leaves nothing', () => {
    const someone = person(user)
    someone.approve(PLANT)
    const result = someone.approve('ls -A ~/.npm; echo x > ~/.npm/preview && echo done', {
      input: { preview: true },
    })
    expect(result.data.stdout).toBe('done\n')
    expect(someone.approve('ls -A ~/.npm').data.stdout).toBe('_npx\n')
  })

  test('a line that only reads cannot change a cache', () => {
    const someone = person(user)
    expect(someone.unasked('ls').ok).toBe(true)
    const workspaces = join(someone.home, '.local/state/kogu/workspaces')
    expect(
      readdirSync(workspaces, { recursive: true }).filter(name => String(name).includes('caches')),
    ).toEqual([])
  })

  test('only the person may look into the folders, and commands do not find them elsewhere', () => {
    const someone = person(user)
    someone.approve(PLANT)
    const workspaces = join(someone.home, '.local/state/kogu/workspaces')
    const [name = ''] = readdirSync(workspaces)
    const caches = join(workspaces, name, 'caches')
    expect(lstatSync(caches).mode & 0o777).toBe(0o700)
    const [cache = ''] = readdirSync(caches).filter(entry => entry.startsWith('.npm-'))
    expect(readFileSync(join(caches, cache, '_npx/2/index.js'), 'utf8')).toBe('evil\n')
    expect(someone.approve(`find ${someone.home}/.local -name index.js 2>/dev/null`).data.stdout).toBe('')
  })

  test('a workspace inside a cache is no way to mount it elsewhere', () => {
    const someone = person(user)
    someone.write('.cache/project/tool', '#!/bin/sh\necho from the workspace')
    const cwd = join(someone.home, '.cache/project')
    someone.approve(
      'mv ~/.cache/project ~/.cache/away; ln -s ../../../../../../../usr/bin ~/.cache/project',
      { cwd },
    )
    expect(someone.approve('ls /usr/bin/env; ls tool', { cwd }).data.stdout).toBe('/usr/bin/env\ntool\n')
  })

  test('a home in /tmp has its caches too', () => {
    const someone = person(user, IN_TMP)
    expect(someone.approve(PLANT).data.stdout).toBe('planted\n')
    expect(someone.approve('cat ~/.npm/_npx/2/index.js').data.stdout).toBe('evil\n')
    expect(readdirSync(join(someone.home, '.npm/_npx'))).toEqual(['1'])
  })
})
