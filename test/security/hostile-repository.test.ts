import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { toEnvironment } from '../../src/config/environment.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Approver, Question } from '../../src/core/approval.ts'
import { createRuntime, type Runtime } from '../../src/runtime.ts'
import { noSandbox } from '../support/skips.ts'
import { ATTEMPTS } from './sandbox-attempts.ts'
import { createHost, type Host } from './sandbox-host.ts'

// `npm test` is code of the repository, and nobody is asked before it runs. Whatever it tries, nothing gets out and
// nothing is kept without a yes.

interface Attacked {
  readonly host: Host
  readonly runtime: Runtime
  readonly questions: Question[]
  run(command: string): ReturnType<Runtime['call']>
}

async function attacked(answer: 'yes' | 'no'): Promise<Attacked> {
  const host = await createHost()
  const home = join(host.folder, 'home')
  const environment = toEnvironment(
    { HOME: home, PATH: process.env.PATH, XDG_STATE_HOME: join(host.folder, 'own-state') },
    { platform: process.platform, uid: process.getuid?.(), home },
  )
  mkdirSync(join(home, '.config/kogu'), { recursive: true })
  writeFileSync(
    join(home, '.config/kogu/config.toml'),
    '[[permissions.rules]]\npath = "hidden/**"\ndecision = "ask"\n',
  )
  const questions: Question[] = []
  const approver: Approver = {
    async ask(question) {
      questions.push(question)
      return answer === 'yes' ? { kind: 'once', user: 'kim' } : { kind: 'deny', user: 'kim' }
    },
  }
  const loaded = loadConfig({ cwd: host.workspace, environment })
  const runtime = await createRuntime({ loaded, environment, approver })
  onTestFinished(async () => {
    await runtime.close()
    await host.close()
  })
  const { PATH: _path, HOME: _home, ...env } = host.profile.env
  const run = (command: string) => runtime.call({ tool: 'run_command', input: { command, env } })
  return { host, runtime, questions, run }
}

const OUTSIDE = [
  '/etc/kogu-escape',
  '/usr/bin/kogu-escape',
  '/kogu-escape',
  '/tmp/kogu-escape',
  '/dev/shm/kogu-escape',
]
const GROUPS = [...new Set(ATTEMPTS.map(({ group }) => group))].filter(
  group => group !== 'ports' && group !== 'the relay',
)

test.skipIf(noSandbox !== '').each(GROUPS)(
  `the tests of a hostile repository do not get out: %s${noSandbox}`,
  async group => {
    const { host, run } = await attacked('no')
    const before = snapshot(host)
    const script = ATTEMPTS.filter(attempt => attempt.group === group)
      .map(
        ({ name, script }) =>
          `echo ${quote(name)}; timeout 20 bash --norc --noprofile -c ${quote(script)} 2> /dev/null`,
      )
      .join('\n')
    writeFileSync(join(host.workspace, 'attack.sh'), `${script}\ntrue\n`)
    writeFileSync(join(host.workspace, 'package.json'), '{"scripts":{"test":"bash attack.sh"}}\n')
    const result = await run('npm test')
    expect(result.decision.by).toBe('contained')
    const lines = result.text.split('\n')
    // The line before names the attempt. What is written to a place of its own, or to the layer, is gone with it, as the
    // snapshot shows.
    const escaped = lines.flatMap((line, index) => (line.endsWith('ESCAPED') ? [lines[index - 1] ?? ''] : []))
    if (group !== 'write outside' && group !== 'git and Kogu') expect(escaped).toEqual([])
    expect(snapshot(host)).toEqual(before)
    expect(OUTSIDE.filter(path => existsSync(path))).toEqual([])
    expect(result.text).not.toContain('TOPSECRET')
    expect(result.effects).toEqual([])
  },
)

test.skipIf(noSandbox !== '')(
  `a yes keeps no protected file, and no name that cannot be judged${noSandbox}`,
  async () => {
    const { host, run, questions } = await attacked('yes')
    const before = snapshot(host)
    const attempts = [
      'echo "[core]" > .git/config; echo x > ok',
      'mkdir -p .git/hooks; echo x > .git/hooks/post-checkout; echo x > ok',
      'rm -rf .git; echo x > ok',
      'mv .git old-git; mkdir .git; echo x > ok',
      'mkdir -p docs/objects docs/refs; echo ref > docs/HEAD; echo x > docs/config; echo x > ok',
      'ln -s .git/hooks plain; echo x > plain/post-merge; echo x > ok',
      `touch "$(printf 'bad\\377')"; echo x > ok`,
    ]
    for (const attempt of attempts) {
      writeFileSync(join(host.workspace, 'attack.sh'), `${attempt}\n`)
      const result = await run('bash attack.sh')
      expect({ attempt, effects: result.effects }).toEqual({ attempt, effects: [] })
      expect(snapshot(host)).toEqual(before)
      expect(existsSync(join(host.workspace, 'ok'))).toBe(false)
    }
    expect(questions).toEqual([])
    expect(readdirSync(join(host.workspace, '.kogu/overlays'))).toEqual([])
  },
)

test.skipIf(noSandbox !== '')(
  `a link is kept as a link, and leads no later change outside${noSandbox}`,
  async () => {
    const { host, run } = await attacked('yes')
    const outside = join(host.folder, 'outside')
    await run(`bash -c 'ln -s ${outside} away'`)
    const result = await run(`bash -c 'echo x > away/new; echo x > away/file'`)
    expect(result.effects).toEqual([])
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('untouched')
    expect(readdirSync(outside)).not.toContain('new')
  },
)

test.skipIf(noSandbox !== '')(
  `a huge sparse file is no reason to hang, and is not kept without a yes${noSandbox}`,
  async () => {
    const { host, run } = await attacked('no')
    const result = await run('truncate -s 1900M huge && truncate -s 500M other')
    expect(result.effects).toEqual([])
    expect(readdirSync(host.workspace)).not.toContain('huge')
  },
)

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** What must stay as it is, without Kogu's own state. */
function snapshot({ folder, workspace }: Host): Record<string, string> {
  const roots = [join(folder, 'outside'), join(folder, 'home'), join(folder, 'state')]
  const kept = ['.git', 'nested', 'hidden', 'kogu.toml'].map(name => join(workspace, name))
  return Object.fromEntries([...roots, ...kept].flatMap(root => contents(root)))
}

function contents(path: string): [string, string][] {
  const stat = lstatSync(path)
  if (stat.isFile()) return [[path, readFileSync(path, 'utf8')]]
  if (!stat.isDirectory()) return [[path, 'other']]
  return [[path, 'folder'], ...readdirSync(path).flatMap(name => contents(join(path, name)))]
}
