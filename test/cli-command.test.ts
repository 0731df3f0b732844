import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'
import { noSandbox } from './support/skips.ts'

const ASKING = '[permissions]\ncommands = "ask"\n'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
  // About lines that only read, and those that a person approved before they ran; see contained.test.ts for the others.
  box.configure(ASKING)
  box.write('a.txt', 'hello\n')
  box.write('src/x.ts', 'const x = 1\n')
  box.write('.env', 'TOKEN=abc\n')
})
afterEach(() => box.remove())

const run = (command: string, ...flags: string[]) =>
  box.json(['call', 'run_command', JSON.stringify({ command }), ...flags])

describe.skipIf(noSandbox !== '')(`run_command${noSandbox}`, () => {
  test('runs what only reads at once, without a shell', () => {
    expect(run('ls src | wc -l').data).toMatchObject({ exit_code: 0, success: true, stdout: '1\n' })
    expect(run("printf '%s|' a 'b c' *.txt").data.stdout).toBe('a|b c|a.txt|')
    expect(run('cat nope.txt')).toMatchObject({ ok: true, data: { success: false, exit_code: 1 } })
    expect(run('grep zzz a.txt').data).toMatchObject({ exit_code: 1, exit_meaning: 'no line matched' })
  })

  test('reading a whole folder leaves out what may not be read', () => {
    const { data } = run('grep -rn . .')
    expect(data.stdout).toContain('hello')
    expect(data.stdout).not.toContain('TOKEN')
  })

  test('a line that only reads cannot write, whatever it is', () => {
    // Judged safe by its words; behind the walls it could not write even if that were wrong.
    expect(run('git log').data.exit_code).toBe(128)
    expect(existsSync(join(box.workspace, '.git'))).toBe(false)
  })

  test('what an approved command changes is recorded and can be undone', () => {
    const result = run(
      'rm -r src; echo changed >> a.txt; mkdir made; ln -s a.txt made/link; chmod 600 a.txt',
      '--yes-once',
    )
    expect(result).toMatchObject({ ok: true, data: { success: true } })
    expect(
      result.effects
        .map((e: { change: string; path: string }) => `${e.change} ${e.path.slice(box.workspace.length + 1)}`)
        .sort(),
    ).toEqual(['changed a.txt', 'created made', 'created made/link', 'deleted src', 'deleted src/x.ts'])
    expect(existsSync(join(box.workspace, 'src'))).toBe(false)
    expect(box.run(['undo', '--yes']).code).toBe(0)
    expect(readFileSync(join(box.workspace, 'a.txt'), 'utf8')).toBe('hello\n')
    expect(readFileSync(join(box.workspace, 'src/x.ts'), 'utf8')).toBe('const x = 1\n')
    expect(existsSync(join(box.workspace, 'made'))).toBe(false)
  })

  test('a preview shows the real difference and changes nothing', () => {
    const input = JSON.stringify({ command: 'sed -i s/hello/bye/ a.txt; touch b', preview: true })
    const result = box.json(['call', 'run_command', input, '--yes-once'])
    expect(result.text).toContain('preview')
    expect(result.effects).toEqual([])
    expect(result.data.would_change).toHaveLength(2)
    expect(readFileSync(join(box.workspace, 'a.txt'), 'utf8')).toBe('hello\n')
    expect(existsSync(join(box.workspace, 'b'))).toBe(false)
  })

  test('a command that is timed out leaves none of its effects', () => {
    const input = JSON.stringify({ command: 'echo x > a.txt; sleep 30', timeout_ms: 2000 })
    const result = box.json(['call', 'run_command', input, '--yes-once'])
    expect(result.data).toMatchObject({ timed_out: true, success: false })
    expect(result.text).toContain('would have changed')
    expect(readFileSync(join(box.workspace, 'a.txt'), 'utf8')).toBe('hello\n')
  })

  test('protected files stay as they are, however they are written', () => {
    box.run(['call', 'run_command', '{"command":"git init -q ."}', '--yes-once'])
    for (const script of [
      'p=.git/ho; o=oks; echo x > $p$o/pre-commit',
      'd=.vscode; mkdir $d; echo x > $d/tasks.json',
      'x=.kogu; echo > $x/config.toml',
    ]) {
      const result = run(script, '--yes-once')
      expect([script, result.ok && result.data.success]).toEqual([script, false])
    }
    expect(existsSync(join(box.workspace, '.git/hooks/pre-commit'))).toBe(false)
    expect(existsSync(join(box.workspace, '.vscode'))).toBe(false)
    expect(existsSync(join(box.workspace, '.kogu/config.toml'))).toBe(false)
  })

  test('git works, and its own files may change by git commands only', () => {
    expect(
      run(
        'git init -q . && git add a.txt && git -c user.name=k -c user.email=k@x commit -qm one',
        '--yes-once',
      ).data.success,
    ).toBe(true)
    expect(run('git log --oneline').data.stdout).toContain('one')
    expect(run('git config user.name kim', '--yes-once').data.success).toBe(true)
    const sneaky = run('f=.git/config; echo "[core]" >> $f', '--yes-once')
    expect(sneaky.error?.code).toBe('forbidden')
  })

  test('the folder and exported variables carry over within a run, and reset forgets them', () => {
    const inRun = (input: object) =>
      box.json(['call', 'run_command', JSON.stringify(input), '--yes-once', '--run', 'r1'])
    inRun({ command: 'cd src && export COLOUR=red PATH=/evil' })
    expect(inRun({ command: 'pwd; echo $COLOUR; echo $PATH' }).data.stdout).toMatch(/\/src\nred\n(?!.*evil)/)
    expect(inRun({ command: 'ls' }).data.stdout).toBe('x.ts\n')
    expect(inRun({ command: 'pwd; echo [$COLOUR]', reset: true }).data.stdout).toBe(`${box.workspace}\n[]\n`)
  })

  test('a run whose folder is gone goes on in the workspace; a named folder has to exist', () => {
    const inRun = (input: object) =>
      box.json(['call', 'run_command', JSON.stringify(input), '--yes-once', '--run', 'gone'])
    inRun({ command: 'mkdir -p short && cd short' })
    inRun({ command: 'rm -rf ../short' })
    expect(inRun({ command: 'pwd' }).data.stdout).toBe(`${box.workspace}\n`)
    expect(inRun({ command: 'pwd', working_dir: 'nope' }).error).toMatchObject({ code: 'not_found' })
  })

  test('a command sees no secret of the environment and no network', () => {
    const env = { GITHUB_TOKEN: 'ghp_0123456789abcdef0123456789abcdef0123' }
    const { stdout } = box.run(
      ['call', 'run_command', '{"command":"env; cat /proc/net/dev | grep -v lo: | wc -l"}', '--yes-once'],
      { env },
    )
    expect(stdout).not.toContain('ghp_')
    expect(stdout).toContain('KOGU_CALL=')
  })

  test('secrets in output are removed, and long output is kept beside', () => {
    const secret = run('echo ghp_0123456789abcdef0123456789abcdef0123')
    expect(secret.data.stdout).toContain('‹secret')
    const long = run('seq 1 100000', '--yes-once')
    expect(long.data.truncated).toBe(true)
    expect(long.text.length).toBeLessThan(40_000)
    const found = box.json([
      'call',
      'command_output',
      JSON.stringify({ id: long.call, search: '^5555.$', count: 20 }),
    ])
    expect(found.data.lines.map((line: { text: string }) => line.text)).toEqual(
      Array.from({ length: 10 }, (_, i) => `5555${i}`),
    )
  })

  test('a working folder outside the workspace is refused', () => {
    const input = JSON.stringify({ command: 'ls', working_dir: '..' })
    expect(box.run(['call', 'run_command', input]).code).toBe(2)
  })

  test('a background command survives the process that started it', () => {
    const start = box.json([
      'call',
      'run_command',
      '{"command":"for i in 1 2 3; do echo tick $i; sleep 0.2; done; sleep 60","background":true}',
      '--yes-once',
    ])
    const { id } = start.data
    expect(box.json(['call', 'command_list', '{}']).data.commands).toHaveLength(1)
    let output = ''
    for (let attempt = 0; attempt < 20 && !output.includes('tick 3'); attempt += 1) {
      output = box.json(['call', 'command_output', JSON.stringify({ id, wait_ms: 500 })]).text
    }
    expect(output).toContain('tick 3')
    expect(box.json(['call', 'command_stop', JSON.stringify({ id })]).data.running).toBe(false)
  })

  test('a background command cannot change the workspace, whatever it writes', () => {
    const names = ['kogu.toml', '.mcp.json', '.envrc', '.git/commondir', 'plain.txt']
    box.write(
      'evil.sh',
      `mkdir -p .vscode .git; for n in ${names.join(' ')}; do echo x > $n; done; echo ok > /tmp/own && cat /tmp/own; echo done`,
    )
    const start = box.json([
      'call',
      'run_command',
      JSON.stringify({ command: 'bash evil.sh', background: true }),
      '--yes-once',
    ])
    expect(start.text).toContain('cannot change the workspace')
    let output = ''
    for (let attempt = 0; attempt < 20 && !output.includes('ended'); attempt += 1) {
      output = box.json(['call', 'command_output', JSON.stringify({ id: start.data.id, wait_ms: 500 })]).text
    }
    expect(output).toMatch(/\tok\n.*\tdone\n/)
    for (const name of [...names, '.vscode', '.git']) {
      expect([name, existsSync(join(box.workspace, name))]).toEqual([name, false])
    }
  })

  test('leaving a command running and giving it input are not covered by a rule for the line', () => {
    box.configure(`${ASKING}[[permissions.rules]]\ndecision = "allow"\ncommand = ["touch", "**"]\n`)
    expect(run('touch made').data.success).toBe(true)
    for (const more of [{ background: true }, { stdin: 'x' }]) {
      const input = JSON.stringify({ command: 'touch made', ...more })
      expect([more, box.run(['call', 'run_command', input]).code]).toEqual([more, 7])
    }
  })

  test('git contents are asked about when any version holds a file that may not be read unasked', () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', box.workspace, '-c', 'user.name=k', '-c', 'user.email=k@x', ...args])
    const code = (command: string) => box.run(['call', 'run_command', JSON.stringify({ command })]).code
    git('init', '-q')
    git('add', 'a.txt', 'src')
    git('commit', '-qm', 'one')
    expect([code('git log -p'), code('git diff')]).toEqual([0, 0])
    git('add', '.env')
    git('commit', '-qm', 'two')
    expect([code('git log -p'), code('git show'), code('git log --oneline')]).toEqual([7, 7, 0])
    git('rm', '-q', '--cached', '.env')
    expect([code('git log -p'), code('git diff'), code('git log -p -- src')]).toEqual([7, 0, 0])
    writeFileSync(
      join(box.workspace, 'kogu.toml'),
      '[[permissions.rules]]\ndecision = "deny"\ntool = "read_file"\npath = "src/**"\n',
    )
    expect(code('git log -p')).toBe(7)
  })

  test('output that comes from outside the workspace is not trusted', () => {
    writeFileSync(join(box.home, 'outside'), 'x')
    expect(run('cat a.txt').label).toMatchObject({ origin: 'command', trusted: true })
    expect(run(`cat ${box.home}/outside`).label).toMatchObject({ origin: 'command', trusted: false })
  })

  test('what a rule forbids to write or delete stays, also inside an approved command', () => {
    box.write('locked/a', '1')
    writeFileSync(
      join(box.workspace, 'kogu.toml'),
      '[[permissions.rules]]\nid = "locked"\ndecision = "deny"\ntool = ["write_file", "delete_file"]\npath = "locked/**"\n',
    )
    box.write('x.sh', 'echo 2 > locked/a')
    box.write('y.sh', 'rm -r locked')
    for (const script of ['x.sh', 'y.sh']) {
      const { error } = run(`bash ${script}`, '--yes-once')
      expect(error).toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining("the rule 'locked'"),
      })
    }
    expect(readFileSync(join(box.workspace, 'locked/a'), 'utf8')).toBe('1')
  })

  test('what a rule forbids to read outside the workspace is not there for commands', () => {
    mkdirSync(join(box.home, 'private'))
    writeFileSync(join(box.home, 'private/x'), 'classified')
    mkdirSync(join(box.home, '.ssh'))
    writeFileSync(join(box.home, '.ssh/id'), 'key material')
    writeFileSync(
      join(box.workspace, 'kogu.toml'),
      '[[permissions.rules]]\ndecision = "deny"\ntool = "read_file"\npath = "~/private/**"\n',
    )
    box.write('x.sh', 'cat ../private/x ../.ssh/id')
    const { data } = run('bash x.sh; ls /', '--yes-once')
    expect(data.stdout).toContain('usr')
    expect(data.stdout).not.toMatch(/classified|key material/)
  })

  test('without a rule or an answer, nothing that writes runs', () => {
    writeFileSync(join(box.workspace, 'b.txt'), '')
    expect(box.run(['call', 'run_command', '{"command":"rm b.txt"}']).code).toBe(7)
    expect(box.run(['call', 'run_command', '{"command":"rm -rf /"}', '--yes-once']).code).toBe(6)
    expect(existsSync(join(box.workspace, 'b.txt'))).toBe(true)
  })
})
