import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, PROGRAM, type Sandboxed } from './support/kogu.ts'
import { python, onTerminal as runOnTerminal, type Step } from './support/terminal.ts'

// The question in the terminal, on a real pseudo-terminal.

const why = python ? '' : ' (skipped: python3 is missing)'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
  // Command lines stand here for whatever is asked about before it runs.
  box.configure('[permissions]\ncommands = "ask"\n')
})
afterEach(() => box.remove())

function onTerminal(
  args: readonly string[],
  steps: readonly Step[],
  program?: readonly string[],
): { shown: string; code: number } {
  return runOnTerminal(box, args, steps, {}, program)
}

const write = (content: string, path = 'a.txt') => ['call', 'write_file', JSON.stringify({ path, content })]
const written = () => existsSync(join(box.workspace, 'a.txt'))

describe.skipIf(!python)(`a question in the terminal${why}`, () => {
  test('shows what would change and who asks, and takes a word for an answer', () => {
    const { shown, code } = onTerminal(write('hello\n'), [{ wait: 'Choose:', type: 'once\n' }])
    expect(shown).toContain('Approval   risk high   write_file')
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

  test('trusts an MCP server as it was shown, and is not asked where nothing is shown', () => {
    box.configure(`[mcp.demo]\ncommand = ["${process.execPath}", "-e", "process.exit(3)"]\n`)
    const status = () => box.json(['mcp', 'list'])[0].status
    expect(onTerminal(['mcp', 'trust', 'demo', '-q'], []).code).toBe(7)
    expect(onTerminal(['mcp', 'trust', 'demo'], [{ wait: 'exactly this?', type: '\n' }]).code).toBe(7)
    expect(status()).toBe('not trusted')
    const { shown } = onTerminal(['mcp', 'trust', 'demo'], [{ wait: 'exactly this?', type: 'y\n' }])
    expect(shown).toContain('"-e" "process.exit(3)"')
    expect(status()).toBe('trusted')
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

  test('takes y, n, and the number of an offer; a letter alone grants nothing, and nonsense is said to be', () => {
    const touch = (name: string, run = 'one') => [
      'call',
      'run_command',
      JSON.stringify({ command: `touch ${name}`, description: 'Makes a file for the test.' }),
      '--run',
      run,
    ]
    const first = onTerminal(touch('a.txt'), [
      { wait: 'Choose:', type: 'sure\n' },
      { wait: 'Not understood: sure', type: 'a\n' },
      { wait: 'Choose one', type: 'r\n' },
      { wait: 'Choose one', type: 'y\n' },
    ])
    expect(first.shown).toContain('The agent says: Makes a file for the test.')
    expect([first.code, written()]).toEqual([0, true])
    expect(box.json(['permissions', 'grants', 'list'])).toEqual([])
    expect(onTerminal(touch('b.txt'), [{ wait: 'Choose:', type: 'n\n' }]).code).toBe(6)
    // For this run: also in the next process of it, and in no other run.
    expect(onTerminal(touch('b.txt'), [{ wait: 'Choose:', type: 'r 2\n' }]).code).toBe(0)
    expect(box.run(touch('c.txt')).code).toBe(0)
    expect(box.run(touch('c.txt', 'two')).code).toBe(7)
  })

  test('a dangerous call needs its phrase for every kind of yes', () => {
    box.write('a.txt', 'keep me\n')
    const { code } = onTerminal(
      ['call', 'run_command', '{"command":"rm -r a.txt"}'],
      [
        { wait: 'Choose:', type: 'y\n' },
        { wait: 'type: approve run_command', type: 'session 1\n' },
        { wait: 'type: session 1 approve run_command', type: 'always 1\n' },
        { wait: 'type: always 1 approve run_command', type: 'n\n' },
      ],
    )
    expect([code, written()]).toEqual([6, true])
    expect(box.json(['permissions', 'grants', 'list'])).toEqual([])
  })

  test('shows a long change in pages, with its head on the screen', () => {
    const content = Array.from({ length: 200 }, (_, line) => `line ${line}.`).join('\n')
    const { shown } = onTerminal(write(content), [
      { wait: 'more lines: type m', type: 'm\n' },
      { wait: 'more lines: type m', type: 'n\n' },
    ])
    const [first = ''] = shown.split('Choose:')
    expect(first.split('\n').length).toBeLessThan(60)
    expect(shown).not.toContain('line 199.')
  })

  test('asks on the terminal although the calls come through a pipe', () => {
    const line = JSON.stringify({ tool: 'write_file', input: { path: 'a.txt', content: 'x' } })
    box.write('calls.jsonl', `${line}\n`)
    const quoted = [process.execPath, PROGRAM].map(word => `'${word}'`).join(' ')
    const plan = `${quoted} call --batch < calls.jsonl`
    const { shown } = onTerminal([], [{ wait: 'Choose:', type: 'y\n' }], ['/bin/sh', '-c', plan])
    expect(shown).toContain('"ok":true')
    expect(written()).toBe(true)
  })

  test('still listens after Ctrl-Z and fg', () => {
    const quoted = [process.execPath, PROGRAM, ...write('x')].map(word => `'${word}'`).join(' ')
    const { shown } = onTerminal(
      [],
      [
        { wait: 'bash-', type: `${quoted}\n` },
        { wait: 'Choose:', type: '\u001a' },
        { wait: 'topped', type: 'fg\n' },
        { wait: '> ', type: 'y\n' },
        { wait: 'Created', type: 'exit\n' },
      ],
      ['/bin/bash', '--norc', '--noprofile', '-i'],
    )
    expect(shown).toContain('Created a.txt')
    expect(written()).toBe(true)
  })
})
