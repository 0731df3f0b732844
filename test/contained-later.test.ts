import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type GivenAnswer, laterApprover } from '../src/core/approval.ts'
import type { CallResult } from '../src/core/call.ts'
import { openTestRuntime, reopenTestRuntime, type TestRuntime } from './support/runtime.ts'
import { noSandbox } from './support/skips.ts'

// The changes of a contained line may wait for hours: the layer is on the disk, its digest in the question.

const opened: TestRuntime[] = []
afterEach(async () => {
  for (const kogu of opened.splice(0).reverse()) await kogu.close()
})

async function open(config = ''): Promise<TestRuntime> {
  const kogu = await openTestRuntime(config, laterApprover)
  opened.push(kogu)
  kogu.write('a.txt', 'one\n')
  kogu.write('dist/old', 'old\n')
  return kogu
}

/** Another Kogu in the same workspace, as if the first had been killed or had gone home. */
async function another(kogu: TestRuntime): Promise<TestRuntime> {
  const other = await reopenTestRuntime(kogu, laterApprover)
  opened.push(other)
  return other
}

const LINE = 'echo two > a.txt; rm -r dist; mkdir -p dist/new; echo x > dist/new/x; echo printed; exit 3'
const YES: GivenAnswer = { kind: 'once', user: 'kim' }

async function leave(kogu: TestRuntime, command = LINE): Promise<string> {
  const result = await kogu.runtime.call({ tool: 'run_command', input: { command } })
  expect(result).toMatchObject({ ok: false, error: { code: 'needs_approval' } })
  if (result.question === undefined) throw new Error('no question')
  return result.question
}

const layers = ({ workspace }: TestRuntime): string[] => readdirSync(join(workspace, '.kogu/overlays'))
const contentOf = (kogu: TestRuntime, path: string): string =>
  readFileSync(join(kogu.workspace, path), 'utf8')
const dataOf = (result: CallResult): unknown => result.data

