import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../test/support/app.ts'

let app: TestApp
beforeAll(async () => {
  // An allow that names a host of one's own machine opens it; the ask beside it is stricter.
  const rules = (['allow', 'ask'] as const).map(
    decision =>
      `[[permissions.rules]]\nid = "${decision}-local"\ndecision = "${decision}"\nhost = "127.0.0.1"\n`,
  )
  app = await openTestApp({ config: rules.join('') })
})
afterAll(() => app.close())

interface Waiting {
  id: string
  digest: string
  callId: string
  offers: { id: string }[]
  parts?: number
}

async function ask(tool: string, input: object, run?: string): Promise<Waiting> {
  const call: { json: { question: string } } = await app.send('POST /api/calls', {
    ...{ tool, input },
    ...(run === undefined ? {} : { run }),
  })
  const shown: { json: Waiting } = await app.send(`GET /api/approvals/${call.json.question}`)
  return shown.json
}

const fileOf = (path: string): string => join(app.machine.workspace, path)

describe('a call that waits, made with another input', () => {
  test('runs with what the person wrote, and never as the agent proposed it', async () => {
    const request = { path: 'a.txt', content: 'proposed\n' }
    const { id, digest, callId } = await ask('write_file', request, 'edited')
    const done = await app.send(`POST /api/approvals/${id}/instead`, {
      values: { content: 'changed\n' },
      digest,
    })
    expect(done).toMatchObject({ status: 200, json: { ok: true, decision: { by: 'user' } } })
    expect(readFileSync(fileOf('a.txt'), 'utf8')).toBe('changed\n')
    const again: { json: { text: string; detail: string } } = await app.send('POST /api/calls', {
      ...{ tool: 'write_file', input: request, run: 'edited' },
    })
    expect(again.json.detail).toContain('-proposed\n+changed')
    expect(readFileSync(fileOf('a.txt'), 'utf8')).toBe('changed\n')
    const recorded: { json: { type: string; answer?: string }[] } = await app.send(`GET /api/audit/${callId}`)
    expect(recorded.json.find(({ type }) => type === 'approval-answered')).toMatchObject({ answer: 'deny' })
  })

  test('is judged again: what the rules refuse stays refused, and the question stays open', async () => {
    const { id, digest } = await ask('write_file', { path: 'b.txt', content: 'x' })
    const out = { values: { path: '../outside.txt' }, digest }
    expect((await app.send(`POST /api/approvals/${id}/instead`, out)).status).toBe(403)
    const wrong = { values: { content: 5 }, digest }
    expect((await app.send(`POST /api/approvals/${id}/instead`, wrong)).status).toBe(400)
    const old = { values: { content: 'y' }, digest: 'other' }
    expect((await app.send(`POST /api/approvals/${id}/instead`, old)).status).toBe(409)
    const none = { values: { content: 'x' }, digest }
    expect((await app.send(`POST /api/approvals/${id}/instead`, none)).status).toBe(400)
    expect((await app.send(`GET /api/approvals/${id}`)).json).toMatchObject({ answer: null })
    expect(existsSync(fileOf('b.txt'))).toBe(false)
  })

  test('needs both scopes, and an answer that was given meanwhile wins', async () => {
    const { id, digest } = await ask('write_file', { path: 'c.txt', content: 'x' })
    const changed = { values: { content: 'y' }, digest }
    expect((await app.send(`POST /api/approvals/${id}/instead`, changed, 'approve')).status).toBe(403)
    expect((await app.send(`POST /api/approvals/${id}/instead`, changed, 'run')).status).toBe(403)
    await app.send(`POST /api/approvals/${id}/answer`, { answer: 'deny', digest })
    expect((await app.send(`POST /api/approvals/${id}/instead`, changed)).status).toBe(409)
    expect(existsSync(fileOf('c.txt'))).toBe(false)
  })

  test('a value with a masked secret cannot be changed: the mask would take its place', async () => {
    const content = 'key = AKIAIOSFODNN7EXAMPLE\n'
    const { id, digest } = await ask('write_file', { path: 'd.txt', content })
    const masked = { values: { content: 'key = ‹secret›\n' }, digest }
    const refused = await app.send(`POST /api/approvals/${id}/instead`, masked)
    expect(refused).toMatchObject({ status: 400, json: { detail: expect.stringContaining('not shown') } })
    const elsewhere = await app.send(`POST /api/approvals/${id}/instead`, {
      values: { path: 'e.txt' },
      digest,
    })
    expect(elsewhere.status).toBe(200)
    expect(readFileSync(fileOf('e.txt'), 'utf8')).toBe(content)
  })

  test('a change that makes it dangerous wants the name of the tool', async () => {
    const { id, digest } = await ask('run_command', { command: 'git push origin main' })
    const values = { command: 'git push --force origin main' }
    const refused = await app.send(`POST /api/approvals/${id}/instead`, { values, digest })
    expect(refused).toMatchObject({ status: 400, json: { hint: expect.stringContaining('confirm') } })
  })
})

