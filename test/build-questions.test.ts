import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  agentsOf,
  type BuildBox,
  type BuildCase,
  CASES,
  createBuildBox,
  eachCase,
} from './support/build-world.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { PROGRAM } from './support/kogu.ts'
import { type MockVendor, startMockVendor } from './support/mock-vendor.ts'
import { python } from './support/terminal.ts'

// What a build asks is answered from the person's project: over HTTP, from another terminal, or where it runs.

const { failing } = CASES

let database: TestDatabase
let vendor: MockVendor
let box: BuildBox
const started: ChildProcess[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  vendor = await startMockVendor()
})
afterEach(async () => {
  for (const child of started.splice(0)) {
    const ended = new Promise(resolve => child.once('exit', resolve))
    if (child.exitCode === null && child.kill('SIGTERM')) await ended
  }
  box.remove()
})
afterAll(async () => {
  await vendor.close()
  await database.close()
})

/** The person wants to see every change of one file. */
function open(of: BuildCase): BuildBox {
  const rule = `[[permissions.rules]]\nid = "mine"\ndecision = "ask"\ntool = "write_file"\npath = ["${of.mended.path}"]\n`
  box = createBuildBox(database.url, vendor.url, of.files, rule)
  vendor.play(agentsOf(of))
  return box
}

function start(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: box.workspace,
    env: box.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  return child
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await sleep(100)
  }
}

function expectBuilt(branch: string, of: BuildCase): void {
  for (const [path, text] of Object.entries(of.result))
    expect(box.git('show', `${branch}:${path}`)).toBe(text)
  expect(box.git('log', '--format=%s', `main..${branch}`)).toBe('fix it\n')
}

for (const { name, of, lacks } of eachCase)
  test.skipIf(lacks)(
    `${name}: a server goes on after each answer of the API, of the agents and at the gate`,
    async () => {
      open(of)
      const before = box.digest()
      const serve = start(['serve', '--json'])
      let url = ''
      for await (const line of createInterface({ input: serve.stdout ?? process.stdin })) {
        url = JSON.parse(line).url
        break
      }
      const { token } = box.json([
        'tokens',
        'create',
        'test',
        ...['read', 'approve'].flatMap(each => ['--scope', each]),
      ])
      // biome-ignore lint/suspicious/noExplicitAny: looked at field by field
      const http = async (path: string, body?: object): Promise<any> => {
        const answer = await fetch(new URL(path, url), {
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        })
        return answer.json()
      }
      const ran = await box.kogu(['build', 'fix it', '--gate', '--json'])
      expect(ran.code).toBe(7)
      const { id, branch, waiting } = JSON.parse(ran.stdout)
      expect(waiting).toHaveLength(1)
      const asked: string[] = []
      await until(async () => {
        for (const question of await http('/api/approvals')) {
          if (question.answer !== null) continue
          asked.push(question.tool.name)
          await http(`/api/approvals/${question.id}/answer`, { answer: 'once', digest: question.digest })
        }
        const { status } = await http(`/api/pipeline-runs/${id}`)
        return ['completed', 'failed'].includes(status) ? status : undefined
      })
      expect(asked).toEqual([expect.stringMatching(/^(write|edit)_file$/), 'edit_file', 'pipeline'])
      await until(async () => (await http(`/api/pipeline-runs/${id}`)).build?.report ?? undefined)
      expectBuilt(branch, of)
      expect(box.digest()).toBe(before)
    },
  )

test('with --on-ask wait the build itself goes on after answers from another terminal; a no is told to the agent', async () => {
  open(failing)
  const build = start(['build', 'fix it', '--on-ask', 'wait', '--json'])
  let said = ''
  build.stdout?.on('data', chunk => (said += chunk))
  const ended = new Promise<number | null>(resolve => build.once('close', resolve))
  const next = () =>
    until(
      async () =>
        box.json(['approvals', 'list']).find(({ answer }: { answer: unknown }) => answer === null)?.id,
    )
  // The coder's wrong price is refused, so that there is nothing for the fixer to replace.
  box.run(['approvals', 'deny', await next(), '--message', 'not this price'])
  vendor.play(
    agentsOf({
      ...failing,
      fixer: [
        failing.fixer[0],
        { ...failing.coder[1], input: { path: 'prices.txt', old_string: '12', new_string: '120' } },
      ],
    }),
  )
  box.run(['approvals', 'approve', await next()])
  expect(await ended).toBe(0)
  const { branch, refused } = JSON.parse(said)
  expect(refused).toMatchObject([{ tool: 'edit_file', reason: expect.stringContaining('not this price') }])
  expectBuilt(branch, failing)
})

for (const { name, of, lacks } of eachCase)
  test.skipIf(!python || lacks)(`${name}: in a terminal the questions are asked where it runs`, async () => {
    open(of)
    const before = box.digest()
    const yes = (text: string) => ({ wait: text, type: 'y\n' })
    const plan = {
      argv: [process.execPath, PROGRAM, 'build', 'fix it', '--gate'],
      cwd: box.workspace,
      env: box.env,
      steps: [...of.mended.lines.map(yes), yes('has a gate before')],
    }
    const child = spawn('python3', [join(import.meta.dirname, 'support/terminal.py'), JSON.stringify(plan)])
    let shown = ''
    child.stdout.on('data', chunk => (shown += chunk))
    await new Promise(resolve => child.once('close', resolve))
    expect(shown.split('\n').at(-1), shown).toBe('0')
    expect(shown).toContain('agent fixer, round 1')
    expect(shown).toContain('kogu pipeline accept')
    expectBuilt(/kogu\/build-[0-9a-f]+/.exec(shown)?.[0] ?? '', of)
    expect(box.digest()).toBe(before)
  })
