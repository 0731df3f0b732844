import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
  box.write('a.txt', 'hello\n')
})
afterEach(() => box.remove())

/** The person's own configuration. */
function configure(toml: string): void {
  mkdirSync(join(box.home, 'config/kogu'), { recursive: true })
  writeFileSync(join(box.home, 'config/kogu/config.toml'), toml)
}

const read = ['call', 'read_file', '{"path":"a.txt"}']

describe('hooks', () => {
  const hook = (event: string, script: string, timeout = '5s') =>
    configure(
      `[[hooks]]\nevent = "${event}"\ncommand = ["bash", "-c", ${JSON.stringify(script)}]\ntimeout = "${timeout}"\n`,
    )

  test('get the call on standard input and may refuse it with a reason', () => {
    hook('pre_tool_call', `grep -q '"tool":"read_file".*a.txt' && echo '{"veto":"not today"}'`)
    const result = box.json(read)
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'denied' },
      decision: { by: 'hook', reason: 'not today' },
    })
  })

  test.each([
    ['fails', 'exit 3', '5s'],
    ['hangs', 'sleep 20', '300ms'],
    ['answers nonsense', 'echo nonsense', '5s'],
    ['answers too much', 'head -c 1000000 /dev/zero', '5s'],
  ])('that %s refuses the call', (_, script, timeout) => {
    hook('pre_tool_call', script, timeout)
    expect(box.run(read).code).toBe(6)
  })

  test('that has nothing to say lets the call go on', () => {
    hook('pre_tool_call', 'cat > /dev/null')
    expect(box.run(read).code).toBe(0)
  })

  test('after the call may replace what is seen, and withhold it by failing', () => {
    hook('post_tool_call', `echo '{"text":"replaced"}'`)
    expect(box.json(read)).toMatchObject({ ok: true, text: 'replaced', data: null })
    hook('post_tool_call', 'exit 1')
    const withheld = box.run(read)
    expect(withheld.code).toBe(1)
    expect(withheld.stdout).not.toContain('hello')
  })

  test.each(['pre_tool_call', 'post_tool_call'])(
    'that an agent could have written does not run: %s',
    event => {
      box.write('scripts/may-call', '#!/bin/sh\ntouch ran\n')
      configure(`[[hooks]]\nevent = "${event}"\ncommand = ["sh", "scripts/may-call"]\n`)
      expect(box.json(read)).toMatchObject({
        ok: false,
        error: { code: 'denied' },
        decision: { by: 'hook', reason: expect.stringContaining('where an agent can write') },
      })
      expect(existsSync(join(box.workspace, 'ran'))).toBe(false)
    },
  )
})

describe('rules', () => {
  test('prove their own examples, or nothing runs and the place is named', () => {
    configure(
      '[[permissions.rules]]\nid = "r"\ndecision = "allow"\ntool = "run_command"\ncommand = ["git", "status"]\nmatch = ["git log"]\n',
    )
    const { code, stderr } = box.run(read)
    expect(code).toBe(3)
    expect(stderr).toMatch(/config\.toml:1.*does not match its example 'git log'/s)
    expect(box.run(['config', 'validate']).code).toBe(3)
  })

  test('that mix files and commands are refused', () => {
    configure('[[permissions.rules]]\ndecision = "deny"\npath = ["x"]\ncommand = ["rm", "**"]\n')
    expect(box.run(read).code).toBe(3)
  })

  test('that can never decide anything are found by lint', () => {
    configure(
      [
        '[[permissions.rules]]\nid = "no"\ndecision = "deny"\ntool = "write_file"\npath = ["docs/**"]',
        '[[permissions.rules]]\nid = "yes"\ndecision = "allow"\ntool = "write_file"\npath = ["docs/**"]',
        '[[permissions.rules]]\nid = "old"\ndecision = "ask"\ntool = "read_file"\npath = ["x"]\nexpires = 2020-01-01',
        '[[permissions.rules]]\nid = "typo"\ndecision = "deny"\ntool = "raed_file"',
      ].join('\n'),
    )
    expect(box.run(['permissions', 'lint']).code).toBe(3)
    const kinds = box
      .json(['permissions', 'lint'])
      .map((f: { rule: string; kind: string }) => `${f.rule} ${f.kind}`)
    expect(kinds.sort()).toEqual(['old expired', 'typo unknown-tool', 'yes contradiction'])
  })

  test('that name a tool nobody offers yet are told of wherever the configuration is checked', () => {
    configure('[[permissions.rules]]\nid = "late"\ndecision = "deny"\ntool = "github__createIssue"\n')
    const sentence = "Rule 'late': there is no tool 'github__createIssue' now."
    expect(box.run(['config', 'validate'])).toMatchObject({ code: 0 })
    expect(box.run(['config', 'validate']).stderr).toContain(sentence)
    expect(box.run(['doctor']).stdout).toContain(sentence)
    expect(box.run(['permissions', 'lint']).stdout).toContain(sentence)
  })

  test('in the ordered form stop at the first match, and an allow holds only where the file really is', () => {
    configure(
      '[permissions]\ndefault_action = "ask"\n[[permissions.rule]]\ntool = "Write"\npattern = "docs/secret*"\naction = "deny"\n[[permissions.rule]]\ntool = "write_file"\npattern = "docs/*"\naction = "allow"\n',
    )
    const decide = (path: string) =>
      box.json(['explain', 'write_file', JSON.stringify({ path, content: '' })]).decision
    expect([decide('docs/a'), decide('docs/secret.md'), decide('src/a'), decide('docs/../x')]).toEqual([
      'allow',
      'deny',
      'ask',
      'ask',
    ])
  })

  test('answer scripts by exit code', () => {
    const code = (command: string) =>
      box.run(['permissions', 'test', 'run_command', JSON.stringify({ command }), '--exit-code']).code
    expect([code('ls'), code('git push'), code('rm -rf /')]).toEqual([0, 20, 21])
  })
})

describe('a dry run', () => {
  test('of unchanged rules changes nothing; of others it says what would', () => {
    box.run(read)
    box.run(['call', 'write_file', '{"path":"b.txt","content":"x"}', '--mode', 'accept-edits'])
    box.run(['call', 'write_file', '{"path":"c.txt","content":"x"}', '--yes-once'])
    box.run(['call', 'run_command', '{"command":"ls"}'])
    const same = box.write('same.toml', '')
    expect(box.json(['permissions', 'dry-run', '--file', same])).toMatchObject({
      calls: 4,
      changed: [],
      transitions: {},
    })
    const strict = box.write(
      'strict.toml',
      '[[permissions.rules]]\ndecision = "deny"\ntool = "read_file"\npath = ["a.txt"]\n[[permissions.rules]]\ndecision = "allow"\ntool = "write_file"\npath = ["c.txt"]\n',
    )
    const report = box.json(['permissions', 'dry-run', '--file', strict])
    expect(report.transitions).toEqual({ 'allow->deny': 1, 'ask->allow': 1 })
    expect(box.run(['permissions', 'dry-run', '--file', strict, '--fail-on', 'allow->deny']).code).toBe(3)
    const mode = box.json(['permissions', 'dry-run', '--mode', 'read-only'])
    expect(mode.transitions).toEqual({ 'allow->deny': 1, 'ask->deny': 1 })
  })
})