describe('parts of a change that are left out', () => {
  const before = Array.from({ length: 40 }, (_, index) => (index % 10 === 0 ? `at ${index}` : 'same'))
  const write = (path: string): void => writeFileSync(fileOf(path), `${before.join('\n')}\n`)
  const edit = (line: number) => ({ old_string: `at ${line}\n`, new_string: `new ${line}\n` })

  test.each([
    ['replacements', { edits: [edit(0), edit(20), edit(30)] }],
    ['a replacement of every occurrence', { old_string: 'at ', new_string: 'new ', replace_all: true }],
    [
      'one replacement',
      { old_string: before.join('\n'), new_string: before.join('\n').replaceAll('at', 'new') },
    ],
  ])('of %s: the rest is written, and the agent is told', async (_, input) => {
    write('parts.txt')
    const { id, digest, parts } = await ask('edit_file', { path: 'parts.txt', ...input }, 'in-parts')
    expect(parts).toBeGreaterThan(2)
    const done = await app.send(`POST /api/approvals/${id}/instead`, { leave_out: [1], digest })
    expect(done).toMatchObject({ status: 200, json: { ok: true, decision: { by: 'user' } } })
    const lines = readFileSync(fileOf('parts.txt'), 'utf8').split('\n')
    expect(lines.filter(line => line.startsWith('at'))).toContain(parts === 3 ? 'at 20' : 'at 10')
    expect(lines).toEqual(expect.arrayContaining(['new 0', 'new 30']))
    expect(lines).toHaveLength(41)
    const again: { json: { detail: string } } = await app.send('POST /api/calls', {
      ...{ tool: 'edit_file', input: { path: 'parts.txt', ...input }, run: 'in-parts' },
    })
    expect(again.json.detail).toContain('left out')
  })

  test('are not offered where a part that is left out could not be written back', async () => {
    const lines = `${before.join('\n')}\n`
    const content = `e\n${lines.replaceAll('at', 'new')}`
    // A letter of another encoding; and one byte too many in what is UTF-8 for certain.
    for (const head of [[0xe9], [...Buffer.from('あいうえお'.repeat(20)), 0xff]]) {
      writeFileSync(fileOf('bytes.txt'), Buffer.from([...head, 0x0a, ...Buffer.from(lines)]))
      const bytes = await ask('write_file', { path: 'bytes.txt', content })
      expect(bytes).toMatchObject({ preview: expect.stringContaining('+new 30') })
      expect(bytes.parts).toBeUndefined()
    }
  })

  test('stay where they are when something in them is masked', async () => {
    write('masked.txt')
    const key = (which: string): string => `-----${which} PRIVATE KEY-----`
    const edits = [
      { old_string: 'at 0\n', new_string: `${key('BEGIN')}\n` },
      { old_string: 'at 20\n', new_string: `${key('END')}\n` },
      edit(30),
    ]
    const { id, digest, parts } = await ask('edit_file', { path: 'masked.txt', edits })
    expect(parts).toBe(3)
    expect((await app.send(`POST /api/approvals/${id}/instead`, { leave_out: [2], digest })).status).toBe(200)
    expect(readFileSync(fileOf('masked.txt'), 'utf8')).toContain('at 30\n')
  })

  test('all of them, none, or parts that are not there are refused, as is a file that has changed', async () => {
    write('refused.txt')
    const { id, digest } = await ask('edit_file', { path: 'refused.txt', edits: [edit(0), edit(20)] })
    const path = `POST /api/approvals/${id}/instead`
    for (const body of [
      ...[[0, 1], [2], [0, 5], [-1], []].map(leave_out => ({ leave_out })),
      ...[{}, { leave_out: [0], values: { path: 'x' } }],
    ])
      expect([body, (await app.send(path, { ...body, digest })).status]).toEqual([body, 400])
    writeFileSync(fileOf('refused.txt'), `above\n${before.join('\n')}\n`)
    expect((await app.send(path, { leave_out: [0], digest })).status).toBe(409)
    expect((await app.send(`GET /api/approvals/${id}`)).json).toMatchObject({ answer: null })
  })
})

