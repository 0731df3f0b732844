import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Answer, Question } from '../src/core/approval.ts'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'
import { noSandbox } from './support/skips.ts'

// What contained lines leave in build and cache folders that git ignores is not worth a question.

const opened: TestRuntime[] = []
afterEach(async () => {
  for (const kogu of opened.splice(0)) await kogu.close()
})

async function open(config: string, answer: Answer = { kind: 'once', user: 'kim' }) {
  const questions: Question[] = []
  const kogu = await openTestRuntime(config, {
    async ask(question) {
      questions.push(question)
      return answer
    },
  })
  opened.push(kogu)
  execFileSync('git', ['init', '-q'], { cwd: kogu.workspace })
  kogu.write('.gitignore', '__pycache__/\ndist\nnode_modules\n.venv\n*.tsbuildinfo\nlocal.mk\n')
  kogu.write('src/a.js', 'one\n')
  kogu.write('dist/index.js', 'old\n')
  const run = (command: string) => kogu.runtime.call({ tool: 'run_command', input: { command } })
  const read = (path: string): string | undefined => {
    const full = join(kogu.workspace, path)
    return existsSync(full) ? readFileSync(full, 'utf8') : undefined
  }
  return { kogu, questions, run, read }
}

const CACHES =
  'mkdir -p src/__pycache__ && echo x > src/__pycache__/a.pyc && echo y > a.tsbuildinfo && echo new > dist/index.js'
const DROPPED = '3 files in build and cache folders that git ignores: dropped.'

describe.skipIf(noSandbox !== '')(`output of builds${noSandbox}`, () => {
  test('is dropped without a question, and the result says so', async () => {
    const { questions, run, read } = await open('')
    const { text, error, decision } = await run(CACHES)
    expect([error, questions, decision.by]).toEqual([null, [], 'contained'])
    expect(text).toContain(DROPPED)
    expect([read('src/__pycache__/a.pyc'), read('a.tsbuildinfo'), read('dist/index.js')]).toEqual([
      undefined,
      undefined,
      'old\n',
    ])
  })

  test('is one line of the question about the rest', async () => {
    const { questions, run, read } = await open('')
    const { text } = await run(`${CACHES}; echo two > src/a.js`)
    expect(questions).toHaveLength(1)
    const shown = JSON.stringify(questions)
    expect(shown).toContain(DROPPED)
    expect(shown).toContain('src/a.js')
    expect(shown).not.toContain('a.tsbuildinfo (')
    expect(text).toContain(DROPPED)
    expect([read('src/a.js'), read('dist/index.js')]).toEqual(['two\n', 'old\n'])
  })

  test('is kept where the person says so, with one record to undo it', async () => {
    const { kogu, questions, run, read } = await open('[sandbox]\nbuild_output = "keep"\n')
    expect((await run(CACHES)).text).toContain('git ignores: kept.')
    expect(questions).toEqual([])
    expect([read('src/__pycache__/a.pyc'), read('dist/index.js')]).toEqual(['x\n', 'new\n'])
    await run('echo newer > dist/index.js; echo two > src/a.js')
    expect(questions).toHaveLength(1)
    expect([read('src/a.js'), read('dist/index.js')]).toEqual(['two\n', 'newer\n'])
    expect(
      (await kogu.runtime.call({ tool: 'run_command', input: { command: 'cat dist/index.js' } })).text,
    ).toBe('newer')
  })

  test('is not kept when the person refuses the rest', async () => {
    const { run, read } = await open('[sandbox]\nbuild_output = "keep"\n', { kind: 'deny', user: 'kim' })
    await run('echo newer > dist/index.js; echo two > src/a.js')
    expect([read('src/a.js'), read('dist/index.js')]).toEqual(['one\n', 'old\n'])
  })

  test.each(['ask', 'deny'])('is not kept against a rule that says %s', async decision => {
    const rule = `[[permissions.rules]]\ndecision = "${decision}"\ntool = "write_file"\npath = "dist/**"\n`
    const { kogu, questions, run, read } = await open(`[sandbox]\nbuild_output = "keep"\n${rule}`)
    kogu.write('build.sh', 'echo newer > dist/index.js; [ "$1" != all ] || echo two > src/a.js\n')
    await run('sh build.sh')
    expect([questions.length, read('dist/index.js')]).toEqual([0, 'old\n'])
    await run('sh build.sh all')
    expect([questions.length, read('src/a.js'), read('dist/index.js')]).toEqual([1, 'two\n', 'old\n'])
  })

  test('is asked about where the person says so', async () => {
    const { questions, run, read } = await open('[sandbox]\nbuild_output = "ask"\n')
    await run(CACHES)
    expect([questions.length, read('dist/index.js')]).toEqual([1, 'new\n'])
  })

  test('is kept in a mode that keeps it without asking', async () => {
    const { questions, run, read } = await open('mode = "accept-edits"\n')
    await run(CACHES)
    expect([questions, read('dist/index.js'), read('a.tsbuildinfo')]).toEqual([[], 'new\n', 'y\n'])
  })

  test('is nothing that is kept in the mode read-only, whatever the setting', async () => {
    const { run, read } = await open('mode = "read-only"\n[sandbox]\nbuild_output = "keep"\n')
    await run(CACHES)
    expect(read('dist/index.js')).toBe('old\n')
  })

  test.each([
    ['what git does not ignore', 'mkdir build && echo x > build/a'],
    ['ignored files that are no output', 'echo "all: ; evil" > local.mk'],
    ['programs of installed packages', 'mkdir -p node_modules/.bin && echo x > node_modules/.bin/tsc'],
    ['programs of a virtual environment', 'mkdir -p .venv/bin && echo x > .venv/bin/python'],
    ['deletions', 'rm -r dist'],
    ['links', 'ln -s /etc dist/x'],
    ['an ignore file of the command itself', 'mkdir build; echo build > .gitignore; echo x > build/a'],
  ])('is not %s', async (_, command) => {
    const { questions, run } = await open('[sandbox]\nbuild_output = "keep"\n')
    await run(command)
    expect(questions).toHaveLength(1)
    expect(JSON.stringify(questions)).not.toContain('git ignores')
  })

  test('is not what git tracks in an ignored folder', async () => {
    const { kogu, questions, run } = await open('')
    execFileSync('git', ['add', '-f', 'dist/index.js'], { cwd: kogu.workspace })
    await run('echo newer > dist/index.js')
    expect(questions).toHaveLength(1)
  })
})
