import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeServerFile } from '../src/server/server-file.ts'
import { placesFor } from '../src/store/places.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { createSandboxed, PROGRAM, type Sandboxed } from './support/kogu.ts'
import { folderOutsideTmp } from './support/outside-tmp.ts'

let box: Sandboxed
let database: TestDatabase
let serve: ChildProcess
let url: string
let programs: string
const posted: unknown[] = []
const hook = createServer((request, response) => {
  let text = ''
  request.on('data', chunk => {
    text += String(chunk)
  })
  request.on('end', () => {
    posted.push(JSON.parse(text))
    response.end()
  })
})

beforeAll(async () => {
  box = createSandboxed()
  // A place that no agent can write.
  programs = mkdtempSync(join(folderOutsideTmp(), 'notify-'))
  database = await createTestDatabase()
  await new Promise<void>(resolve => hook.listen(0, '127.0.0.1', resolve))
  const { port } = hook.address() as AddressInfo
  box.configure(
    `[notify]\ncommand = [${JSON.stringify(script('notify', 'env | grep KOGU_ > "$0.out"', programs))}]\nwebhook = "http://127.0.0.1:${port}/"\n`,
  )
  serve = start('serve', '--json')
  for await (const line of createInterface({ input: serve.stdout ?? process.stdin })) {
    url = (JSON.parse(line) as { url: string }).url
    break
  }
}, 60_000)
afterAll(async () => {
  await stop(serve)
  hook.close()
  await database.close()
  box.remove()
  rmSync(programs, { recursive: true })
})

function script(name: string, line: string, folder = box.home): string {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${line}\n`)
  chmodSync(path, 0o755)
  return path
}

function start(...args: string[]): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...args], {
    cwd: box.workspace,
    env: { ...box.env, DATABASE_URL: database.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode
  child.kill('SIGTERM')
  return new Promise(resolve => child.once('exit', resolve))
}

async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await sleep(50)
  }
}

async function http(method: string, path: string, body: object | undefined, token: string) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered
  return { status: response.status, json: (await response.json()) as any }
}

function tokenFor(...scopes: string[]): string {
  return box.json(['tokens', 'create', 'test', ...scopes.flatMap(scope => ['--scope', scope])]).token
}

describe('kogu open', () => {
  test('starts the browser with a link that signs it in once', async () => {
    const browser = script('browser', 'printf %s "$1" > "$0.out"')
    const { stdout, code } = box.run(['open', 'approvals'], { env: { BROWSER: browser } })
    expect(code).toBe(0)
    const link = readFileSync(`${browser}.out`, 'utf8')
    expect(stdout.trim()).toBe(link)
    const first = await fetch(link, { redirect: 'manual' })
    expect([first.status, first.headers.get('location')]).toEqual([302, '/approvals'])
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(401)
  })

  test('only prints the link when it was asked to, or when there is nobody to show it to', () => {
    const browser = script('unwanted', 'touch "$0.out"')
    box.run(['open', '--print'], { env: { BROWSER: browser } })
    expect(box.run(['open']).stdout).toContain('/open?link=')
    expect(existsSync(`${browser}.out`)).toBe(false)
  })

  test('gives nothing of use to whoever listens where another server was', async () => {
    const asked: unknown[] = []
    const impostor = createServer(({ method, url: path, headers }, response) => {
      asked.push([method, path, headers.authorization, headers.cookie])
      response.end('{"path":"/"}')
    })
    await new Promise<void>(resolve => impostor.listen(0, '127.0.0.1', resolve))
    const there = `http://127.0.0.1:${(impostor.address() as AddressInfo).port}`
    const file = join(box.workspace, '.kogu/server.json')
    const before = readFileSync(file)
    const places = placesFor(box.workspace, join(box.home, 'state/kogu'))
    writeServerFile(places, { url: there, open: there, id: randomUUID() })
    let link = ''
    for await (const chunk of start('open', '--print').stdout ?? []) link += String(chunk)
    writeFileSync(file, before)
    impostor.close()
    expect(asked).toEqual([['GET', '/api/health', undefined, undefined]])
    // The link itself, which a browser would have sent there, does not open this server.
    expect(link).toContain(`${there}/open?link=`)
    expect((await fetch(link.trim().replace(there, url), { redirect: 'manual' })).status).toBe(401)
  })
})