test('the context says what became of calls like it, and how reviewers voted', async () => {
  const votes = [
    { reviewer: 'one', verdict: 'approve', reasoning: 'fine' },
    { reviewer: 'two', verdict: 'reject', reasoning: 'no test' },
  ]
  const { id, callId } = await ask('write_file', { path: 'a.txt', content: 'again\n' })
  app.machine.runtime.note('quorum-review', {
    ...{ phase: 'action', call: callId, passed: false, undecided: false, display: '[●○]', votes },
  })
  const known = await app.send(`GET /api/approvals/${id}/context`)
  expect(known.json).toMatchObject({
    review: { display: '[●○]', votes },
    similar: { what: 'write_file a.txt', calls: 2, allowed: 1, denied: 1, same: 0 },
  })
})

test('an undo does what was shown of it, and not what a run has changed since', async () => {
  const write = async (path: string): Promise<void> => {
    const { id, digest } = await ask('write_file', { path, content: 'x' }, 'still-works')
    await app.send(`POST /api/approvals/${id}/answer`, { answer: 'once', digest })
    await app.send(`POST /api/approvals/${id}/continue`, {})
  }
  const selection = { run: 'still-works' }
  const look = async (): Promise<string> => {
    const { json }: { json: { digest: string } } = await app.send('POST /api/changes/undo/plan', selection)
    return json.digest
  }
  await write('undo-1.txt')
  const digest = await look()
  expect(await look()).toBe(digest)
  await write('undo-2.txt')
  expect((await app.send('POST /api/changes/undo', { selection, digest })).status).toBe(409)
  expect(existsSync(fileOf('undo-2.txt'))).toBe(true)
  const now = await look()
  expect((await app.send('POST /api/changes/undo', { selection, digest: now })).status).toBe(200)
  expect([existsSync(fileOf('undo-1.txt')), existsSync(fileOf('undo-2.txt'))]).toEqual([false, false])
})

test('the plan of an undo names every file that comes back around those that have changed since', async () => {
  const input = '*** Begin Patch\n*** Add File: both-1.txt\n+a\n*** Add File: both-2.txt\n+b\n*** End Patch'
  const { id, callId, digest } = await ask('apply_patch', { input })
  await app.send(`POST /api/approvals/${id}/answer`, { answer: 'once', digest })
  await app.send(`POST /api/approvals/${id}/continue`, {})
  app.machine.write('both-1.txt', 'by hand\n')
  const selection = { calls: [callId] }
  const { json }: { json: { digest: string } } = await app.send('POST /api/changes/undo/plan', selection)
  const both = { steps: [{ path: fileOf('both-2.txt') }], conflicts: [{ path: fileOf('both-1.txt') }] }
  expect(json).toMatchObject(both)
  const shown = { selection, digest: json.digest }
  expect((await app.send('POST /api/changes/undo', shown)).status).toBe(409)
  const done = await app.send('POST /api/changes/undo', { ...shown, skip_conflicts: true })
  expect(done).toMatchObject({ status: 200, json: both })
  expect([existsSync(fileOf('both-1.txt')), existsSync(fileOf('both-2.txt'))]).toEqual([true, false])
})

test('only a command can be tried on a copy', async () => {
  const { id } = await ask('write_file', { path: 'f.txt', content: 'x' })
  expect((await app.send(`POST /api/approvals/${id}/try`, {})).status).toBe(400)
  expect((await app.send(`POST /api/approvals/${id}/try`, {}, 'approve')).status).toBe(403)
})

