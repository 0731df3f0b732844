import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createPerson, IN_TMP, type Person, USERS } from './person.ts'

const made: Person[] = []
afterEach(() => {
  for (const person of made.splice(0)) person.remove()
})

function personIn(base: string | undefined, user: number, workspace = 'work'): Person {
  const person = createPerson({ user, workspace, ...(base === undefined ? {} : { base }) })
  made.push(person)
  return person
}

const run = 'run_tmp'

for (const { user, why } of USERS)
  describe.skipIf(why !== '')(`the /tmp of a run, as user ${user}${why}`, () => {
    test('a link that a command put in the way does not lead the workspace to another place', () => {
      const person = personIn(IN_TMP, user, 'bin')
      person.write('bin/ls', '#!/bin/sh\necho hijacked\n')
      person.write('bin/file', '')
      const { home } = person
      person.approve(`mv ${home} /tmp/zz; ln -s ../usr ${home}; echo kept > /tmp/other`, { run })
      expect(person.unasked('ls file', { run }).data).toMatchObject({ stdout: 'file\n', exit_code: 0 })
      person.approve(`mv ${home} /tmp/zz2; ln -s /newroot/usr ${home}`, { run })
      expect(person.approve('ls file; cat /tmp/other', { run }).data.stdout).toBe('file\nkept\n')
      person.approve(`mv ${home} /tmp/zz3; mkdir ${home}; ln -s ../../usr/bin ${home}/bin`, { run })
      expect(person.unasked('ls file', { run }).data).toMatchObject({ stdout: 'file\n', exit_code: 0 })
      person.approve(`mv ${home} /tmp/zz4; mkdir -m 0 ${home}`, { run })
      expect(person.unasked('ls file', { run }).data).toMatchObject({ stdout: 'file\n', exit_code: 0 })
    })

    test('what a preview leaves there is gone, and what a command leaves that is cut off', () => {
      const person = personIn(undefined, user)
      person.approve('echo first > /tmp/a', { run })
      const preview = person.approve('ls /tmp; echo x > /tmp/b', { run, input: { preview: true } })
      expect(preview.data.stdout).toBe('')
      expect(person.approve('ls /tmp', { run }).data.stdout).toBe('a\n')
      const cut = person.approve('ln -s /usr /tmp/c; mkdir -m 0 /tmp/d; sleep 30', {
        run,
        input: { timeout_ms: 600 },
      })
      expect(cut.text).toContain("this run's /tmp was emptied")
      expect(person.approve('ls /tmp', { run }).data.stdout).toBe('')
    })

    test('nobody sees the /tmp of another run', () => {
      const person = personIn(undefined, user)
      person.approve('echo TOPSECRET > /tmp/a', { run })
      expect(person.approve(`grep -r TOPSECRET ${join(person.workspace, '.kogu')}`).data.stdout).toBe('')
    })
  })