describe.skipIf(noSandbox !== '')(`changes that wait for an answer${noSandbox}`, () => {
  test('are shown by the question, and kept by another process after the yes, without running again', async () => {
    const kogu = await open()
    const id = await leave(kogu)
    expect(contentOf(kogu, 'a.txt')).toBe('one\n')
    const [question] = await kogu.runtime.listQuestions()
    expect(question).toMatchObject({ id, subject: { kind: 'changes' }, input: { command: LINE } })
    expect(question?.preview).toContain('-one\n+two')
    expect(layers(kogu)).toEqual([question?.subject.kind === 'changes' ? question.subject.layer : ''])
    // What can be remembered is what was offered about the changes, not about the line; one folder is said once.
    const offers = await kogu.runtime.offersOf(id)
    expect(offers.map(offer => offer.id)).toEqual(question?.offers.map(offer => offer.id))
    expect(offers[0]?.label).toBe(`exactly this: the same changes by run_command ${LINE}`)
    expect(offers.at(-1)?.label.match(/every file of this workspace/g)).toHaveLength(1)
    const other = await another(kogu)
    await other.runtime.recover()
    await other.runtime.answerQuestion(id, YES)
    const result = await other.runtime.continueCall(id)
    expect(result).toMatchObject({ ok: true, decision: { by: 'user' } })
    expect(dataOf(result)).toMatchObject({ exit_code: 3, changes_kept: true, stdout: 'printed\n' })
    expect(contentOf(kogu, 'a.txt')).toBe('two\n')
    expect(readdirSync(join(kogu.workspace, 'dist'))).toEqual(['new'])
    expect(layers(kogu)).toEqual([])
    expect(await other.runtime.listQuestions()).toEqual([])
  })

  test('name every entry, and say what is not shown: no text, or too long', async () => {
    const kogu = await open()
    for (let index = 0; index < 300; index += 1) kogu.write(`many/${index}`, '')
    const id = await leave(
      kogu,
      "rm -r many; printf 'a\\0b' > b.bin; ln -s /etc l; echo あ > あ.txt; chmod +x a.txt",
    )
    const [{ preview = '', subject } = {}] = await kogu.runtime.listQuestions()
    expect(subject).not.toHaveProperty('isCut')
    expect(preview.match(/^ {2}many\/\d+$/gm)).toHaveLength(300)
    expect(preview).toContain('new b.bin (3 bytes, content not shown)')
    expect(preview).toContain('link l -> /etc')
    expect(preview).toContain('+++ b/あ.txt')
    await kogu.runtime.answerQuestion(id, { kind: 'deny', user: 'kim' })
    await kogu.runtime.continueCall(id)
    const long = await leave(
      kogu,
      'for i in 1 2 3; do yes line | head -c 400000 > $i.txt; done; echo small > z.txt',
    )
    const [question] = await kogu.runtime.listQuestions()
    // Two of the three have room; the small one is shown wherever it stands.
    expect(question?.preview?.match(/^ {2}new \d\.txt \(.*content not shown\)$/gm)).toHaveLength(1)
    expect(question?.preview).toMatch(/^What is not shown can be read in \/.*\/upper$/m)
    expect(question?.preview).toContain('+small')
    await kogu.runtime.answerQuestion(long, YES)
    expect(dataOf(await kogu.runtime.continueCall(long))).toMatchObject({ changes_kept: true })
  })

  test('are thrown away after a no, with the output kept', async () => {
    const kogu = await open()
    const id = await leave(kogu)
    await kogu.runtime.answerQuestion(id, { kind: 'deny', user: 'kim' })
    const result = await kogu.runtime.continueCall(id)
    expect(dataOf(result)).toMatchObject({ changes_kept: false, stdout: 'printed\n' })
    expect(contentOf(kogu, 'a.txt')).toBe('one\n')
    expect(layers(kogu)).toEqual([])
  })

  test('are stale when a file that they touch was changed meanwhile', async () => {
    const kogu = await open()
    const id = await leave(kogu)
    kogu.write('a.txt', 'by a person\n')
    await kogu.runtime.answerQuestion(id, YES)
    expect(await kogu.runtime.continueCall(id)).toMatchObject({ ok: false, error: { code: 'stale' } })
    expect(contentOf(kogu, 'a.txt')).toBe('by a person\n')
    expect(layers(kogu)).toEqual([])
  })

  test('are not led elsewhere by a link that took the place of a folder', async () => {
    const kogu = await open()
    const id = await leave(kogu, 'echo x >> dist/old; echo y > dist/fresh')
    const outside = join(kogu.home, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'old'), 'old\n')
    rmSync(join(kogu.workspace, 'dist'), { recursive: true })
    symlinkSync(outside, join(kogu.workspace, 'dist'))
    await kogu.runtime.answerQuestion(id, YES)
    expect((await kogu.runtime.continueCall(id)).ok).toBe(false)
    expect(readdirSync(outside)).toEqual(['old'])
    expect(readFileSync(join(outside, 'old'), 'utf8')).toBe('old\n')
  })

  test('are gone when their layer was tampered with, or is gone', async () => {
    const kogu = await open()
    const id = await leave(kogu)
    const [layer = ''] = layers(kogu)
    writeFileSync(join(kogu.workspace, '.kogu/overlays', layer, 'upper/a.txt'), 'three\n')
    await kogu.runtime.answerQuestion(id, YES)
    expect(await kogu.runtime.continueCall(id)).toMatchObject({ ok: false, error: { code: 'stale' } })
    expect(contentOf(kogu, 'a.txt')).toBe('one\n')
    const second = await leave(kogu, 'echo four > a.txt')
    for (const name of layers(kogu)) rmSync(join(kogu.workspace, '.kogu/overlays', name), { recursive: true })
    await kogu.runtime.answerQuestion(second, YES)
    expect(await kogu.runtime.continueCall(second)).toMatchObject({ ok: false, error: { code: 'stale' } })
  })

  test('are thrown away when their question has expired', async () => {
    const kogu = await open('[permissions]\napproval_timeout = "1s"\n')
    await leave(kogu)
    expect(layers(kogu).length).toBe(1)
    const other = await another(kogu)
    // Nobody answers; the next start finds that the time is over.
    while ((await other.runtime.listQuestions()).length > 0)
      await new Promise(resolve => setTimeout(resolve, 50))
    const third = await another(kogu)
    expect(await third.runtime.recover()).toEqual([])
    expect(layers(kogu)).toEqual([])
    expect(contentOf(kogu, 'a.txt')).toBe('one\n')
  })

  test('go on in their run, in another process, as they were: the line does not run again', async () => {
    const kogu = await open()
    const run = 'night'
    const line = 'date +%s%N > stamp'
    const callIn = ({ runtime }: TestRuntime, id: string) =>
      runtime.callAll([{ id, run, tool: 'run_command', input: { command: line } }])
    const [asked] = await callIn(kogu, 'call_night.1.0')
    const stamp = readFileSync(join(kogu.workspace, '.kogu/overlays', layers(kogu)[0] ?? '', 'upper/stamp'))
    const other = await another(kogu)
    // Nobody has answered yet: the same question waits, about the same layer.
    expect(await callIn(other, 'call_night.1.0')).toMatchObject([{ question: asked?.question }])
    expect(layers(kogu)).toHaveLength(1)
    await other.runtime.answerQuestion(asked?.question ?? '', YES)
    const [done] = await callIn(await another(kogu), 'call_night.1.0')
    expect(done).toMatchObject({ ok: true, decision: { by: 'user' } })
    expect(readFileSync(join(kogu.workspace, 'stamp'))).toEqual(stamp)
    // What has changed since is asked about as it is now.
    const { question } = await kogu.runtime.call({
      ...{ id: 'call_night.2.0', run, tool: 'run_command', input: { command: line } },
    })
    kogu.write('stamp', 'by a person\n')
    await kogu.runtime.answerQuestion(question ?? '', YES)
    const [again] = await callIn(await another(kogu), 'call_night.2.0')
    expect(again).toMatchObject({ ok: false, error: { code: 'needs_approval' } })
    expect(again?.question).not.toBe(question)
    expect(contentOf(kogu, 'stamp')).toBe('by a person\n')
  })

  test('are no interrupted command, also when the call is repeated while they wait', async () => {
    const kogu = await open()
    const { id } = await kogu.runtime.openRun()
    const call = () => kogu.runtime.call({ tool: 'run_command', input: { command: LINE }, run: id })
    const { question } = await call()
    expect((await call()).question).toBe(question)
    const other = await another(kogu)
    expect(await other.runtime.recover()).toEqual([])
    expect(layers(kogu).length).toBe(1)
    await other.runtime.answerQuestion(question ?? '', YES)
    expect((await other.runtime.continueCall(question ?? '')).ok).toBe(true)
  })

  test('survive a kill at any moment: all of them or none, answerable or gone', async () => {
    for (const killAfter of KILL_AFTER_MS) {
      const kogu = await open()
      const child = spawn(process.execPath, [...FLAGS, KOGU, kogu.home], {
        cwd: import.meta.dirname,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = new Promise(resolve => child.on('close', resolve))
      await new Promise(resolve => child.stdout.once('data', resolve))
      const timer = setTimeout(() => child.kill('SIGKILL'), killAfter)
      await ended
      clearTimeout(timer)
      const other = await another(kogu)
      await other.runtime.recover()
      for (const question of await other.runtime.listQuestions()) {
        expect(contentOf(kogu, 'a.txt')).toBe('one\n')
        await other.runtime.answerQuestion(question.id, YES)
        expect((await other.runtime.continueCall(question.id)).ok).toBe(true)
        expect(contentOf(kogu, 'a.txt')).toBe('two\n')
      }
      const isAfter = contentOf(kogu, 'a.txt') === 'two\n'
      expect(existsSync(join(kogu.workspace, 'dist/old'))).toBe(!isAfter)
      expect(existsSync(join(kogu.workspace, 'dist/new/x'))).toBe(isAfter)
      expect(existsSync(join(kogu.workspace, '.kogu/overlays')) ? layers(kogu) : []).toEqual([])
    }
  })
})

/** `npm run bench -- file-kills` takes them all. */
const KILL_AFTER_MS =
  process.env.KOGU_KILLS === undefined ? [0, 300, 800] : [0, 150, 300, 450, 600, 800, 1100, 1500]
const FLAGS = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e']
/** Starts, runs the line, answers its own question and goes on; killed somewhere on the way. */
const KOGU = `
  import { openRuntimeIn } from './support/runtime.ts'
  import { laterApprover } from '../src/core/approval.ts'
  const runtime = await openRuntimeIn(process.argv[1], laterApprover)
  process.stdout.write('started')
  const { question } = await runtime.call({ tool: 'run_command', input: { command: ${JSON.stringify(LINE)} } })
  await runtime.answerQuestion(question, { kind: 'once', user: 'kim' })
  await runtime.continueCall(question)
  await runtime.close()
`