test('files that were changed after the question are named before anybody answers', async () => {
  const { id, digest } = await ask('write_file', { path: 'later.txt', content: 'mine\n' })
  const path = `GET /api/approvals/${id}/context`
  expect((await app.send(path)).json).toMatchObject({ changed: [] })
  writeFileSync(fileOf('later.txt'), 'somebody else\n')
  expect((await app.send(path)).json).toMatchObject({ changed: [fileOf('later.txt')] })
  // What is edited was made of the file as it was.
  const values = { content: 'mine, edited\n' }
  expect((await app.send(`POST /api/approvals/${id}/instead`, { values, digest })).status).toBe(409)
  expect(readFileSync(fileOf('later.txt'), 'utf8')).toBe('somebody else\n')
})

test('an answer can be remembered for a shorter time than the configured one, never for a longer one', async () => {
  for (const [hours, most] of [
    [2, 2],
    [8_760, 24 * 30],
  ] as const) {
    const { id, digest, offers } = await ask('write_file', { path: `for-${hours}.txt`, content: 'x' })
    const before = Date.now()
    await app.send(`POST /api/approvals/${id}/answer`, {
      ...{ answer: 'permanent', grant: offers[0]?.id, hours, digest },
    })
    await app.send(`POST /api/approvals/${id}/continue`, {})
    const { json }: { json: { text: string; expires_at: string }[] } = await app.send('GET /api/grants')
    const grant = json.find(each => JSON.stringify(each).includes(`for-${hours}.txt`))
    const kept = Date.parse(grant?.expires_at ?? '') - before
    expect(Math.round(kept / 3_600_000)).toBe(most)
  }
})

test('an answer that is to be remembered says which recorded calls it would have covered', async () => {
  for (const [name, answer] of [
    ['a', 'once'],
    ['b', 'deny'],
  ] as const) {
    const { id, digest } = await ask('write_file', { path: `counted/${name}.txt`, content: 'x' })
    await app.send(`POST /api/approvals/${id}/answer`, { answer, digest })
    await app.send(`POST /api/approvals/${id}/continue`, {})
  }
  const { id } = await ask('write_file', { path: 'counted/c.txt', content: 'x' })
  expect((await app.send(`GET /api/approvals/${id}/offers`)).json).toMatchObject([
    { calls: 0, denied: 0, words: [] },
    { calls: 2, denied: 1 },
  ])
  const command = await ask('run_command', { command: 'pip install left-pad' })
  const known: { json: { id: string }[] } = await app.send(`GET /api/approvals/${command.id}/offers`)
  const locked = { lock: 'says-what' }
  expect(known.json[1]).toMatchObject({
    words: [{ text: 'pip', ...locked }, { text: 'install', ...locked }, { text: 'left-pad' }],
    scopes: ['run', 'project', 'everywhere'],
  })
  const match = `POST /api/approvals/${command.id}/offers/${known.json[1]?.id}/match`
  const any = await app.send(match, { words: ['pip', 'install', null], more: false })
  expect(any).toMatchObject({ status: 200, json: { covers: expect.stringContaining("'pip install *'") } })
  const elsewhere = await app.send(match, { words: ['pip', 'install', 'right-pad'], more: false })
  expect(elsewhere).toMatchObject({ status: 400, json: { detail: expect.stringContaining('do not match') } })
})

test('a choice of words or of a place that was not offered is refused, and the question stays open', async () => {
  const { id, digest, offers } = await ask('run_command', { command: 'pip install left-pad' })
  const yes = { answer: 'permanent', digest, grant: offers[1]?.id }
  const path = `POST /api/approvals/${id}/answer`
  for (const forged of [
    { pattern: { words: [null], more: true } },
    { pattern: { words: ['pip', null], more: true } },
    { pattern: { words: ['pip', 'install', 'other'], more: false } },
    { grant: offers[0]?.id, pattern: { words: ['pip', 'install'], more: true } },
    { grant: offers[0]?.id, scope: 'everywhere' },
    { scope: 'panel' },
    { scope: 'all' },
    { answer: 'session', scope: 'project' },
  ])
    expect([forged, (await app.send(path, { ...yes, ...forged })).status]).toEqual([forged, 400])
  expect((await app.send(`GET /api/approvals/${id}`)).json).toMatchObject({ answer: null })
  expect((await app.send(path, { ...yes, scope: 'everywhere', hours: 1 })).status).toBe(200)
})

