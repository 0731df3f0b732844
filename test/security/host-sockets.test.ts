import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createPerson, IN_TMP, OWN_USER, type Person, USERS } from './person.ts'

const made: { person?: Person; daemons: ChildProcess[] } = { daemons: [] }
afterEach(() => {
  for (const daemon of made.daemons.splice(0)) daemon.kill('SIGKILL')
  made.person?.remove()
  rmSync(`${made.person?.home}-socket`, { force: true })
})

/** A daemon of the host that lets everybody in; its folder is where the name is relative to. */
async function listen(folder: string, name: string, user = OWN_USER): Promise<void> {
  const program = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
s.listen(9)
print('ready', flush=True)
while True:
  c, _ = s.accept()
  c.sendall(b'REACHED')
  c.close()
`
  const daemon = spawn('python3', ['-c', program, name], {
    cwd: folder,
    uid: user,
    gid: user,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  made.daemons.push(daemon)
  await new Promise(resolve => daemon.stdout.once('data', resolve))
}

const CONNECT = (paths: readonly string[]): string => `python3 - <<'END'
import socket
for path in ${JSON.stringify(paths)}:
  s = socket.socket(socket.AF_UNIX)
  s.settimeout(2)
  try:
    s.connect(path)
    print(path, s.recv(9))
  except OSError as error:
    pass
own = socket.socket(socket.AF_UNIX)
own.bind('/tmp/own')
own.listen(1)
print('made its own')
END`

for (const { user, why } of USERS)
  describe.skipIf(why !== '')(`Unix sockets, as user ${user}${why}`, () => {
    test('an approved command reaches no daemon of the host, and may make sockets of its own', async () => {
      const person = createPerson({ user })
      made.person = person
      for (const name of ['.docker/run/x', '.colima/x', 'elsewhere/x', 'work/x']) person.write(name, '')
      const outside = `${person.home}-socket`
      const sockets = [
        join(person.home, '.docker/run/docker.sock'),
        join(person.home, '.colima/docker.sock'),
        join(person.home, 'elsewhere/agent.sock'),
        join(person.home, 'top.sock'),
        join(person.workspace, 'editor.sock'),
        outside,
      ]
      for (const socket of sockets) await listen('/', socket)
      await listen(join(person.home, 'elsewhere'), 'relative.sock', user)
      const all = [...sockets, join(person.home, 'elsewhere/relative.sock')]
      expect(person.approve(CONNECT(all)).data.stdout).toBe('made its own\n')
    })

    test('nor does one in the background, nor one whose workspace lies in /tmp', async () => {
      const person = createPerson({ user, base: IN_TMP })
      made.person = person
      const socket = join(person.workspace, 'editor.sock')
      await listen('/', socket)
      const { data } = person.approve(CONNECT([socket]), { input: { background: true } })
      const read = () =>
        person.kogu(['call', 'command_output', JSON.stringify({ id: data.id, wait_ms: 3000 })])
      let output = read()
      while (output.data.running !== false) output = read()
      expect(output.text).toContain('made its own')
      expect(output.text).not.toContain('REACHED')
    })
  })
