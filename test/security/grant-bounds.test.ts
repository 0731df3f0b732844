import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Answer, Approver, Question } from '../../src/core/approval.ts'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'
import { noSandbox } from '../support/skips.ts'

// What a person answers is bound to what the question showed: the folder, the values, the options. One notion of where a
// command acts, from the question to the grant to the run.

let box: TestRuntime
let questions: Question[]
let answer: (question: Question) => Answer

const approver: Approver = {
  ask: async question => {
    questions.push(question)
    return answer(question)
  },
}
const once = (): Answer => ({ kind: 'once', user: 'kim' })
/** The offer of this number, from the narrowest on. */
const always =
  (offer: number) =>
  ({ offers }: Question): Answer => {
    const grant = offers[offer]?.id
    return grant === undefined ? { kind: 'deny', user: 'kim' } : { kind: 'permanent', user: 'kim', grant }
  }

beforeEach(async () => {
  questions = []
  answer = once
  // The answers are about lines that are asked about before they run.
  box = await openTestRuntime('[permissions]\ncommands = "ask"\n', approver)
})
afterEach(() => box.close())

async function call(command: string, more: Record<string, unknown> = {}, run = 'one') {
  const before = questions.length
  const result = await box.runtime.call({ tool: 'run_command', input: { command, ...more }, run })
  return { ...result, asked: questions.slice(before) }
}

describe.skipIf(noSandbox !== '')(`the folder${noSandbox}`, () => {
  test('the question names the folder in which the command acts, after cd and with working_dir', async () => {
    box.write('build/a', '')
    box.write('src/build/b', '')
    await call('cd src && touch x')
    const { asked } = await call('rm -r build')
    expect(asked[0]?.cwd).toBe(join(box.workspace, 'src'))
    expect(existsSync(join(box.workspace, 'src/build'))).toBe(false)
    expect(existsSync(join(box.workspace, 'build'))).toBe(true)
    symlinkSync('src', join(box.workspace, 'link'))
    box.write('src/build/b', '')
    const linked = await call('rm -r build', { working_dir: 'link' }, 'two')
    expect(linked.asked[0]?.cwd).toBe(join(box.workspace, 'src'))
  })

  test('an exact answer for one folder does not cover the same words in another', async () => {
    for (const folder of ['a', 'b']) box.write(`${folder}/build/x`, '')
    box.write('build/x', '')
    answer = always(0)
    expect((await call('rm -r build')).asked).toHaveLength(1)
    answer = once
    await call('cd a && touch y')
    expect((await call('rm -r build')).asked).toHaveLength(1)
    expect((await call('rm -r build', { working_dir: 'b' }, 'two')).asked).toHaveLength(1)
    box.write('build/x', '')
    expect((await call('rm -r build', {}, 'three')).asked).toHaveLength(0)
  })

  test('nor the same words once a link leads elsewhere, or a variable stands for something else', async () => {
    mkdirSync(join(box.workspace, 'a'))
    mkdirSync(join(box.workspace, 'b'))
    symlinkSync('a', join(box.workspace, 'out'))
    answer = always(0)
    await call('touch out/x')
    expect((await call('touch out/x')).asked).toHaveLength(0)
    await call('rm out && ln -s b out')
    expect((await call('touch out/x')).asked).toHaveLength(1)
    await call('export DEST=a')
    await call('touch "$DEST/y"')
    expect((await call('touch "$DEST/y"')).asked).toHaveLength(0)
    await call('export DEST=b')
    expect((await call('touch "$DEST/y"')).asked).toHaveLength(1)
  })

  test('a wider answer holds in its folder only, however the line goes elsewhere', async () => {
    for (const folder of ['', 'evil/']) {
      box.write(`${folder}package.json`, '{"scripts":{"build":"true"}}')
    }
    answer = always(1)
    await call('npm run build')
    answer = () => ({ kind: 'deny', user: 'kim' })
    expect((await call('npm run build', {}, 'two')).asked).toHaveLength(0)
    for (const line of [
      'cd evil && npm run build',
      'cd evil; npm run build',
      '(cd evil && npm run build)',
      'npm run build --prefix evil',
      'npm run build -C evil',
      'npm run build --script-shell=./x',
      'env -C evil npm run build',
    ]) {
      expect([line, (await call(line, {}, 'two')).asked.length]).toEqual([line, 1])
    }
    expect((await call('npm run build', { working_dir: 'evil' }, 'two')).asked).toHaveLength(1)
  })
})