test('a question can be left open for longer, for a week at most, and not once it is answered', async () => {
  const { id, digest } = await ask('write_file', { path: 'longer.txt', content: 'x' })
  const expires = async (): Promise<number> => {
    const { json }: { json: { expiresAt: number } } = await app.send(`GET /api/approvals/${id}`)
    return json.expiresAt
  }
  const before = await expires()
  expect((await app.send(`POST /api/approvals/${id}/extend`, { hours: 1 }, 'read')).status).toBe(403)
  await app.send(`POST /api/approvals/${id}/extend`, { hours: 1 })
  expect((await expires()) - before).toBe(3_600_000)
  await app.send(`POST /api/approvals/${id}/extend`, { hours: 168 })
  expect((await expires()) - before).toBeLessThan(168 * 3_600_000)
  await app.send(`POST /api/approvals/${id}/answer`, { answer: 'once', digest })
  expect((await app.send(`POST /api/approvals/${id}/extend`, { hours: 1 })).status).toBe(409)
})

test('a request says what kind of address it leads to', async () => {
  const { id } = await ask('web_fetch', { url: 'http://127.0.0.1:8080/prices' })
  expect((await app.send(`GET /api/approvals/${id}/context`)).json).toMatchObject({
    addresses: [{ url: 'http://127.0.0.1:8080/prices', leads_to: 'loopback' }],
  })
})

test('a second answer is told that it does not count, unless it is the same', async () => {
  const { id, digest, offers } = await ask('write_file', { path: 'twice.txt', content: 'x' })
  const give = async (more: object): Promise<number> => {
    const given = { answer: 'permanent', digest, grant: offers[0]?.id, ...more }
    return (await app.send(`POST /api/approvals/${id}/answer`, given)).status
  }
  expect(await give({ scope: 'project' })).toBe(200)
  expect(await give({ scope: 'project' })).toBe(200)
  expect(await give({ scope: 'project', hours: 1 })).toBe(409)
  expect(await give({ answer: 'deny' })).toBe(409)
})

test('the past says which rules others decide for, and what was always approved', async () => {
  const give = async (waiting: Waiting, answer: string): Promise<void> => {
    await app.send(`POST /api/approvals/${waiting.id}/answer`, { answer, digest: waiting.digest })
    await app.send(`POST /api/approvals/${waiting.id}/continue`, {})
  }
  for (const text of ['1', '2', '3'])
    await give(await ask('write_file', { path: 'often.txt', content: text }), 'once')
  mkdirSync(fileOf('below'))
  for (const content of ['1', '2', '3']) {
    await give(await ask('run_command', { command: 'git tag v1', working_dir: 'below' }), 'once')
    await give(await ask('run_command', { command: 'git tag v2' }), 'once')
    await give(await ask('write_file', { path: fileOf('below/a.txt'), content }), 'once')
  }
  await give(await ask('web_fetch', { url: 'http://127.0.0.1:8080/' }), 'deny')
  const { json }: { json: { always_approved: object[] } } = await app.send('GET /api/audit/summary')
  expect(json).toMatchObject({
    rules: {
      'allow-local': { hits: 0, last: null, overruled: 1, overruled_by: 'ask-local' },
      'ask-local': { hits: 1, overruled: 0 },
    },
  })
  expect(json.always_approved).toContainEqual({
    ...{ tool: 'write_file', command: null, path: 'often.txt', times: 3 },
  })
  // From the workspace on, as a rule says it; and a line of another folder is no rule for this one.
  expect(json.always_approved).toContainEqual({
    ...{ tool: 'write_file', command: null, path: 'below/a.txt', times: 3 },
  })
  expect(json.always_approved).toContainEqual({
    ...{ tool: 'run_command', command: 'git tag v2', path: null, times: 3 },
  })
  expect(JSON.stringify(json.always_approved)).not.toContain('git tag v1')
})

test('a command line is taken apart, with what it does beside its commands', async () => {
  const { id } = await ask('run_command', { command: 'npm install left-pad --save-dev > log.txt && cat x' })
  const { json }: { json: { beside: string[] } } = await app.send(`GET /api/approvals/${id}/context`)
  expect(json).toMatchObject({
    commands: [
      { program: 'npm', words: ['install', 'left-pad'], options: ['--save-dev'] },
      { program: 'cat', words: ['x'], options: [], level: 'safe' },
    ],
  })
  expect(json.beside.join(' ')).toContain('log.txt')
})
