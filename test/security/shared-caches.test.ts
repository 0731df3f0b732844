import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createPerson, IN_TMP, type Person, USERS } from './person.ts'

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

for (const { user, why } of USERS)
  describe.skipIf(why !== '')(`caches, as user ${user}${why}`, () => {
    test('what a command puts into a cache is there for later commands of the workspace and for nobody else', () => {
      const someone = person(user)
      expect(someone.approve(`${PLANT}; ls ~/.npm/_npx`).data.stdout).toBe('planted\n2\n')
      // The person, who would run it.
      expect(readdirSync(join(someone.home, '.npm/_npx'))).toEqual(['1'])
      const script = `cat ~/.npm/_npx/2/index.js; find ${someone.home}/.local -name index.js 2>/dev/null`
      expect(someone.approve(script).data.stdout).toBe('evil\n')
      someone.write('other/file', '')
      expect(someone.approve(script, { cwd: join(someone.home, 'other') }).data.stdout).toBe('')
      const workspaces = join(someone.home, '.local/state/kogu/workspaces')
      const modes = readdirSync(workspaces).map(
        name => lstatSync(join(workspaces, name, 'caches')).mode & 0o777,
      )
      expect(modes).toEqual([0o700, 0o700])
    })

    test('a preview finds an empty cache and leaves nothing', () => {
      const someone = person(user)
      someone.approve(PLANT)
      const preview = someone.approve('ls -A ~/.npm; echo x > ~/.npm/preview && echo done', {
        input: { preview: true },
      })
      expect(preview.data.stdout).toBe('done\n')
      expect(someone.approve('ls -A ~/.npm').data.stdout).toBe('_npx\n')
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
