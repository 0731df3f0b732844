import { spawn } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createSandboxed, PROGRAM, type Sandboxed } from '../support/kogu.ts'

// A pipeline whose tools, items of a list, inner pipeline and panel's sub-agent append lines, killed with SIGKILL after each sign of life and resumed:
// every line is there once. Many more kills of single runs are in the bench.

let database: TestDatabase
let home: Sandboxed

const line = (text: string): string => `{ path = "log.txt", content = "${text}\\n", mode = "append" }`
const APPEND = (id: string): string => `[[step]]\nid = "${id}"\ntool = "write_file"\nargs = ${line(id)}\n`
const ITEMS = ['x', 'y']
const EACH = `[[step]]\nid = "list"\ntool = "write_file"\nargs = ${line('{{item}}')}\nfor_each = "${ITEMS.join('\\n')}"\n`
const CALL = (path: string, text: string): string =>
  `[[${path}]]\ndelay_ms = 20\n[[${path}.call]]\ntool = "write_file"\ninput = ${line(text)}\n`

beforeAll(async () => {
  database = await createTestDatabase()
  home = createSandboxed()
  home.env.DATABASE_URL = database.url
  home.configure(
    '[[permissions.rules]]\nid = "log"\ndecision = "allow"\ntool = "write_file"\npath = ["log.txt"]\n',
  )
  home.write(
    '.kogu/pipelines/kill.toml',
    `name = "kill"\n${APPEND('one')}[[step]]\nid = "panel"\npanel = "teller"\n${EACH}[[step]]\nid = "inner"\npipeline = "inner"\n${APPEND('two')}`,
  )
  home.write('.kogu/pipelines/inner.toml', `name = "inner"\n${APPEND('in')}`)
  home.write(
    '.kogu/panels/teller.toml',
    'prompt = "Tell"\norchestration = "automatic"\n[tools.write_file]\nallowed_dirs = ["."]\n',
  )
  home.write(
    '.kogu/rehearsals/teller.toml',
    `${CALL('answer', 'a')}[[answer]]
[[answer.call]]
tool = "create_sub_agent"
input = { name = "child", description = "d", system_prompt = "s" }
[[answer]]
[[answer.call]]
tool = "execute_sub_agent"
input = { agent_id = "{{last.data.agent_id}}", input = "go" }
${CALL('answer', 'd')}[[answer]]
text = "told"
${CALL('agents.child.answer', 'b')}${CALL('agents.child.answer', 'c')}[[agents.child.answer]]
text = "done"
`,
  )
  expect(home.run(['pipeline', 'trust', 'kill']).code).toBe(0)
})
afterAll(async () => {
  home.remove()
  await database.close()
})

/** Kills it when the file has so many lines, or when nothing is left to wait for. */
function runAndKill(args: readonly string[], lines: number): Promise<number | null> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [PROGRAM, 'pipeline', ...args, '--rehearse'], {
      ...{ cwd: home.workspace, env: home.env, stdio: ['ignore', 'ignore', 'ignore'] as const },
    })
    const timer = setInterval(() => {
      if (linesOf().length >= lines) child.kill('SIGKILL')
    }, 2)
    child.on('close', code => {
      clearInterval(timer)
      resolve(code)
    })
  })
}

function linesOf(): string[] {
  try {
    return home.read('log.txt').split('\n').filter(Boolean)
  } catch {
    // Not there yet.
    return []
  }
}

test('killed after every line and resumed, it has done everything once', async () => {
  await runAndKill(['run', 'kill'], 1)
  const { runs } = home.json(['pipeline', 'list'])
  const [{ id }] = runs
  for (let attempt = 0; attempt < 20; attempt += 1) {
    // Where the end of a step is not known, a person looks: the line is there or not.
    const { steps } = home.json(['pipeline', 'show', id]).progress
    const inner = steps.inner.run === undefined ? {} : home.json(['pipeline', 'show', steps.inner.run])
    const unknown = { ...steps, ...inner.progress?.steps }
    const settled = ['one', 'list', 'in', 'two'].flatMap(step => {
      const wanted = step === 'list' ? ITEMS[unknown.list.items?.length ?? 0] : step
      const isThere = linesOf().includes(wanted ?? '')
      return unknown[step]?.status === 'running' ? [isThere ? '--skip' : '--retry', step] : []
    })
    const code = await runAndKill(['resume', id, ...settled], linesOf().length + 1)
    if (code === 0) break
  }
  expect(home.json(['pipeline', 'show', id]).status).toBe('completed')
  expect(linesOf()).toEqual(['one', 'a', 'b', 'c', 'd', 'x', 'y', 'in', 'two'])
})