test('a question that begins to wait is told to the command and the webhook, with a link and without its input', async () => {
  const content = 'a text that must not be told'
  const call = { tool: 'write_file', input: { path: 'doc/a.md', content } }
  expect(await http('POST', '/api/calls', call, tokenFor('run'))).toMatchObject({ status: 202 })
  const told = await until(() => posted.at(-1) as { id: string; tool: string; link: string } | undefined)
  expect(told).toMatchObject({ tool: 'write_file', risk: 'high' })
  expect(JSON.stringify(posted)).not.toContain(content)
  const command = await until(() => {
    const file = join(programs, 'notify.out')
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    return text.includes('KOGU_LINK') ? text : undefined
  })
  expect(command).toContain(`KOGU_QUESTION=${told.id}`)
  const opened = await fetch(told.link, { redirect: 'manual' })
  expect(opened.headers.get('location')).toBe(`/approvals/${told.id}`)
})

test('runs and their questions are reached from elsewhere with --server and a token', async () => {
  const call = '[[answer.call]]\ntool = "write_file"\ninput = { path = "far.txt", content = "x" }\n'
  const script = box.write(
    'far.toml',
    `[[answer]]\ntext = "I write."\n${call}[[answer]]\ntext = "Written."\n`,
  )
  const env = { KOGU_TOKEN: tokenFor('read', 'run', 'approve') }
  const far = (...args: string[]) => box.run([...args, '--server', url], { env, cwd: box.home })
  expect(far('run', 'Do it', '--model', `rehearsal:${script}`)).toMatchObject({
    code: 7,
    stdout: 'I write.\n',
  })
  const { id } = JSON.parse(far('runs', 'list', '--limit', '1', '--json').stdout)[0]
  const asked = await http('GET', `/api/approvals?run=${id}`, undefined, env.KOGU_TOKEN)
  expect(far('approvals', 'approve', asked.json[0].id).stderr).toContain('Approved.')
  const tail = await until(() => {
    const seen = far('runs', 'tail', id.slice(0, 8))
    return seen.code === 7 ? undefined : seen
  })
  expect(tail).toMatchObject({ code: 0, stdout: 'I write.\nWritten.\n' })
  expect(far('runs', 'show', 'ffff-no-run').code).toBe(9)
  // The server would not hear of it.
  expect(far('runs', 'resume', id, '--max-turns', '50').stderr).toContain(
    '--max-turns does not work with --server.',
  )
  expect(box.run(['runs', 'list', '--server', url]).code).toBe(4)
  expect(box.run(['runs', 'list', '--server', 'http://127.0.0.1:9'], { env }).code).toBe(5)
  // Without a token, so that nothing is sent even if it were not refused.
  expect(box.run(['runs', 'list', '--server', 'http://127.0.0.1:80@server.example']).code).toBe(2)
})

test('a worker beside the server takes over what a killed one leaves', async () => {
  box.write('slow.toml', '[[answer]]\ntext = "late"\ndelay_ms = 1500\n')
  await stop(serve)
  const first = start('worker')
  serve = start('serve', '--json')
  for await (const line of createInterface({ input: serve.stdout ?? process.stdin })) {
    url = (JSON.parse(line) as { url: string }).url
    break
  }
  const token = tokenFor('run', 'read')
  const model = `rehearsal:${join(box.workspace, 'slow.toml')}`
  const ids: string[] = []
  for (let i = 0; i < 6; i += 1)
    ids.push((await http('POST', '/api/runs', { task: 'Talk.', model }, token)).json.id)
  await until(async () => {
    const { json } = await http('GET', '/api/runs?status=running', undefined, token)
    return json.items.length > 1 ? true : undefined
  })
  first.kill('SIGKILL')
  for (const id of ids) {
    const ended = await until(async () => {
      const { json } = await http('GET', `/api/runs/${id}`, undefined, token)
      return json.status === 'completed' ? json : undefined
    })
    expect(ended.text).toBe('late')
  }
}, 60_000)

describe('kogu serve --allow-remote', () => {
  test('needs TLS or a stated proxy', () => {
    const refused = box.run(['serve', '--host', '0.0.0.0'])
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining('can be reached')])
    const clear = box.run(['serve', '--host', '0.0.0.0', '--allow-remote'])
    expect([clear.code, clear.stderr]).toEqual([2, expect.stringContaining('needs TLS')])
    expect(box.run(['serve', '--proxy']).code).toBe(2)
  })
})
