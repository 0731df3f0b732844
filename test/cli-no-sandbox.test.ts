import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findUsableSystem } from '../src/sandbox/walls/detect-usable.ts'
import { createSandboxed, PROGRAM, type Sandboxed } from './support/kogu.ts'

// The program on machines without a sandbox: bubblewrap is not there, or it may not make namespaces.

const root = process.getuid?.() === 0
const MACHINES = {
  'bubblewrap is missing': [
    ['unshare', ...(root ? [] : ['--user', '--map-root-user']), '--mount', 'sh', '-c'],
    'for p in /usr/bin/bwrap /bin/bwrap /usr/local/bin/bwrap; do if [ -e $p ]; then mount --bind /dev/null $p || exit 90; fi; done; exec "$@"',
    'The program bwrap is not installed',
  ],
  // Its own rights are taken away: root that has them needs no user namespace.
  'namespaces are forbidden': [
    ['unshare', '--user', '--map-root-user', 'sh', '-c'],
    'echo 0 > /proc/sys/user/max_user_namespaces || exit 90; exec setpriv --bounding-set=-all --inh-caps=-all "$@"',
    'does not let Kogu make user namespaces',
  ],
} as const

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
  box.write('a.txt', 'hello\n')
})
afterEach(() => box.remove())

describe.each(Object.entries(MACHINES))('where %s', (_, [start, script, reason]) => {
  const [file, ...before] = start
  const inside = (argv: readonly string[]) =>
    spawnSync(file, [...before, script, 'sh', ...argv], {
      cwd: box.workspace,
      env: box.env,
      encoding: 'utf8',
      input: '',
    })
  const kogu = (...args: string[]) => inside([process.execPath, PROGRAM, ...args])
  const call = (command: string, ...flags: string[]) => {
    const { status, stdout } = kogu('call', 'run_command', JSON.stringify({ command }), '--json', ...flags)
    return { code: status, ...JSON.parse(stdout) }
  }
  const configure = (text: string): void => {
    mkdirSync(join(box.home, 'config/kogu'), { recursive: true })
    writeFileSync(join(box.home, 'config/kogu/config.toml'), text)
  }
  const possible = spawnSync(file, [...before, script, 'sh', 'true']).status === 0

  test.skipIf(!possible)('lines that only read run, and say that there is no sandbox', () => {
    const result = call('cat a.txt | wc -l')
    expect(result).toMatchObject({ ok: true, data: { stdout: '1\n' } })
    expect(result.decision.notes[0]).toContain(reason)
    expect(result.text).toContain('It ran without a sandbox')
  })

  test.skipIf(!possible)('nothing else runs by a rule, a grant or without somebody to ask', () => {
    expect(call('touch made').error.message).toContain('without a sandbox always needs an approval')
    configure('[[permissions.rules]]\ndecision = "allow"\ntool = "run_command"\n')
    expect(call('touch made')).toMatchObject({
      code: 7,
      error: { code: 'needs_approval', message: expect.stringContaining('without a sandbox') },
    })
    expect(call('touch made', '--mode', 'auto')).toMatchObject({ code: 6, error: { code: 'denied' } })
    expect(existsSync(join(box.workspace, 'made'))).toBe(false)
    const approved = call('touch made', '--yes-once')
    expect(approved).toMatchObject({ ok: true, decision: { by: 'user' } })
    expect(approved.decision.notes[0]).toContain('cannot be undone')
    expect(existsSync(join(box.workspace, 'made'))).toBe(true)
  })

  test.skipIf(!possible)('a sandbox that is required refuses all of them', () => {
    configure('[sandbox]\nrequired = true\n')
    for (const command of ['touch made', 'ls']) {
      expect([command, call(command, '--yes-once').error.code]).toEqual([command, 'forbidden'])
    }
    expect(existsSync(join(box.workspace, 'made'))).toBe(false)
    expect(kogu('doctor').status).toBe(1)
  })

  test.skipIf(!possible)('the doctor says so, and what follows', () => {
    const { stdout } = kogu('doctor')
    expect(stdout).toContain(reason)
    expect(stdout).toContain('ask every time, whatever rules and grants say')
    expect(stdout).toMatch(/warn +isolate +.*in an isolate without a sandbox around it: /)
  })

  test.skipIf(!possible)(
    'a script cannot be held to what it declares, so every call asks and says so',
    () => {
      box.write('.kogu/scripts/say.sh', '# kogu tool\n# description = "d"\n# risk = "low"\ntouch made\n')
      configure('[[permissions.rules]]\ndecision = "allow"\ntool = "say"\n')
      const { sha256 } = JSON.parse(kogu('tools', 'trust', 'say', '--json').stdout)
      expect(kogu('tools', 'trust', 'say', sha256).status).toBe(0)
      const say = (...flags: string[]) => JSON.parse(kogu('call', 'say', '{}', '--json', ...flags).stdout)
      expect(say().error).toMatchObject({
        code: 'needs_approval',
        message: expect.stringContaining('without a sandbox'),
      })
      expect(existsSync(join(box.workspace, 'made'))).toBe(false)
      expect(say('--yes-once').decision.notes[0]).toContain(
        'It can read, change and contact whatever you can',
      )
    },
  )

  test.skipIf(!possible)('tools that models write run in the isolate alone, and say so', () => {
    const code = 'function execute(p) { return p.text + typeof process }'
    const tool = { name: 'lonely', description: 'd', code }
    const made = kogu('call', 'create_tool', JSON.stringify(tool), '--yes-once')
    expect(made.stdout).toContain('without a sandbox around its isolate')
    expect(kogu('call', 'lonely', '{"text":"a "}', '--yes-once').stdout).toBe('a undefined\n')
  })
})

test.skipIf(typeof findUsableSystem() === 'string')('walls that are there are not taken for missing', () => {
  const { stdout } = box.run(['doctor'])
  expect(stdout).not.toContain('no sandbox')
  expect(stdout).toMatch(/ok +isolate +tools that models write run in an isolate, behind the sandbox/)
})
