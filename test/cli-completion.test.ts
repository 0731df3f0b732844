import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMMANDS } from '../src/cli/commands.ts'
import { complete } from '../src/cli/completion/complete.ts'
import { BUILTIN_TOOLS } from '../src/cli/completion/names.ts'
import { SCRIPTS } from '../src/cli/completion/scripts.ts'
import { createOutput } from '../src/cli/output.ts'
import { createRunView } from '../src/cli/run-view.ts'
import { toEnvironment } from '../src/config/environment.ts'
import { createSandboxed, PROGRAM, type Sandboxed } from './support/kogu.ts'
import { openTestRuntime } from './support/runtime.ts'
import { onTerminal, python } from './support/terminal.ts'

let box: Sandboxed
beforeAll(() => {
  box = createSandboxed()
  box.configure('[tools.custom.count_lines]\ndescription = "x"\ncommand = "wc -l"\nrisk_level = "low"\n')
  box.write('.kogu/panels/reviewer.toml', '')
  box.write('.kogu/panels/$(touch x).toml', '')
  box.write('.kogu/pipelines/weekly.toml', '')
})
afterAll(() => box.remove())

/** A folder with the program under its name, as an installation puts it on the PATH. */
let installed: string
beforeAll(() => {
  installed = join(box.home, 'bin')
  mkdirSync(installed)
  writeFileSync(join(installed, 'kogu'), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`)
  chmodSync(join(installed, 'kogu'), 0o755)
  chmodSync(box.write('kogu', '#!/bin/sh\ntouch planted\n'), 0o755)
})

function has(shell: string): boolean {
  return existsSync(`/usr/bin/${shell}`)
}

function inShell(shell: string, args: readonly string[]) {
  const env = { ...box.env, PATH: `${installed}:${box.env.PATH}` }
  return spawnSync(shell, args, { cwd: box.workspace, env, encoding: 'utf8' })
}

async function words(...typed: string[]): Promise<string[]> {
  const host = { platform: process.platform, uid: process.getuid?.(), home: box.home }
  const found = await complete(typed, { environment: toEnvironment(box.env, host), cwd: box.workspace })
  return found.map(({ value }) => value)
}

describe('completion', () => {
  test('knows commands, their second words, options and their values', async () => {
    expect(await words('ru')).toEqual(['run', 'runs'])
    expect(await words('runs', 're')).toEqual(['resume', 'rerun', 'reject'])
    expect(await words('run', '--ma')).toEqual([
      '--max-turns',
      '--max-cost',
      '--max-tokens',
      '--max-time',
      '--max-calls',
    ])
    expect(await words('run', 'task', '--mode', 'a')).toEqual(['ask', 'accept-edits', 'auto'])
    expect(await words('runs', '--limit', '3', 's')).toEqual(['show', 'stop', 'say'])
    expect(await words('no-such', '')).toEqual([])
  })

  test('knows the names that are there now', async () => {
    expect(await words('call', 'read')).toEqual(['read_file'])
    expect(await words('explain', 'count')).toEqual(['count_lines'])
    expect(await words('pipeline', 'run', '')).toEqual(['weekly'])
    expect(await words('config', 'get', 'limits.max')).toEqual(['limits.max_turns', 'limits.max_time'])
    expect(await words('run', '--model', 'anthropic/claude-h')).toEqual(['anthropic/claude-haiku-4-5'])
  })

  test('never offers a word that a shell would read as more than a word', async () => {
    expect(await words('run', '--panel', '')).toEqual(['reviewer'])
  })

  test('names every built-in tool, and no second word that does not exist', async () => {
    const { runtime, close } = await openTestRuntime('')
    const builtin = runtime.registry.list().filter(({ provider }) => provider.id === 'builtin')
    expect(new Set(BUILTIN_TOOLS)).toEqual(new Set(builtin.map(({ tool }) => tool.name)))
    await close()
    for (const [name, { verbs = [], load }] of Object.entries(COMMANDS)) {
      const { help } = await load()
      for (const verb of verbs) expect(help, `kogu ${name} ${verb}`).toMatch(new RegExp(`\\b${verb}\\b`))
    }
  })

  test('says nothing when anything is wrong', () => {
    box.write('.kogu/config.toml', 'broken =')
    expect(box.run(['__complete', '--', 'call', 'r'])).toEqual({ code: 0, stdout: '', stderr: '' })
    box.write('.kogu/config.toml', '')
  })

  test('works in bash, for the installed program only', () => {
    const script = `source <(kogu completion bash)
      COMP_WORDS=(./kogu audit ver) COMP_CWORD=2; _kogu ./kogu; printf '%s\\n' "\${COMPREPLY[@]}"; ls`
    const { stdout } = inShell('bash', ['-c', script])
    expect(stdout.split('\n')).toEqual(['verify', 'kogu', ''])
  })

  test.skipIf(!has('fish'))(`works in fish${has('fish') ? '' : ' (skipped: there is no fish)'}`, () => {
    const script = 'kogu completion fish | source; complete -C "kogu audit ver"; complete -C "kogu runs re"'
    const { stdout } = inShell('fish', ['--no-config', '-c', script])
    expect(stdout.split('\n')).toEqual(['verify', 'reject', 'rerun', 'resume', ''])
  })

  test.skipIf(!has('zsh'))(`works in zsh${has('zsh') ? '' : ' (skipped: there is no zsh)'}`, () => {
    // What the line editor of zsh does with what the function finds.
    const script = `compdef() {}; compadd() { print -rl -- $values }; source <(kogu completion zsh)
      words=(kogu audit ver) CURRENT=3; _kogu; words=(kogu runs re) CURRENT=3; _kogu`
    const { stdout } = inShell('zsh', ['-f', '-c', script])
    expect(stdout.split('\n')).toEqual(['verify', 'resume', 'rerun', 'reject', ''])
  })

  test('is there for four shells', () => {
    expect(Object.keys(SCRIPTS)).toEqual(['bash', 'zsh', 'fish', 'powershell'])
    expect(box.run(['completion', 'tcsh']).code).toBe(2)
  })
})

describe('the program without arguments', () => {
  test.skipIf(!python)('shows on a terminal where one is and what could be next', () => {
    const { shown, code } = onTerminal(box, [], [])
    expect(code).toBe(0)
    expect(shown).toContain(`workspace  ${box.workspace}  mode ask`)
    expect(shown).toContain('model      none')
    expect(shown).toContain('kogu run "…"')
  })

  test('is a mistake in a script', () => {
    const { code, stdout } = box.run([])
    expect([code, stdout]).toEqual([2, expect.stringContaining('Commands')])
  })
})

test('--plain says with words what symbols say otherwise', () => {
  const said: string[] = []
  const stream = { write: (text: string) => said.push(text) } as unknown as NodeJS.WriteStream
  for (const plain of [false, true]) {
    const options = { json: false, quiet: false, plain, color: 'auto' as const, wantsColor: false }
    const view = createRunView(createOutput({ ...options, stdout: stream, stderr: stream }), () => undefined)
    view.show({ type: 'call.waiting', call: 'c', tool: 'write_file', approval: 'q-1' })
  }
  expect(said).toEqual([
    '  ⧗ write_file waits for approval: kogu approvals show q-1\n',
    '  waiting: write_file waits for approval: kogu approvals show q-1\n',
  ])
})