describe.skipIf(noSandbox !== '')(`values and options${noSandbox}`, () => {
  test('files that are read count like those that are written', async () => {
    box.write('a/x', '')
    mkdirSync(join(box.home, 'app'))
    writeFileSync(join(box.home, 'app/secret.txt'), 'x')
    answer = always(1)
    await call('tar cf a.tar a')
    answer = () => ({ kind: 'deny', user: 'kim' })
    expect((await call('tar cf b.tar a')).asked).toHaveLength(0)
    symlinkSync('../app', join(box.workspace, 'link'))
    for (const line of ['tar cf a.tar ../app', 'tar cf a.tar link/secret.txt', 'tar cf a.tar -C .. app']) {
      expect([line, (await call(line)).asked.length]).toEqual([line, 1])
    }
  })

  test('nor is a path elsewhere, whatever the program does with it', async () => {
    box.write('package.json', '{"scripts":{"test":"true"}}')
    symlinkSync('/etc', join(box.workspace, 'etclink'))
    answer = always(1)
    await call('npm test')
    answer = () => ({ kind: 'deny', user: 'kim' })
    expect((await call('npm test src/a.test.ts')).asked).toHaveLength(0)
    for (const line of [
      'npm test ../x.js',
      'npm test /etc/passwd',
      'npm test ..',
      'npm test etclink/passwd',
    ]) {
      expect([line, (await call(line)).asked.length]).toEqual([line, 1])
    }
  })

  test('options that the question did not show are not covered', async () => {
    answer = always(1)
    await call('git fetch origin')
    answer = () => ({ kind: 'deny', user: 'kim' })
    for (const line of [
      "git fetch --upload-pack='touch x' origin",
      "git fetch origin --upload-pack='touch x'",
      "git fetch --upload-p='touch x' origin",
      "git fetch 'ext::touch x'",
      'git fetch -c core.sshCommand=x origin',
      'git fetch --all',
    ]) {
      expect([line, (await call(line)).asked.length]).toEqual([line, 1])
    }
    answer = always(1)
    const { asked } = await call("git fetch --upload-pack='touch x' origin")
    expect(asked[0]?.offers).toHaveLength(1)
  })

  test('a variable is shown with its value, and an answer holds for that value', async () => {
    answer = always(1)
    const first = await call('npm test', { env: { NODE_OPTIONS: '--max-old-space-size=100' } })
    expect(first.asked[0]?.preview).toContain('NODE_OPTIONS="--max-old-space-size=100"')
    answer = () => ({ kind: 'deny', user: 'kim' })
    expect(
      (await call('npm test', { env: { NODE_OPTIONS: '--max-old-space-size=100' } })).asked,
    ).toHaveLength(0)
    expect((await call('npm test', { env: { NODE_OPTIONS: '--require=./x.js' } })).asked).toHaveLength(1)
  })

  test('neither values nor input are in what is recorded', async () => {
    const { asked } = await call('cat', { stdin: 'hunter2-input', env: { TOKEN: 'hunter2-value' } })
    expect(asked[0]?.preview).toContain('hunter2-input')
    expect(JSON.stringify(asked[0]?.access)).not.toContain('hunter2')
    const explained = await box.runtime.explain({
      tool: 'run_command',
      input: { command: 'cat', stdin: 'hunter2-input', env: { TOKEN: 'hunter2-value' } },
    })
    expect(JSON.stringify(explained)).not.toContain('hunter2')
  })
})

