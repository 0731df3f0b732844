import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findUsableSystem } from '../src/sandbox/walls/detect-usable.ts'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'
import { folderOutsideTmp } from './support/outside-tmp.ts'

// The founding documents' own examples, as a user writes them.
const GH = `
[tools.custom.gh_create_issue]
description = "Create a GitHub issue"
command = "gh issue create --title {title} --body {body}"
risk_level = "high"

[tools.custom.gh_create_issue.parameters.title]
type = "string"
description = "Issue title"
required = true

[tools.custom.gh_create_issue.parameters.body]
type = "string"
description = "Issue body"
required = true
`
const BRANCHES = `
[tools.custom.list_branches]
description = "List git branches"
command = "git branch --list {pattern}"
risk_level = "low"

[tools.custom.list_branches.parameters.pattern]
type = "string"
description = "Branch name pattern"
required = false
`

let machine: Sandboxed
const left: string[] = []
beforeEach(() => {
  machine = createSandboxed()
})
afterEach(() => {
  machine.remove()
  for (const folder of left.splice(0)) rmSync(folder, { recursive: true })
})

function configure(toml: string): void {
  mkdirSync(join(machine.home, 'config', 'kogu'), { recursive: true })
  writeFileSync(join(machine.home, 'config', 'kogu', 'config.toml'), toml)
}

/** A stand-in for a program that writes its arguments down, one JSON list per call. */
function recorder(name: string): string {
  const bin = mkdtempSync(join(folderOutsideTmp(), 'bin-'))
  left.push(bin)
  writeFileSync(
    join(bin, name),
    `#!/usr/bin/env python3\nimport sys, json\nopen("argv.jsonl", "a").write(json.dumps(sys.argv[1:]) + chr(10))\nprint("recorded")\n`,
  )
  chmodSync(join(bin, name), 0o755)
  return bin
}

describe.skipIf(typeof findUsableSystem() === 'string')('custom tools', () => {
  test('are tools like any other: listed, with a schema, judged by what their command does', () => {
    configure(GH + BRANCHES)
    const listed = machine.json(['tools', 'show', 'gh_create_issue'])
    expect(listed).toMatchObject({
      risk: 'high',
      provider: 'custom',
      priority: 75,
      parameters: { required: ['title', 'body'] },
    })
    const missing = machine.json(['call', 'gh_create_issue', '{"title":"x"}'])
    expect(missing.error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining("'body'") })
  })

  test('list_branches runs without a question and takes its pattern or goes without', () => {
    configure(BRANCHES)
    machine.run([
      'call',
      'run_command',
      '{"command":"git init -q -b main . && git -c user.name=k -c user.email=k@k commit -q --allow-empty -m x && git branch topic"}',
      '--yes-once',
    ])
    expect(machine.json(['call', 'list_branches', '{}']).data).toMatchObject({
      success: true,
      stdout: '* main\n  topic\n',
    })
    expect(machine.json(['call', 'list_branches', '{"pattern":"to*"}']).data.stdout).toBe('  topic\n')
  })

  test('no value becomes anything but one argument', () => {
    configure(GH)
    const bin = recorder('gh')
    const hostile = [
      '; touch pwned',
      '$(touch pwned)',
      '`touch pwned`',
      "' ; touch pwned ; '",
      '" && touch pwned "',
      'a\nb',
      '--repo=evil/evil',
      '-',
      '',
      '*',
      '~',
      '{body}',
      '$HOME',
      '工具 ｆｕｌｌ',
    ]
    const calls = hostile.map(value => ({ tool: 'gh_create_issue', input: { title: value, body: value } }))
    const { stdout } = machine.run(['call', '--batch', '--yes-once'], {
      input: calls.map(call => JSON.stringify(call)).join('\n'),
      env: { PATH: `${bin}:${process.env.PATH}` },
    })
    expect(stdout).not.toContain('"ok":false')
    const recorded = readFileSync(join(machine.workspace, 'argv.jsonl'), 'utf8').trim().split('\n')
    expect(recorded.map(line => JSON.parse(line))).toEqual(
      hostile.map(value =>
        value.startsWith('-') && value.length > 1
          ? ['issue', 'create', `--title=${value}`, `--body=${value}`]
          : ['issue', 'create', '--title', value, '--body', value],
      ),
    )
  })
})

