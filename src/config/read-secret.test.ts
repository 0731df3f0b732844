import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareOutside } from '../sandbox/outside-program.ts'
import { createProcesses } from '../sandbox/processes/processes.ts'
import { toEnvironment } from './environment.ts'
import { describeSecret, readSecret, type SecretReference } from './read-secret.ts'

// Programs that stand for a password manager and the keychains of two systems.

const processes = createProcesses({ spawner: 'direct' })
let home: string

beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-secret-')))
  mkdirSync(join(home, 'bin'))
  program('secret-tool', '[ "$*" = "lookup service kogu anthropic" ] && echo from-the-linux-keychain')
  program('security', '[ "$*" = "find-generic-password -w -s kogu anthropic" ] && echo from-the-mac-keychain')
  program('pass', '[ "$1" = show ] && printf "first line\\n\\n" || exit 3')
  writeFileSync(join(home, 'key'), 'from-a-file\n')
})
afterAll(async () => {
  await processes.close()
  rmSync(home, { recursive: true, force: true })
})

function program(name: string, body: string): void {
  writeFileSync(join(home, 'bin', name), `#!/bin/sh\n${body}\n`)
  chmodSync(join(home, 'bin', name), 0o755)
}

function read(reference: SecretReference, platform: NodeJS.Platform = 'linux'): Promise<string | undefined> {
  const variables = { HOME: home, PATH: `${home}/bin:/usr/bin:/bin`, MY_KEY: ' from-the-environment ' }
  const environment = toEnvironment(variables, { platform, uid: process.getuid?.(), home })
  const outside = { workspace: join(home, 'work'), safePlace: '/safe', env: environment.variables }
  const prepare = (command: readonly string[]) =>
    prepareOutside(command, { ...outside, writable: [join(home, 'work')] })
  return readSecret(reference, environment, { processes, prepare })
}

test('a key comes from the environment, a file, a keychain or a command', async () => {
  expect(await read({ env: 'MY_KEY' })).toBe('from-the-environment')
  expect(await read({ env: 'NO_KEY' })).toBeUndefined()
  expect(await read({ file: '~/key' })).toBe('from-a-file')
  expect(await read({ keychain: 'kogu anthropic' })).toBe('from-the-linux-keychain')
  expect(await read({ keychain: 'kogu anthropic' }, 'darwin')).toBe('from-the-mac-keychain')
  expect(await read({ command: ['pass', 'show', 'anthropic'] })).toBe('first line')
})

test('a place without a key fails, and says no more than which program it was', async () => {
  await expect(read({ keychain: 'unknown' })).rejects.toThrow(
    'The command secret-tool gave no secret (exit code 1).',
  )
  await expect(read({ command: ['pass', 'rm'] })).rejects.toThrow(
    'The command pass gave no secret (exit code 3).',
  )
  await expect(read({ command: ['no-such-program'] })).rejects.toThrow('was not found')
  await expect(read({ file: '~/missing' })).rejects.toThrow('ENOENT')
})

test('a program that an agent could have written is not run for a key', async () => {
  mkdirSync(join(home, 'work'))
  program('../work/key', `touch ${home}/ran; echo stolen`)
  await expect(read({ command: [join(home, 'work/key')] })).rejects.toThrow('where an agent can write')
  await expect(read({ command: ['/bin/sh', join(home, 'work/key')] })).rejects.toThrow(
    'where an agent can write',
  )
  expect(existsSync(join(home, 'ran'))).toBe(false)
})

test('people are shown the place and never the key', () => {
  expect(describeSecret({ command: ['pass', 'show', 'anthropic'] })).toBe('command pass')
  expect(describeSecret({ keychain: 'kogu' })).toBe('keychain kogu')
})
