import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { insertEvents, newEvent } from '../src/store/tables/run-events.ts'
import { openTestDashboard, type TestDashboard } from './support/dashboard.ts'
import { noBrowser } from './support/skips.ts'

// The page as a person uses it: a real browser, a real server, real files. One browser for all of it.

/** Long, because it is only waited for when something is wrong. */
const PATIENCE = { timeout: 20_000 }

interface Shown {
  id: string
  execution_id: string
}

describe.skipIf(noBrowser !== '')(`the dashboard${noBrowser}`, () => {
  let dashboard: TestDashboard
  const open = (path: string): Promise<Page> => dashboard.page(path)
  const start = (panel: string, task = 'now'): Promise<Shown> =>
    dashboard.send('POST', '/api/runs', { panel, task })
  const questions = (): Promise<{ id: string; digest: string; runPath: string[]; answer: unknown }[]> =>
    dashboard.send('GET', '/api/approvals')

  beforeAll(async () => {
    dashboard = await openTestDashboard()
  })
  afterEach(async () => {
    for (const page of dashboard.context.pages()) await page.close()
    expect(dashboard.problems).toEqual([])
  })
  afterAll(() => dashboard?.close())

  test('a run is started, its change looked at and approved, written, and taken back', async () => {
    const page = await open('/runs')
    await page.getByRole('button', { name: 'Start a run' }).first().click()
    await page.getByRole('combobox', { name: 'Panel', exact: true }).click()
    await page.getByRole('option', { name: 'pricing' }).click()
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill('now')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByRole('link', { name: 'Review' }).click()
    await page.getByRole('heading', { name: 'edit_file wants to change files' }).waitFor()
    expect(await page.locator('tr.removed').textContent()).toContain('"green tea": 120')
    expect(await page.locator('tr.added').textContent()).toContain('"green tea": 95')
    expect(dashboard.read('prices.json')).toContain('"green tea": 120')
    await page.getByRole('button', { name: 'Approve once' }).click()
    await page.getByText(/approved once by|no longer open/).waitFor()
    // The next question is shown to nobody by itself: it waits in the list.
    const next = page.getByRole('navigation', { name: 'Waiting approvals' }).getByText('reports/prices.md')
    await next.click()
    expect(dashboard.read('prices.json')).toContain('"green tea": 95')
    const card = page.getByRole('article')
    await expect
      .poll(() => page.locator('[data-answer][data-ready]').getAttribute('data-ready'), PATIENCE)
      .toBe('true')
    // By keyboard: `a` on the question, then Enter. Any key in between takes it back.
    await card.press('a')
    await page.getByText('Press Enter to approve').press('x')
    await card.press('Enter')
    expect(await page.getByRole('button', { name: 'Approve once' }).count()).toBe(1)
    await expect
      .poll(() => page.locator('[data-answer][data-ready]').getAttribute('data-ready'), PATIENCE)
      .toBe('true')
    await card.press('a')
    await page.getByText('Press Enter to approve').press('Enter')
    await page.getByRole('link', { name: 'Open the run' }).click()
    await page.getByText('completed', { exact: true }).waitFor()
    expect(await page.getByRole('table').textContent()).toContain('black tea')
    await page.getByRole('tab', { name: 'Changes' }).click()
    await page.getByRole('button', { name: 'Undo all' }).click()
    await page.getByText('reverts to its old content').waitFor()
    await page.getByRole('button', { name: 'Undo now' }).click()
    await page.getByText('undone').first().waitFor()
    expect(dashboard.read('prices.json')).toContain('"green tea": 120')
  })

  test('a proposed change is edited before it is approved, and only the edited one is made', async () => {
    const { id } = await start('pricing', 'edited')
    const page = await open('/approvals')
    await page.getByRole('link', { name: /prices.json/ }).click()
    await page.getByRole('button', { name: 'Edit…' }).click()
    const editor = page.getByRole('textbox', { name: 'new_string' })
    await editor.fill('"green tea": 101')
    await page.getByRole('button', { name: 'Approve edited call' }).click()
    await page.getByText('The edited call ran.').waitFor()
    expect(dashboard.read('prices.json')).toContain('"green tea": 101')
    await page.goto(`${dashboard.url}/runs/${id}?tab=calls`)
    await page.getByText('denied').first().waitFor()
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByText(/^waited .+ for an answer$/).waitFor()
    await page.getByText(/^[1-9]\d* events?$/).click()
    await page.getByText('"type":"call.finished"').first().waitFor()
    expect(dashboard.read('prices.json')).toContain('"green tea": 101')
    // The next one: the first is listed until its run has taken the answer.
    const unanswered = async () => (await questions()).filter(({ answer }) => answer === null)
    await expect.poll(async () => (await unanswered()).length, PATIENCE).toBe(1)
    for (const { id: next, digest } of await unanswered())
      await dashboard.send('POST', `/api/approvals/${next}/answer`, { answer: 'deny', digest })
    await expect.poll(async () => (await questions()).length, PATIENCE).toBe(0)
    dashboard.write('prices.json', dashboard.read('prices.json').replace('101', '120'))
  })

  test('of a proposed text only the parts that a person chooses are written', async () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index}`)
    dashboard.write('parts.txt', before.join('\n'))
    const content = before.with(3, 'three').with(20, 'twenty').join('\n')
    const { question } = await dashboard.send<{ question: string }>('POST', '/api/calls', {
      ...{ tool: 'write_file', input: { path: 'parts.txt', content } },
    })
    const page = await open(`/approvals/${question}`)
    await page
      .getByRole('checkbox', { name: /^Include this part/ })
      .last()
      .uncheck()
    await page.getByRole('button', { name: 'Approve parts' }).click()
    await page.getByText('The edited call ran.').waitFor()
    expect(dashboard.read('parts.txt')).toBe(before.with(3, 'three').join('\n'))
    // The proposed call itself stays denied.
    await expect(dashboard.send('POST', `/api/approvals/${question}/continue`, {})).rejects.toThrow('403')
  })

  test('a change of thousands of lines has to be opened before it can be approved', async () => {
    const { question } = await dashboard.send<{ question: string }>('POST', '/api/calls', {
      ...{ tool: 'write_file', input: { path: 'large.txt', content: 'line\n'.repeat(2_100) } },
    })
    const page = await open(`/approvals/${question}`)
    const actions = page.locator('[data-answer][data-ready="true"]')
    await actions.getByText('Show all of the text before approving').waitFor()
    expect(await actions.getByRole('button', { name: 'Approve once' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Open the whole change' }).click()
    await expect
      .poll(() => actions.getByRole('button', { name: 'Approve once' }).isEnabled(), PATIENCE)
      .toBe(true)
    const { digest } = await dashboard.send<{ digest: string }>('GET', `/api/approvals/${question}`)
    await dashboard.send('POST', `/api/approvals/${question}/answer`, { answer: 'deny', digest })
    await expect(dashboard.send('POST', `/api/approvals/${question}/continue`, {})).rejects.toThrow('403')
  })

  test('keys that are typed elsewhere answer no question, and a dangerous one needs its name', async () => {
    await start('release')
    const page = await open('/approvals')
    await page.getByRole('link', { name: /git push --force/ }).click()
    const actions = page.locator('[data-answer][data-ready]')
    await expect.poll(() => actions.getAttribute('data-ready'), PATIENCE).toBe('true')
    expect(await page.getByRole('button', { name: 'Approve once' }).isDisabled()).toBe(true)
    // Somebody writes into the search while the question stands there.
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search or go to…').pressSequentially('aaa run_command', { delay: 20 })
    expect(await actions.getAttribute('data-ready')).toBe('false')
    await page.keyboard.press('Escape')
    await page.locator('body').press('a')
    await page.locator('body').press('Enter')
    expect(await questions()).toHaveLength(1)
    await expect.poll(() => actions.getAttribute('data-ready'), PATIENCE).toBe('true')
    await page.getByLabel(/Type run_command to approve/).fill('run_command')
    expect(await page.getByRole('button', { name: 'Approve once' }).isEnabled()).toBe(true)
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    await expect.poll(async () => (await questions()).length, PATIENCE).toBe(0)
  })

  test('while somebody types, questions appear and none is answered; Enter of a composition sends nothing', async () => {
    const page = await open('/runs')
    await page.getByRole('button', { name: 'Start a run' }).first().click()
    const task = page.getByRole('textbox', { name: 'Task', exact: true })
    const asked: string[] = []
    for (const path of ['one.txt', 'two.txt', 'three.txt']) {
      const typing = task.pressSequentially('a\nd y\n', { delay: 10 })
      const { question } = await dashboard.send<{ question: string }>('POST', '/api/calls', {
        ...{ tool: 'write_file', input: { path, content: 'x' } },
      })
      asked.push(question)
      await page
        .getByRole('link', { name: `${asked.length} waiting` })
        .first()
        .waitFor()
      await typing
    }
    expect(await task.inputValue()).toBe('a\nd y\n'.repeat(3))
    const waiting = await questions()
    expect(waiting.map(({ id, answer }) => [id, answer]).sort()).toEqual(asked.map(id => [id, null]).sort())
    let sent = 0
    await page.route('**/api/runs', async route => {
      if (route.request().method() !== 'POST') return route.fallback()
      sent += 1
      await route.fulfill({ status: 500, body: '' })
    })
    const enter = { key: 'Enter', ctrlKey: true, bubbles: true }
    await task.dispatchEvent('keydown', { ...enter, isComposing: true })
    // Without a composition the same key does send.
    await task.dispatchEvent('keydown', enter)
    await page.getByRole('alert').waitFor()
    expect(sent).toBe(1)
    for (const { id, digest } of waiting) {
      await dashboard.send('POST', `/api/approvals/${id}/answer`, { answer: 'deny', digest })
      await expect(dashboard.send('POST', `/api/approvals/${id}/continue`, {})).rejects.toThrow('403')
    }
  })

  test('a question that comes while others of its run are read is not among those that are approved', async () => {
    const ask = async (path: string): Promise<string> => {
      const input = { path, content: 'x' }
      const call = { tool: 'write_file', input, run: 'read-together' }
      return (await dashboard.send<{ question: string }>('POST', '/api/calls', call)).question
    }
    const first = [await ask('first.txt'), await ask('second.txt')]
    // Runs that a caller names are its own: here those of the signed-in person.
    const page = await open('/approvals?run=person.read-together')
    await page.getByRole('button', { name: 'Approve 2 once' }).waitFor()
    const late = await ask('late.txt')
    await page.getByText('1 more approval has arrived.').waitFor()
    await page
      .locator('[data-answer][data-ready="true"]')
      .getByRole('button', { name: 'Approve 2 once' })
      .click()
    const answered = async () =>
      (await questions()).filter(({ answer }) => answer !== null).map(({ id }) => id)
    await expect.poll(async () => (await answered()).sort(), PATIENCE).toEqual(first.sort())
    await page.getByRole('button', { name: 'Show them too' }).click()
    await page.getByRole('button', { name: 'Approve 1 once' }).waitFor()
    for (const { id, digest } of await questions()) {
      if (id === late) await dashboard.send('POST', `/api/approvals/${id}/answer`, { answer: 'deny', digest })
      await dashboard.send('POST', `/api/approvals/${id}/continue`, {}).catch(() => undefined)
    }
  })

  test('a yes to what has changed meanwhile writes nothing and asks again', async () => {
    const { id } = await start('pricing')
    const page = await open('/approvals')
    await page.getByRole('link', { name: /prices.json/ }).click()
    await page.getByRole('button', { name: 'Approve once' }).waitFor()
    const [before] = await questions()
    const changed = dashboard.read('prices.json').replace('"cup": 80', '"cup": 85')
    dashboard.write('prices.json', changed)
    // The card is told by itself.
    await page.getByText(/prices.json changed after this was proposed/).waitFor()
    await page.getByRole('button', { name: 'Ask again' }).click()
    await expect
      .poll(async () => (await questions()).filter(each => each.id !== before?.id).length, PATIENCE)
      .toBe(1)
    expect(dashboard.read('prices.json')).toBe(changed)
    await dashboard.send('POST', `/api/runs/${id}/stop`, {})
    dashboard.write('prices.json', changed.replace('"cup": 85', '"cup": 80'))
  })

  test('after a lost connection nothing is missing', async () => {
    const page = await open('/runs')
    await page.locator('[data-live="live"]').waitFor()
    dashboard.cut()
    await page.locator('[data-live="reconnecting"]').waitFor()
    dashboard.restore()
    const { id } = await start('research')
    await page.goto(`${dashboard.url}/runs/${id}`)
    await page.locator('[data-live="live"]').waitFor()
    dashboard.cut()
    await page.locator('[data-live="reconnecting"]').waitFor()
    dashboard.restore()
    await page.getByText('Black tea grows, green tea shrinks.').waitFor()
    await page.getByText('Green tea 31, then 24. Black tea 58, then 63.').waitFor()
  })

  test('what happens while the events of a run are loaded is not lost, nor is anything before it', async () => {
    const { id, execution_id } = await start('research', 'a slow load')
    await expect
      .poll(async () => (await dashboard.send<{ status: string }>('GET', `/api/runs/${id}`)).status, PATIENCE)
      .toBe('completed')
    const say = (text: string): Promise<void> =>
      insertEvents(dashboard.database, id, execution_id, [newEvent({ type: 'message.received', text })])
    const page = await open('/runs')
    await page.addInitScript(`window.told = new Promise(resolve => {
      new BroadcastChannel('kogu-events').onmessage = ({ data }) => data.event?.text === 'meanwhile' && resolve()
    })`)
    // The answer is from before the event, and arrives when the page has been told of it.
    await page.route(
      new RegExp(`/runs/${id}/events`),
      async route => {
        const response = await route.fetch({ maxRetries: 3 })
        await page.locator('[data-live="live"]').waitFor()
        await say('meanwhile')
        await page.evaluate('window.told')
        await route.fulfill({ response })
      },
      { times: 1 },
    )
    await page.goto(`${dashboard.url}/runs/${id}`)
    const log = page.getByRole('log')
    await log.getByText('meanwhile').waitFor()
    await say('later')
    await log.getByText('later', { exact: true }).waitFor()
    await log.evaluate(box => box.scrollTo(0, 0))
    await log.getByText('a slow load').waitFor()
  })

  test('the seventh tab is as live as the first', async () => {
    await start('research', 'an earlier run')
    const pages = await Promise.all(Array.from({ length: 7 }, () => open('/runs')))
    for (const page of pages) await page.locator('[data-live="live"]').waitFor()
    // A list that is loaded only after the start of the run has it already, and nothing new.
    for (const page of pages) await page.getByText('an earlier run').first().waitFor()
    const { id } = await start('pricing', 'seventh tab')
    for (const page of pages) await page.getByRole('button', { name: '1 new run' }).waitFor()
    const last = pages.at(-1)
    await last?.bringToFront()
    await last?.getByRole('button', { name: '1 new run' }).click()
    await last?.getByText('seventh tab').waitFor()
    await dashboard.send('POST', `/api/runs/${id}/stop`, {})
  })

  test('a run of 10,000 events is drawn in part, from its end, and holds its first one', async () => {
    const run = await start('research', 'many events')
    await expect
      .poll(
        async () => (await dashboard.send<{ status: string }>('GET', `/api/runs/${run.id}`)).status,
        PATIENCE,
      )
      .toBe('completed')
    const at = new Date().toISOString()
    for (let first = 0; first < 10_000; first += 2_000) {
      const events = Array.from({ length: 2_000 }, (_, index) => ({
        ...{ id: randomUUID(), at },
        event: { type: 'message.received' as const, text: `message ${first + index}` },
      }))
      await insertEvents(dashboard.database, run.id, run.execution_id, events)
    }
    const page = await open(`/runs/${run.id}`)
    const log = page.getByRole('log')
    await log.getByText('message 9999').waitFor()
    expect(await log.locator('[data-index]').count()).toBeLessThan(100)
    await page.getByRole('textbox', { name: 'Find in this run' }).fill('message 42')
    await page.getByText('1 of 111', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Next match' }).click()
    await log.getByText('message 420', { exact: true }).waitFor()
    await log.evaluate(box => box.scrollTo(0, 0))
    await log.getByText('many events').waitFor()
    // What is being read stays in place while more arrives.
    const top = await log.evaluate(box => box.scrollTop)
    await insertEvents(dashboard.database, run.id, run.execution_id, [
      { id: randomUUID(), at, event: { type: 'message.received', text: 'one more' } },
    ])
    await page.getByRole('button', { name: '1 new' }).waitFor()
    expect(Math.abs((await log.evaluate(box => box.scrollTop)) - top)).toBeLessThanOrEqual(1)
  })

  test('one sub-agent is stopped with all below it, and the agent above goes on', async () => {
    const delegate = (path: string, name: string): string =>
      `[[${path}]]\n[[${path}.call]]\ntool = "create_sub_agent"
input = { name = "${name}", description = "<b>why</b>", system_prompt = "You are ${name}." }
[[${path}]]\n[[${path}.call]]\ntool = "execute_sub_agent"
input = { agent_id = "{{last.data.agent_id}}", input = "Part of it" }\n[[${path}]]\ntext = "${name} has ended."\n`
    const slow = '[[agents.leaf.answer]]\ndelay_ms = 60000\ntext = "late"\n'
    dashboard.write(
      'tree.toml',
      `${delegate('answer', 'middle')}${delegate('agents.middle.answer', 'leaf')}${slow}`,
    )
    const { id: agent } = await dashboard.send<{ id: string }>('POST', '/api/agents', {
      ...{ name: 'orchestrator', model: `rehearsal:${dashboard.workspace}/tree.toml` },
    })
    await dashboard.send('POST', '/api/orchestrate', {
      agent_id: agent,
      input: 'Split it',
      mode: 'automatic',
    })
    const { items } = await dashboard.send<{ items: { id: string }[] }>('GET', '/api/runs?text=Split%20it')
    const page = await open(`/runs/${items[0]?.id}?tab=agents`)
    await page.getByRole('treeitem', { name: /leaf/ }).waitFor()
    await page.getByRole('treeitem', { name: /middle/ }).click()
    const about = page.getByRole('region', { name: 'About middle' })
    await about.getByText('<b>why</b>').waitFor()
    await about.getByRole('textbox', { name: 'Message to middle' }).fill('Hurry')
    await about.getByRole('button', { name: 'Send message' }).click()
    await about.getByText('Sent.').waitFor()
    await about.getByRole('button', { name: 'Stop subtree' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop subtree' }).click()
    for (const name of [/middle/, /leaf/])
      await page.getByRole('treeitem', { name }).getByText('stopped', { exact: true }).waitFor()
    await page
      .getByRole('treeitem', { name: /orchestrator/ })
      .getByText('completed')
      .waitFor()
  })

  test('chosen runs are stopped together, and agents are a tree that is walked by keys', async () => {
    const runs = await Promise.all([start('pricing', 'stop me'), start('pricing', 'me too')])
    const page = await open('/runs?text=me')
    for (const task of ['stop me', 'me too'])
      await page.getByRole('checkbox', { name: new RegExp(task) }).check()
    await page.getByRole('button', { name: 'Stop (2)' }).click()
    const states = async (): Promise<string[]> =>
      Promise.all(
        runs.map(
          async ({ id }) => (await dashboard.send<{ status: string }>('GET', `/api/runs/${id}`)).status,
        ),
      )
    await expect.poll(states, PATIENCE).toEqual(['cancelled', 'cancelled'])
    const { id } = await start('research', 'a tree')
    await page.goto(`${dashboard.url}/runs/${id}?tab=agents`)
    await page.getByRole('treeitem', { name: /reader/ }).waitFor()
    await page.getByRole('treeitem').first().focus()
    await page.keyboard.press('ArrowRight')
    expect(await page.locator(':focus').getAttribute('aria-level')).toBe('2')
    await page.keyboard.press('Enter')
    const log = page.getByRole('log')
    await log.getByText('Green tea 31, then 24.').waitFor()
    expect(await log.getByText('Black tea grows').count()).toBe(0)
    await page.getByRole('button', { name: 'All agents' }).click()
    await log.getByText('Black tea grows').waitFor()
    // Only calls of one tool; what was said is back without the filter.
    await page.goto(`${dashboard.url}/runs/${id}?tool=execute_sub_agent`)
    await log.getByText('execute_sub_agent').waitFor()
    expect(await log.getByText('Black tea grows').count()).toBe(0)
    await page.goto(`${dashboard.url}/runs/${id}`)
    // Found in the output of a call, which the page has not loaded.
    await page.getByRole('textbox', { name: 'Find in this run' }).fill('week,item,sold')
    await page.getByText('1 of 1', { exact: true }).waitFor()
    await page.goto(`${dashboard.url}/runs/${id}?tab=agents`)
    await page.getByRole('treeitem').first().press('ArrowLeft')
    expect(await page.getByRole('treeitem').count()).toBe(1)
    // A link that was cut off leads to the run all the same.
    await page.goto(`${dashboard.url}/runs/${id.slice(0, 12)}?tab=overview`)
    await page.getByText('Runs with a similar id').first().waitFor()
    await page
      .locator('main')
      .getByRole('link', { name: /a tree/ })
      .first()
      .click()
    await page.getByRole('tab', { name: 'Overview' }).click()
    await page.getByRole('region', { name: 'Result' }).getByText('Black tea grows').waitFor()
  })

  test('hostile text in an answer is shown, not obeyed', async () => {
    const script = '<img src=x onerror="alert(1)"><script>alert(2)</script><svg onload=alert(3)>'
    const hidden = 'a\u202Eb\u200Bc\u001B[2Kd\u{E0041}e\uD800f'
    const calls = [
      { tool: 'write_file', input: { path: `${hidden}.txt`, content: `${script}\n${'x'.repeat(200_000)}` } },
    ]
    const answer = {
      text: `${script} [link](javascript:alert(4)) ![p](https://evil.example/p.png) ${hidden}`,
      call: calls,
    }
    dashboard.write('hostile.toml', toToml(answer.text, calls[0]?.input ?? {}))
    const { id } = await dashboard.send<Shown>('POST', '/api/runs', {
      task: `${script} ${hidden}`.toWellFormed(),
      model: 'rehearsal:hostile.toml',
    })
    const page = await open(`/runs/${id}`)
    await page.getByText('image blocked: evil.example').waitFor()
    expect(await page.locator('img:not([src="/icon.svg"]), svg[onload], script:not([src])').count()).toBe(0)
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
    await dashboard.send('POST', `/api/runs/${id}/stop`, {})
  })

  test('a rule is written as a form, looked at as a difference, saved, and tried on what was recorded', async () => {
    const page = await open('/permissions')
    await page.getByRole('button', { name: 'New rule' }).click()
    await page.getByLabel('Id').fill('no-make')
    await page.getByRole('radio', { name: 'deny' }).check()
    await page.getByRole('button', { name: 'Review' }).click()
    await page.locator('tr.added').getByText('id = "no-make"').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. Restart kogu serve').waitFor()
    const { text } = await dashboard.send<{ text: string }>('GET', '/api/config/files/user')
    expect(text).toContain('[[permissions.rules]]\nid = "no-make"\ndecision = "deny"')
    await page.getByRole('tab', { name: 'Dry run' }).click()
    await page.getByLabel('Your configuration').fill('[[permissions.rules]]\nid = "broken"\n')
    await page.getByRole('button', { name: 'Start dry run' }).click()
    await page.getByRole('alert').getByText('decision').waitFor()
    await page.getByLabel('Your configuration').fill('mode = "read-only"\n')
    await page.getByRole('button', { name: 'Start dry run' }).click()
    await page.getByText(/recorded calls?$/).waitFor()
    await page.getByRole('tab', { name: 'Test a call' }).click()
    await page.getByRole('button', { name: 'Preview decision' }).click()
    await page.getByText(/^Decided by/).waitFor()
  })

  test('who is not signed in sees how to sign in and nothing else, and can paste the link', async () => {
    const stranger = await dashboard.browser.newContext()
    const page = await stranger.newPage()
    await page.goto(`${dashboard.url}/runs`)
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
    expect(await page.getByRole('main').textContent()).toContain('kogu open')
    const link = dashboard.createLink()
    const paste = async (text: string): Promise<void> => {
      await page.getByLabel('Or paste the link here').fill(text)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await paste('kogu_token')
    await page.getByText(/^This is not a link from kogu open/).waitFor()
    await paste(`${link}x`)
    await page.getByText(/^This link was already used/).waitFor()
    await paste(link)
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
    expect(page.url()).toBe(`${dashboard.url}/runs`)
    // A session that ends takes nothing along that was written.
    await page.getByRole('button', { name: 'Start a run' }).first().click()
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill('half a task')
    await stranger.clearCookies()
    // As the stream of events does when everything has to be loaded again.
    await page.evaluate("new BroadcastChannel('kogu-events').postMessage({ event: { type: 'resync' } })")
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
    await paste(dashboard.createLink())
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor({ state: 'detached' })
    expect(await page.getByRole('textbox', { name: 'Task', exact: true }).inputValue()).toBe('half a task')
    await stranger.close()
  })
})

function toToml(text: string, input: object): string {
  // JSON strings are TOML strings, apart from the escape of DEL; lone halves of characters are written out.
  const quote = (value: string): string => JSON.stringify(value.toWellFormed())
  const fields = Object.entries(input).map(([key, value]) => `${key} = ${quote(String(value))}`)
  return `[[answer]]\ntext = ${quote(text)}\n[[answer.call]]\ntool = "write_file"\ninput = { ${fields.join(', ')} }\n`
}
