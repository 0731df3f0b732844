import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createPerson, type Person, USERS } from './person.ts'

const made: { people: Person[]; programs: ChildProcess[] } = { people: [], programs: [] }
afterEach(() => {
  for (const program of made.programs.splice(0)) program.kill('SIGKILL')
  for (const person of made.people.splice(0)) person.remove()
})

function personWithSecrets(user: number, workspace?: string): Person {
  const person = createPerson({ user, ...(workspace === undefined ? {} : { workspace }) })
  made.people.push(person)
  for (const name of SECRETS) person.write(name, 'SECRET')
  person.write('.config/tool/settings', 'settings\n')
  person.write('.local/bin/tool', '#!/bin/sh\necho tool\n')
  person.write('.bashrc', 'echo shell\n')
  return person
}

const SECRETS = [
  '.netrc',
  '.git-credentials',
  '.docker/config.json',
  '.config/gh/hosts.yml',
  '.ssh/id_ed25519',
]

/** As an editor, `docker login` or git does: a new file, renamed into place, again and again. */
function keepSaving({ home }: Person): void {
  const lines = SECRETS.map(name => `echo SECRET > .new && mv .new ${name}`).join('; ')
  made.programs.push(
    spawn('/bin/sh', ['-c', `while :; do ${lines}; sleep 0.05; done`], {
      cwd: home,
      stdio: 'ignore',
    }),
  )
}

const WATCH = `for i in $(seq 8); do
  cat ${SECRETS.map(name => `~/${name}`).join(' ')} 2>/dev/null | grep -q SECRET && echo STOLEN && break
  sleep 0.1
done
cat ~/.config/tool/settings; ~/.local/bin/tool; . ~/.bashrc`

const USABLE = 'settings\ntool\nshell\n'

for (const { user, why } of USERS)
  describe.skipIf(why !== '')(`secrets in the home, as user ${user}${why}`, () => {
    test('stay hidden when the person saves them while a command runs; the rest of the home is there', () => {
      const person = personWithSecrets(user)
      keepSaving(person)
      expect(person.approve(WATCH).data.stdout).toBe(USABLE)
    })

    test('stay hidden from commands in the background', () => {
      const person = personWithSecrets(user)
      keepSaving(person)
      const { data } = person.approve(WATCH, { input: { background: true } })
      const later = readWhenOver(person, data.id)
      expect(later.text).toContain('shell')
      expect(later.text).not.toContain('STOLEN')
    })

    test('the home and what is in it cannot be changed, and the denial names what was hidden', () => {
      const person = personWithSecrets(user)
      const { data } = person.approve('cat ~/.netrc; touch ~/new ~/.config/new')
      expect(data).toMatchObject({ stdout: '', exit_code: 1, denial: { kind: 'read' } })
      expect(data.stderr.match(/Read-only file system/g)).toHaveLength(2)
    })

    test('a missing cache is there, also deep in the home, and nothing is made on the host', () => {
      const person = personWithSecrets(user)
      person.write(
        '.config/kogu/config.toml',
        '[sandbox]\nwritable_caches = ["~/.npm", "~/.local/share/pnpm/store"]\n',
      )
      const script =
        'echo x > ~/.npm/a && echo y > ~/.local/share/pnpm/store/b && cat ~/.npm/a ~/.local/share/pnpm/store/b; ls -A ~/.local'
      expect(person.approve(script).data.stdout).toBe('x\ny\nbin\nshare\nstate\n')
      expect(readdirSync(person.home)).not.toContain('.npm')
      expect(readdirSync(join(person.home, '.local')).sort()).toEqual(['bin', 'state'])
    })

    test('the home may be the workspace, or be reached by a link', () => {
      const inside = personWithSecrets(user, '.')
      expect(
        inside.approve('cat .config/gh/hosts.yml | grep -c SECRET; echo x > made; cat made').data.stdout,
      ).toBe('0\nx\n')
      const person = personWithSecrets(user)
      const link = `${person.home}-link`
      symlinkSync(person.home, link)
      try {
        expect(person.approve(`cat ${link}/.netrc; HOME=${link}; ${USE}`).data.stdout).toBe(USABLE)
      } finally {
        unlinkSync(link)
      }
    })
  })

const USE = 'cat $HOME/.config/tool/settings; $HOME/.local/bin/tool; . $HOME/.bashrc'

function readWhenOver(person: Person, id: string) {
  for (;;) {
    const output = person.kogu(['call', 'command_output', JSON.stringify({ id, wait_ms: 500 })])
    if (output.data?.running !== true) return output
  }
}
