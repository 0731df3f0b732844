import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, PROGRAM, type Sandboxed } from './support/kogu.ts'

// The question in the terminal, on a real pseudo-terminal.

const python = spawnSync('python3', ['--version']).status === 0
const why = python ? '' : ' (skipped: python3 is missing)'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
})
afterEach(() => box.remove())

type Step = { wait?: string; type?: string; eof?: boolean }

function onTerminal(args: readonly string[], steps: readonly Step[]): { shown: string; code: number } {
  const plan = {
    argv: [process.execPath, PROGRAM, ...args],
    cwd: box.workspace,
    env: { ...box.env, USER: 'kim' },
    steps,
  }
  const script = join(import.meta.dirname, 'support', 'terminal.py')
  const { stdout } = spawnSync('python3', [script, JSON.stringify(plan)], { encoding: 'utf8' })
  const lines = stdout.split('\n')
  return { shown: lines.slice(0, -1).join('\n'), code: Number(lines.at(-1)) }
}

const write = (content: string, path = 'a.txt') => ['call', 'write_file', JSON.stringify({ path, content })]
const written = () => existsSync(join(box.workspace, 'a.txt'))

describe.skipIf(!python)(`a question in the terminal${why}`, () => {
  test('shows what would change and who asks, and takes a word for an answer', () => {
    const { shown, code } = onTerminal(write('hello\n'), [{ wait: 'Choose:', type: 'once\n' }])
    expect(shown).toContain('write_file')
    expect(shown).toContain('+hello')
    expect(shown).toContain('mode-ask')
    expect(code).toBe(0)
    expect(written()).toBe(true)
  })

  test('is not answered by keys that were typed before it was there, nor by Enter alone', () => {
    const { code } = onTerminal(write('x'), [
      { type: 'once\nonce\nyes\nonc' },
      { wait: 'Choose:', type: 'e\n\n' },
      { type: 'deny\n' },
    ])
    expect(code).toBe(6)
    expect(written()).toBe(false)
  })

  test('is not approved by the end of input', () => {
    const { code } = onTerminal(write('x'), [{ wait: 'Choose:', eof: true }])
    expect(code).toBe(7)
    expect(written()).toBe(false)
  })

  test('can be refused with words for the agent', () => {
    const { shown, code } = onTerminal(write('x'), [{ wait: 'Choose:', type: 'tell use another name\n' }])
    expect(code).toBe(6)
    expect(shown).toContain('Denied by kim: use another name')
  })

  test('shows characters that hide or deceive', () => {
    const args = ['call', 'run_command', JSON.stringify({ command: 'rm -r "a\u202Eb\u200B\u001B[2K"' })]
    const { shown } = onTerminal(args, [{ wait: 'Choose:', type: 'deny\n' }])
    expect(shown).toContain('⟨U+202E⟩')
    expect(shown).toContain('⟨U+200B⟩')
    expect(shown).toContain('⟨U+001B⟩')
  })

  test('names the hosts that a command may contact', () => {
    const ask = (command: string) =>
      onTerminal(['call', 'run_command', JSON.stringify({ command })], [{ wait: 'Choose:', type: 'deny\n' }])
    expect(ask('curl https://api.example.com/x').shown).toContain(
      'It may contact api.example.com and no other host.',
    )
    expect(ask('curl $URL').shown).toContain('It may contact any public host.')
  })

  test('an answer that is to be remembered is not asked again', () => {
    const npm = ['call', 'run_command', '{"command":"touch made.txt"}']
    expect(onTerminal(npm, [{ wait: 'Choose:', type: 'always 2\n' }]).code).toBe(0)
    expect(box.run(npm).code).toBe(0)
    expect(box.run(['call', 'run_command', '{"command":"touch other.txt"}']).code).toBe(0)
    expect(box.run(['call', 'run_command', '{"command":"rm made.txt"}']).code).toBe(7)
    const [grant] = box.json(['permissions', 'grants', 'list'])
    expect(box.run(['permissions', 'grants', 'revoke', grant.id]).code).toBe(0)
    expect(box.run(npm).code).toBe(7)
    const log = box.json(['audit', 'list'])
    expect(log.map((event: { action?: string }) => event.action).filter(Boolean)).toEqual(['grant-revoked'])
    expect(log.filter((event: { type: string }) => event.type === 'approval-answered')).toMatchObject([
      { answer: 'permanent', grant: expect.stringContaining('touch') },
    ])
  })

  test('a dangerous command needs more than a word, and can be tried on a copy first', () => {
    box.write('a.txt', 'keep me\n')
    const { shown, code } = onTerminal(
      ['call', 'run_command', '{"command":"rm -r a.txt"}'],
      [
        { wait: 'Choose:', type: 'try\n' },
        { wait: 'would have', type: 'once\n' },
        { wait: 'approve run_command', type: 'deny\n' },
      ],
    )
    expect(shown).toContain('deleted')
    expect(code).toBe(6)
    expect(readFileSync(join(box.workspace, 'a.txt'), 'utf8')).toBe('keep me\n')
  })
})