test('a command that fails is a no to scripts and pipelines, as with run_command', () => {
  configure('[tools.custom.missing]\ndescription = "x"\ncommand = "ls no-such-file"\nrisk_level = "low"\n')
  const { code, stdout } = machine.run(['call', 'missing', '{}', '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, data: { exit_code: 2, success: false } })
})

test('a template that cannot be used is an error with its line and column', () => {
  configure(
    '[tools.custom.x]\ndescription = "d"\ncommand = "sh -c {code}"\n[tools.custom.x.parameters.code]\n',
  )
  const { code, stderr } = machine.run(['tools', 'list'])
  expect(code).toBe(3)
  expect(stderr).toContain(
    "config.toml:3:18: Custom tool 'x': {code} can be any text, and 'sh' is not on the list of programs",
  )
})

test('a template that is written over several lines is pointed at in its own line', () => {
  configure('[tools.custom.x]\ndescription = "d"\ncommand = """\nls \\\n  -l {typo}\n"""\n')
  expect(machine.run(['tools', 'list']).stderr).toContain('config.toml:5:6: ')
})

test('kogu tools add writes a tool that works, and none that another one would hide', () => {
  const add = (name: string, command: string) => machine.run(['tools', 'add', name, '--command', command])
  expect(add('say', 'echo hi').code).toBe(0)
  expect(machine.json(['tools', 'test', 'say', '{}'])).toMatchObject({ access: [{ command: 'echo hi' }] })
  expect(add('Read', 'cat x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("The name 'Read' is taken by 'read_file' (builtin)."),
  })
})

test('better programs of the machine are suggested once each, with the line that makes tools of them', () => {
  const bin = recorder('fdfind')
  const list = (...more: string[]) => machine.run(['tools', 'list', ...more], { env: { PATH: bin } }).stderr
  expect(list('--set', 'tools.suggest_enhanced_tools=false')).not.toContain('detected')
  // Of what an agent may have put there no tool is made.
  const planted = machine.write('bin/jq', '')
  chmodSync(planted, 0o755)
  expect(machine.run(['tools', 'list'], { env: { PATH: dirname(planted) } }).stderr).not.toContain('detected')
  // What nobody was shown is not said yet.
  expect(list('-q')).not.toContain('detected')
  expect(list()).toMatch(/Enhanced tools detected on your system:\n {2}fd .*fd_search = "fd"\n/)
  expect(list()).not.toContain('detected')
  // Installed later: only what is new is said.
  writeFileSync(join(bin, 'jq'), '', { mode: 0o755 })
  expect(list()).toMatch(/detected on your system:\n {2}jq {2}is the tool json_query/)
  expect(list()).not.toContain('detected')
})

test('a tool that takes the place of another one says so, and whose place it takes; one that is off is marked', () => {
  configure(`
[tools.custom.jobs]
description = "Jobs"
command = "ls"
overrides = "command_list"
[tools.custom.lost]
description = "Replaces nothing"
command = "ls"
overrides = "command_lst"
[tools.delete_file]
enabled = false
`)
  const { stdout, stderr } = machine.run(['tools', 'list'])
  expect(stdout).toMatch(/^jobs +high +Execution +custom 75 > builtin -100 .* Jobs$/m)
  expect(stdout).toMatch(/^delete_file .* off: Delete$/m)
  expect(stderr).toContain("custom: the tool 'lost' replaces 'command_lst', which does not exist.")
  expect(machine.run(['tools', 'show', 'command_list']).stdout).toContain(
    'replaces command_list from builtin -100: the higher priority wins',
  )
})
