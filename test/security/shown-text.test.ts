import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandboxed, PROGRAM, type Sandboxed } from '../support/kogu.ts'

// A model, a repository and whoever names a file choose text that Kogu shows. None of it may steer the terminal, hide, or
// pass for a line of Kogu's own: looked at in the raw bytes of every output.

/** A new line that looks like a question, an erased screen, reversed and invisible text, and the end of a sequence. */
const EVIL = 'x\u001B[2J\u202Eevil\u200B\u009B1m\r\nApproval   FAKE\nChoose: y\u0007'

const STEERING = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/

/** Our own colours, on a terminal. */
const PAINT = /\x1b\[(?:[12]|22|3[1-6]|39)m/g

function expectHarmless(shown: string): void {
  expect(shown.match(STEERING)?.[0]?.codePointAt(0)?.toString(16)).toBeUndefined()
  const forged = shown.split('\n').filter(line => /^(Approval {3}FAKE|Choose: y$)/.test(line))
  expect(forged).toEqual([])
}

const toml = (text: string): string => JSON.stringify(text)

let box: Sandboxed
beforeAll(() => {
  box = createSandboxed()
  box.write(
    '.kogu/config.toml',
    `[[permissions.rules]]
id = ${toml(EVIL)}
decision = "ask"
tool = "read_file"
path = ["secret/**"]
reason = ${toml(EVIL)}

[[permissions.rules]]
id = ${toml(`${EVIL}2`)}
decision = "deny"
tool = "write_file"
path = [${toml(`${EVIL.replace('[', '\\[')}/**`)}]
reason = ${toml(EVIL)}
`,
  )
  box.write('secret/a.txt', 'a\n')
  box.write(`${EVIL.replaceAll('/', '')}.txt`, EVIL)
})
afterAll(() => box.remove())

const json = (value: object): string => JSON.stringify(value)
const NAME = `${EVIL.replaceAll('/', '')}.txt`

describe('no output obeys or is forged by foreign text', () => {
  test.each([
    ['explain', 'read_file', json({ path: 'secret/a.txt' })],
    ['explain', 'write_file', json({ path: `${EVIL}/a`, content: EVIL })],
    ['explain', 'run_command', json({ command: `rm -r '${EVIL}'` })],
    ['explain', EVIL, '{}'],
    ['permissions', 'list'],
    ['permissions', 'lint'],
    ['permissions', 'test', 'read_file', json({ path: 'secret/a.txt' })],
    ['permissions', 'test', 'run_command', json({ command: EVIL })],
    ['permissions', EVIL],
    ['permissions', 'explain', EVIL],
    ['permissions', 'grants', 'revoke', EVIL],
    ['call', 'read_file', json({ path: 'secret/a.txt' })],
    ['call', 'read_file', json({ path: EVIL })],
    ['call', 'read_file', json({ [EVIL]: 1 })],
    ['call', 'write_file', json({ path: `${EVIL}/a`, content: EVIL })],
    ['call', 'edit_file', json({ path: NAME, old_string: `${EVIL} not there`, new_string: 'x' })],
    ['call', 'run_command', json({ command: `rm -r '${EVIL}'`, description: EVIL })],
    ['call', 'delete_file', json({ path: NAME })],
    ['call', EVIL, '{}'],
    ['call', 'read_file', EVIL],
    ['config', 'list'],
    ['config', 'validate'],
    ['config', 'trust'],
    ['config', 'get', EVIL],
    ['config', 'list', '-c', `${EVIL}=1`],
    ['tools', 'show', EVIL],
    ['tools', EVIL],
    ['doctor'],
    ['audit', 'show', EVIL],
    ['audit', EVIL],
    ['undo', EVIL],
    ['changes', EVIL],
    ['changes', '--run', EVIL],
    [EVIL],
    ['call', `--${EVIL}`],
    ['call', '--mode', EVIL],
    ['--config', join('/', EVIL), 'config', 'list'],
  ])('command %#', (...args) => {
    const { stdout, stderr } = box.run(args)
    expectHarmless(stdout)
    expectHarmless(stderr)
  })

  test('what is recorded is harmless when it is listed, undone and exported', () => {
    const call = (tool: string, input: object) =>
      box.json(['call', tool, json(input), '--yes-once', '--run', 'work'])
    expect(call('write_file', { path: `dir/${NAME}`, content: EVIL }).ok).toBe(true)
    call('read_file', { path: EVIL })
    call('run_command', { command: `printf '%s' '${EVIL}' > out.txt` })
    for (const args of [['audit', 'list'], ['audit', 'verify'], ['changes'], ['undo', '--dry-run']]) {
      const { stdout, stderr } = box.run(args)
      expect(stdout).not.toBe('')
      expectHarmless(stdout)
      expectHarmless(stderr)
    }
    const { call: id } = call('delete_file', { path: `dir/${NAME}` })
    for (const args of [
      ['audit', 'show', id],
      ['permissions', 'explain', id],
      ['undo', id, '--yes'],
    ]) {
      expectHarmless(box.run(args).stdout)
    }
    writeFileSync(join(box.workspace, 'rules.toml'), '[[permissions.rules]]\ndecision = "deny"\ntool = "*"\n')
    const { stdout } = box.run(['permissions', 'dry-run', '--file', 'rules.toml'])
    expect(stdout).toContain('decisions would change')
    expectHarmless(stdout)
  })

  const python = spawnSync('python3', ['--version']).status === 0
  test.skipIf(!python)('the question on a terminal, its offers and its previews', () => {
    const script = join(import.meta.dirname, '..', 'support', 'terminal.py')
    const ask = (tool: string, input: object): string => {
      const plan = {
        argv: [process.execPath, PROGRAM, 'call', tool, json(input)],
        cwd: box.workspace,
        env: { ...box.env, USER: 'kim' },
        steps: [
          { wait: 'Choose:', type: 'a\n' },
          { wait: 'Choose one', type: 'view\n' },
          { wait: '> ', type: 'deny\n' },
        ],
      }
      const { stdout } = spawnSync('python3', [script, JSON.stringify(plan)], { encoding: 'utf8' })
      // The line editor's own sequences; what is typed and the carriage returns of the terminal.
      return stdout
        .replaceAll(PAINT, '')
        .replaceAll(/\x1b\[\d*[GJ]/g, '')
        .replaceAll('\r', '')
    }
    for (const shown of [
      ask('read_file', { path: 'secret/a.txt' }),
      ask('run_command', { command: `touch 'a${EVIL}'`, description: EVIL }),
      ask('write_file', { path: `other/${NAME}`, content: EVIL }),
    ]) {
      expect(shown).toContain('Choose one')
      expectHarmless(shown)
    }
  })
})