describe.skipIf(noSandbox !== '')(`files that a line starts${noSandbox}`, () => {
  test('a yes for ever to a line is none to what its script says later', async () => {
    box.write('s.sh', 'echo one')
    answer = always(0)
    await call('bash s.sh', { network: ['build.invalid'] })
    answer = () => ({ kind: 'deny', user: 'kim' })
    expect((await call('bash s.sh', { network: ['build.invalid'] })).asked).toHaveLength(0)
    box.write('s.sh', 'echo two')
    expect((await call('bash s.sh', { network: ['build.invalid'] })).asked).toHaveLength(1)
  })
})

describe.skipIf(noSandbox !== '')(`variables of the run${noSandbox}`, () => {
  test('carry over only where the line itself says their value', async () => {
    box.write('env.sh', 'export PYTEST_PLUGINS=evil TF_CLI_ARGS=-x LATER=b PLAIN=1\n')
    for (const line of [
      '. ./env.sh',
      'source env.sh; export PLAIN',
      'eval "$(cat env.sh)"',
      'set -a; . ./env.sh',
      'export LATER=$(echo b)',
      'read -r LATER < env.sh; export LATER',
      // The line says one value, the file another one.
      'export LATER=a; . ./env.sh',
    ])
      await call(line)
    expect((await call('env | grep -cE "PYTEST|TF_|LATER|PLAIN"')).data).toMatchObject({ stdout: '0\n' })
    await call('export STAGE=test && touch x')
    expect((await call('echo $STAGE')).data).toMatchObject({ stdout: 'test\n' })
  })

  test('are shown in every later question, and an answer holds for their values', async () => {
    answer = always(0)
    await call('npm test')
    answer = always(1)
    await call('cargo build')
    answer = () => ({ kind: 'deny', user: 'kim' })
    for (const line of ['npm test', 'cargo build']) expect((await call(line)).asked).toHaveLength(0)
    answer = once
    await call('export STAGE=prod')
    answer = () => ({ kind: 'deny', user: 'kim' })
    for (const line of ['npm test', 'cargo build', 'cargo build src']) {
      const { asked } = await call(line)
      expect([line, asked[0]?.reasons.join(' ')]).toEqual([line, expect.stringContaining('STAGE="prod"')])
    }
    const { asked } = await call('ls')
    expect(asked).toHaveLength(0)
  })
})

describe.skipIf(noSandbox !== '')(`scratch folders${noSandbox}`, () => {
  test('do not lift the write scope for a link in a workspace that lies in /tmp', async () => {
    // The folders of these tests lie in /tmp.
    expect(box.workspace.startsWith('/tmp/')).toBe(true)
    symlinkSync('/etc', join(box.workspace, 'etclink'))
    symlinkSync(box.home, join(box.workspace, 'homelink'))
    for (const line of ['touch etclink/x', 'echo x > etclink/x', 'cp a.txt etclink/', 'rm etclink/hosts']) {
      const { error, asked } = await call(line)
      expect([line, error?.code, asked.length]).toEqual([line, 'forbidden', 0])
    }
    const { error, asked } = await call('touch x', { working_dir: 'etclink' })
    expect([error?.code, asked.length]).toEqual(['invalid_input', 0])
  })
})

describe.skipIf(noSandbox !== '')(`settings of run_command${noSandbox}`, () => {
  test('the restricted profile holds for every call, and limits are those of the configuration', async () => {
    await box.close()
    box = await openTestRuntime(
      '[tools.run_command]\nprofile = "restricted"\nallowed_commands = ["ls", "seq", "sleep"]\ntimeout = "1s"\nmax_output = 2000\n',
      approver,
    )
    expect((await call('cat a.txt')).error?.message).toContain(
      "Command 'cat' is not in the allowed command list. Allowed: ls, seq, sleep",
    )
    expect((await call('ls; cat a.txt')).error?.message).toContain("forbidden shell metacharacter ';'")
    expect((await call('ls; cat a.txt', { profile: 'shell' })).error?.code).toBe('forbidden')
    expect((await call('ls')).error).toBeNull()
    const { data } = await call('seq 5000')
    expect(data).toMatchObject({ truncated: true })
    expect(Buffer.byteLength((data as { stdout: string }).stdout)).toBeLessThan(2500)
    expect((await call('sleep 30', { timeout_ms: 20_000 })).data).toMatchObject({ timed_out: true })
  })
})
