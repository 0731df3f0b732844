import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { insertEvents, newEvent } from '../src/store/tables/run-events.ts'
import { insertUsage } from '../src/store/tables/usage.ts'
import { settled, visit } from './support/axe.ts'
import { openTestDashboard, type TestDashboard } from './support/dashboard.ts'
import { noBrowser } from './support/skips.ts'

// What a person sets up and looks after in the page: rules, tools, servers, models, costs, settings.

const PATIENCE = { timeout: 20_000 }
const HOSTILE = join(import.meta.dirname, 'support', 'hostile-mcp-server.ts')
const CONFIG = `
[[permissions.rules]]
id = "odd-rule"
decision = "ask"
tool = "write_file"
path = "odd/**"
reason = ${JSON.stringify('<img src=x onerror="alert(1)"> a\u202Eb\u200Bc')}

[tools.dynamic]
enabled = true

[mcp.odd]
command = [${JSON.stringify(process.execPath)}, ${JSON.stringify(HOSTILE)}, "escapes"]
`
const SCRIPT = '<img src=x onerror="alert(1)"><svg onload=alert(2)>'
const HIDDEN = 'a\u202Eb\u200Bc\u{E0041}d\u001B[2K'
const OWN_FILE = '../.config/kogu/config.toml'

describe.skipIf(noBrowser !== '')(`what the dashboard sets up${noBrowser}`, () => {
  let dashboard: TestDashboard

  beforeAll(async () => {
    dashboard = await openTestDashboard({ config: CONFIG })
    const { send } = dashboard
    const call = (tool: string, input: object): Promise<{ question: string }> =>
      send('POST', '/api/calls', { tool, input })
    await call('read_file', { path: 'prices.json' })
    const { question } = await call('write_file', { path: 'notes/a.md', content: 'x' })
    const { digest } = await send<{ digest: string }>('GET', `/api/approvals/${question}`)
    await send('POST', `/api/approvals/${question}/answer`, { answer: 'once', digest })
    await send('POST', `/api/approvals/${question}/continue`, {})
    await makeOddThings(dashboard)
  })
  afterEach(async () => {
    for (const page of dashboard.context.pages()) await page.close()
    expect(dashboard.problems).toEqual([])
  })
  afterAll(() => dashboard?.close())

  test('every starter pack says what it would have decided before it is taken', async () => {
    const page = await dashboard.page('/permissions')
    for (const [name, changes] of [
      ['Read-only project', '1 decision would change'],
      ['Normal coding', '0 decisions would change'],
      ['Locked down', '0 decisions would change'],
    ] as const) {
      await page.getByRole('button', { name: new RegExp(name) }).click()
      await page.getByRole('region', { name: 'Starter packs' }).getByText(changes).waitFor()
    }
    expect(dashboard.read(OWN_FILE)).not.toContain('locked-')
  })

  test('an answer is remembered for the words and the place that a person chose, and for no others', async () => {
    const { question } = await dashboard.send<{ question: string }>('POST', '/api/calls', {
      ...{ tool: 'run_command', input: { command: 'pip install left-pad right-pad' } },
    })
    const page = await dashboard.page(`/approvals/${question}`)
    await page.getByRole('button', { name: 'Approve for…' }).click()
    const sheet = page.getByRole('dialog', { name: 'Approve for…' })
    await sheet.getByRole('radio', { name: /pip install …/ }).click()
    expect(await sheet.getByRole('button', { name: 'pip' }).count()).toBe(0)
    await sheet.getByRole('button', { name: 'right-pad' }).click()
    await sheet.getByText('This call would not be covered').waitFor()
    expect(await sheet.getByRole('button', { name: 'Approve and remember' }).isDisabled()).toBe(true)
    await sheet.getByRole('button', { name: 'left-pad' }).click()
    await sheet.getByText('and this one').waitFor()
    await sheet.getByRole('radio', { name: 'Everywhere' }).click()
    await sheet.getByRole('button', { name: 'Approve and remember' }).click()
    await page.getByText('approved permanently').waitFor()
    expect(await dashboard.send('GET', `/api/approvals/${question}`)).toMatchObject({
      answer: {
        ...{ kind: 'permanent', scope: 'everywhere', hours: 1 },
        pattern: { words: ['pip', 'install', 'left-pad', 'right-pad'], more: true },
      },
    })
    // What is remembered is read to its end first.
    const long = await dashboard.send<{ question: string }>('POST', '/api/calls', {
      ...{ tool: 'run_command', input: { command: `pip install ${'x'.repeat(500)}` } },
    })
    await page.goto(`${new URL(page.url()).origin}/approvals/${long.question}`)
    await page.getByRole('button', { name: 'Approve for…' }).click()
    const yes = sheet.getByRole('button', { name: 'Approve and remember' })
    await sheet.getByRole('button', { name: /Show all/ }).waitFor()
    expect(await yes.isDisabled()).toBe(true)
    await sheet.getByRole('button', { name: /Show all/ }).click()
    await expect.poll(() => yes.isEnabled(), PATIENCE).toBe(true)
  })

  test('a rule is written beside what it would have changed, held against its examples, and saved', async () => {
    const page = await dashboard.page('/permissions')
    await page.getByRole('button', { name: 'New rule' }).click()
    const form = page.getByRole('dialog', { name: 'New rule' })
    await form.getByRole('textbox', { name: 'Id' }).fill('no-notes')
    await form.getByRole('radio', { name: 'deny' }).check()
    await tag(page, 'Tool', 'write_file', true)
    await tag(page, 'Paths', 'notes/**')
    await form.getByText('1 decision would change').waitFor()
    await form.getByText('ask → deny').waitFor()
    await tag(page, 'Must match', 'docs/a.md')
    await form.getByText(/does not match its example 'docs\/a.md'/).waitFor()
    await tag(page, 'Must match', 'notes/b.md', true)
    await form.getByText('1 decision would change').waitFor()
    await form.getByRole('button', { name: 'Review' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(() => dashboard.read(OWN_FILE), PATIENCE).toContain('id = "no-notes"')
    expect(dashboard.read(OWN_FILE)).toContain('match = ["notes/b.md"]')
  })

  test('what is in force names the file of every rule and setting', async () => {
    const page = await dashboard.page('/permissions?tab=effective')
    await page.getByText(/shop-reads: allow read_file .*config.toml:4\)/).waitFor()
    const tools = page.getByRole('region', { name: 'Decision for a typical call of each tool' })
    await tools.getByRole('row', { name: /write_file ask mode-ask/ }).waitFor()
    // As a file says it, so that a changed line can be saved.
    await visit(page, '/settings?text=max_time')
    await page.getByRole('row', { name: /limits.max_time "15m"/ }).waitFor()
    await page.getByRole('button', { name: 'Edit limits.max_time' }).click()
    await page.getByText('max_time = "15m"').first().waitFor()
  })

  test('a configuration file that cannot be read is named with its line, and its rules still count', async () => {
    const own = dashboard.read(OWN_FILE)
    dashboard.write(OWN_FILE, `mode = 3\n${own}`)
    const page = await dashboard.page('/permissions')
    const alert = page.getByRole('alert').filter({ hasText: 'A configuration file is invalid' })
    await alert.getByText(/config\.toml:1:\d+/).waitFor()
    await page.getByText('odd-rule').first().waitFor()
    dashboard.write(OWN_FILE, own)
    await page.reload()
    await page.getByText('odd-rule').first().waitFor()
    await alert.waitFor({ state: 'detached' })
  })

  test('a configuration file that changes while somebody edits it costs neither text', async () => {
    const page = await dashboard.page('/settings?text=max_time')
    await page.getByRole('button', { name: 'Edit limits.max_time' }).click()
    const text = page.getByRole('dialog').getByRole('textbox').first()
    const mine = `${await text.inputValue()}# mine\n`
    await text.fill(mine)
    const own = dashboard.read(OWN_FILE)
    dashboard.write(OWN_FILE, `# theirs\n${own}`)
    await page.getByText('The file was changed elsewhere').waitFor()
    expect(await text.inputValue()).toBe(mine)
    await page.locator('tr.removed').getByText('# theirs').waitFor()
    expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Use the new file' }).click()
    await expect.poll(() => text.inputValue(), PATIENCE).toContain('# theirs')
    dashboard.write(OWN_FILE, own)
  })

  test('by keys: the palette leads to a run of a panel, and arrows walk through a list', async () => {
    const page = await dashboard.page('/usage')
    await settled(page)
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search or go to…').fill('Run pricing')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/panels/pricing?part=try')
    await visit(page, '/tools')
    await page.locator('[data-row-link]').first().focus()
    await page.keyboard.press('ArrowDown')
    expect(
      await page
        .locator('[data-row-link]')
        .nth(1)
        .evaluate(row => row.matches(':focus')),
    ).toBe(true)
  })

  test('a view of the audit log is saved with its filters and columns, and found again', async () => {
    const page = await dashboard.page('/audit?text=no%20such%20call')
    const table = page.getByRole('table')
    await page.getByText(/chain verified/).waitFor()
    // What takes everything away is named, with how much there would be without it.
    await page.getByRole('button', { name: /Contains: no such call · \d+ without it/ }).click()
    await table.waitFor()
    const rows = await table.locator('tbody tr').count()
    await page.getByText(`${rows} matching`, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Risk' }).click()
    await table.getByRole('columnheader', { name: 'Risk' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('with risk')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.goto(`${dashboard.url}/audit`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'with risk' }).click()
    await table.getByRole('columnheader', { name: 'Risk' }).waitFor()
  })

  test('a log that was changed says so above everything, and so does one that cannot be checked', async () => {
    const { call } = await dashboard.send<{ call: string }>('POST', '/api/calls', {
      ...{ tool: 'read_file', input: { path: 'README.md' } },
    })
    const folder = join(dashboard.workspace, '.kogu/audit')
    const [segment = ''] = readdirSync(folder).filter(name => name.endsWith('.jsonl'))
    const place = readFileSync(join(folder, segment)).indexOf(call)
    const put = (text: string): void => {
      const file = openSync(join(folder, segment), 'r+')
      writeSync(file, text, place)
      closeSync(file)
    }
    put('CALL')
    const page = await dashboard.page('/audit')
    await page
      .getByRole('alert')
      .getByText(/was changed: it does not match its hash/)
      .waitFor()
    put(call.slice(0, 4))
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    await page.getByText(/chain verified/).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.route('**/api/audit/verify', route => route.abort())
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByText(/chain verified/).count()).toBe(0)
    await visit(page, '/audit?kind=notes')
    await page.getByRole('link', { name: 'panel-trusted' }).first().click()
    const record = page.getByRole('dialog').filter({ hasText: 'panel-trusted' })
    await record.getByText('"type": "note"').waitFor()
    // Its address shows it also where no page with its row is loaded.
    await visit(page, `/audit?text=nothing-like-it&event=${new URL(page.url()).searchParams.get('event')}`)
    await record.getByText('"type": "note"').waitFor()
  })

  test('trust is given to what was read, and not to what the files say since', async () => {
    dashboard.write('kogu.toml', 'mode = "accept-edits"\n')
    const page = await dashboard.page('/')
    await page.getByText('This project is not trusted').waitFor()
    await page.getByRole('link', { name: 'Review and decide' }).first().click()
    const trust = page.getByRole('button', { name: 'Trust exactly this' })
    await page.getByText('mode = "accept-edits"').waitFor()
    dashboard.write('kogu.toml', 'mode = "auto"\n')
    await page.getByText('The files changed while you were reading.').waitFor()
    expect(await trust.isDisabled()).toBe(true)
    await page.getByText('mode = "accept-edits"').waitFor()
    await page.getByRole('button', { name: 'Show current files' }).click()
    await page.getByText('mode = "auto"').waitFor()
    expect(await trust.isEnabled()).toBe(true)
    // The end of a long line is read first, too.
    const long = `description = "long"\ncommand = "echo ${'x'.repeat(5_000)} end of it"\n`
    dashboard.write('kogu.toml', `[tools.custom.long]\n${long}`)
    await page.getByRole('button', { name: 'Show current files' }).click()
    await page.getByText('Show all of the text first.').waitFor()
    expect(await trust.isDisabled()).toBe(true)
    await page.getByRole('button', { name: /show all/i }).click()
    await page.getByText(/x end of it/).waitFor()
    await expect.poll(() => trust.isEnabled()).toBe(true)
    rmSync(join(dashboard.workspace, 'kogu.toml'))
    await page.getByText('This project is not trusted').waitFor({ state: 'detached' })
  })

  test('a server of others is read, trusted, tested, approved and tried; what it says is harmless', async () => {
    const page = await dashboard.page('/servers/odd')
    await page.getByText(/runs ".*hostile-mcp-server.ts" "escapes"/).waitFor()
    await page
      .getByRole('region', { name: 'Decision for its command line' })
      .getByText(/^(allow|ask|deny)$/)
      .waitFor()
    await page.getByRole('button', { name: 'Trust', exact: true }).click()
    await page.getByRole('button', { name: 'Start and test' }).click()
    await page.getByText(/It answered in .*: \d+ tools/).waitFor()
    await page.getByRole('button', { name: /^good/ }).click()
    expect(await page.locator('.kogu-escape').first().textContent()).toBe('⟨U+001B⟩')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByRole('button', { name: 'Preview decision' }).click()
    await page.getByRole('button', { name: 'Call it' }).click()
    await page.getByRole('link', { name: 'Review and answer' }).waitFor()
    await page.getByRole('button', { name: 'Turn this tool off' }).click()
    await page.locator('tr.added').getByText('tools.off = ["good"]').waitFor()
  })

  test("another client's servers are taken over without their secrets", async () => {
    dashboard.write(
      '.mcp.json',
      '{"mcpServers":{"local-db":{"command":"db-mcp","env":{"DB_TOKEN":"tok-1234"}}}}',
    )
    const page = await dashboard.page('/servers')
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByText('DB_TOKEN → DB_TOKEN').waitFor()
    await page
      .getByRole('textbox', { name: 'Configuration' })
      .fill('{"mcpServers":{"notes":{"url":"https://n.test/mcp"}}}')
    await page.getByRole('button', { name: 'Read it' }).click()
    await page.getByRole('button', { name: 'Review notes' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(() => dashboard.read(OWN_FILE), PATIENCE).toContain('[mcp.notes]')
    expect(await page.content()).not.toContain('tok-1234')
  })

  test("usage is shown by pipeline and for days of one's own, as a chart and as a table", async () => {
    const { id } = await dashboard.send<{ id: string }>('POST', '/api/pipelines/weekly-report/run', {
      input: { week: '45' },
    })
    // The id is on record before the run is.
    const runs = async (): Promise<{ id: string; execution_id: string }[]> =>
      (await dashboard.send<{ items: { id: string; execution_id: string }[] }>('GET', '/api/runs')).items
    await expect.poll(async () => (await runs()).length, PATIENCE).toBe(1)
    const [{ id: run, execution_id } = { id: '', execution_id: '' }] = await runs()
    const usage = { input: 1_000, cached: 200, cacheWrite: 0, output: 300, reasoning: 50 }
    await insertUsage(dashboard.database, {
      ...{ id: randomUUID(), run, execution: execution_id, provider: 'local', model: 'm', usage },
      ...{ costUsd: 0.25, ms: 900 },
    })
    // A vendor counts what it likes, and nobody knows what it costs.
    await insertUsage(dashboard.database, {
      ...{ id: randomUUID(), run, execution: execution_id, provider: 'local', model: `${SCRIPT} ${HIDDEN}` },
      ...{ usage: { ...usage, output: 6e9 }, costUsd: null, ms: 100 },
    })
    const page = await dashboard.page('/usage?by=pipeline')
    await page.getByRole('figure', { name: 'Tokens per day' }).waitFor()
    await page.getByRole('radiogroup', { name: 'Cost per day' }).getByText('Table').click()
    await page.getByRole('row', { name: /weekly-report/ }).waitFor()
    await page.getByRole('radiogroup', { name: 'Range' }).getByText('Custom').click()
    await page.getByRole('textbox', { name: 'From', exact: true }).fill('2020-01-01')
    await page.getByRole('textbox', { name: 'To', exact: true }).fill('2020-01-05')
    await page.getByText('Nothing in this range').first().waitFor()
    expect(page.url()).toContain('from=2020-01-01&to=2020-01-05')
    // An address that makes no sense shows what is shown without it.
    await visit(page, '/usage?range=constructor')
    await page.getByRole('radiogroup', { name: 'Cost per day' }).getByText('Chart').click()
    const cost = page.getByRole('figure', { name: 'Cost per day' })
    await cost.getByRole('img', { name: /local\/m \$0\.25.*1 request with unknown price/ }).waitFor()
    const times = page.getByRole('figure', { name: 'Response time' })
    await times.getByRole('img', { name: /⟨U\+202E⟩/ }).waitFor()
    expect(await page.evaluate(FIND_ODD)).toEqual([])
    // So does one that says how long to wait.
    const failed = { type: 'model.failed', provider: 'anthropic', kind: 'rate_limited' } as const
    await insertEvents(dashboard.database, run, execution_id, [
      newEvent({ ...failed, model: 'x', message: `${SCRIPT} ${HIDDEN}`, retryAfterMs: 1e308 }),
    ])
    await visit(page, '/providers')
    const vendor = page.getByRole('region', { name: 'anthropic', exact: true }).first()
    await vendor.getByText(/^rate limited until/).waitFor()
    await vendor.getByText('1 error in 24 hours · 1 rate-limit error').waitFor()
    expect(await page.evaluate(FIND_ODD)).toEqual([])
    await page.getByRole('button', { name: 'Set price: gpt-5', exact: true }).click()
    await page.getByRole('textbox', { name: 'Input (USD)' }).fill('2.5')
    await page.getByRole('button', { name: 'Review' }).click()
    await page.locator('tr.added').getByText('price = { input = 2.5, cached = 0.125, output = 10 }').waitFor()
    await visit(page, '/usage?by=tool')
    await page
      .getByRole('figure', { name: 'Calls per day' })
      .getByRole('img', { name: /read_file/ })
      .waitFor()
    await dashboard.send('POST', `/api/pipeline-runs/${id}/stop`, {})
  })

  test('a pipeline branches, repeats, and runs by the clock', async () => {
    const page = await dashboard.page('/pipelines/weekly-report')
    const add = async (after: string, what: string): Promise<void> => {
      await page.getByRole('button', { name: `Add a step after ${after}`, exact: true }).click()
      await page.getByRole('option', { name: new RegExp(`^${what}`) }).click()
    }
    await add('sales', 'Condition')
    await page.getByRole('textbox', { name: 'Condition' }).fill('contains:green')
    await page.getByRole('combobox', { name: 'If true' }).selectOption('adjust')
    await add('report', 'Value')
    await page.getByRole('textbox', { name: 'Value' }).fill('{{steps.sales.text}}')
    await page.getByRole('combobox', { name: 'Parse as' }).selectOption('lines')
    await add('value', 'read_file')
    await page.getByRole('textbox', { name: 'Repeat for each' }).fill('{{steps.value.items}}')
    await page.getByRole('textbox', { name: /^path/ }).fill('{{item}}')
    await page.getByRole('tab', { name: 'TOML' }).click()
    const file = page.getByRole('textbox', { name: /weekly-report.toml/ })
    await expect.poll(() => file.inputValue(), PATIENCE).toContain('for_each = "{{steps.value.items}}"')
    expect(await file.inputValue()).toMatch(/condition = "contains:green"\s+if_true = "adjust"/)
    expect(await file.inputValue()).toContain('parse = "lines"')
    await page.getByRole('radiogroup', { name: 'View' }).getByText('Graph').click()
    await page.getByRole('region', { name: 'Graph' }).getByText('equals:true').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('tab', { name: 'Schedule' }).click()
    await page.getByRole('textbox', { name: 'When (cron)' }).fill('0 25 * * *')
    await page.getByText(/25/).last().waitFor()
    await page.getByRole('textbox', { name: 'When (cron)' }).fill('0 9 * * 1')
    await page.getByRole('textbox', { name: 'week' }).fill('46')
    await page.getByRole('button', { name: 'Add schedule' }).click()
    await page.getByText('scheduled', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText('paused', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('It runs only when someone starts it.').waitFor()
  })

  test('a tool that a model wrote shows its code, its scores with their lines, its tests and its versions', async () => {
    const page = await dashboard.page('/tools/odd_tool')
    await page.locator('.cm-editor').getByText('function execute').waitFor()
    await page.getByRole('button', { name: 'Edit as a new version' }).click()
    const code = page.getByRole('textbox', { name: 'Code' })
    await code.fill('function execute(params) {\n  return params.text + "!"\n}\n')
    await page.getByRole('button', { name: 'Save new version' }).click()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByRole('heading', { name: '1 → 2' }).waitFor()
    await page.getByRole('tab', { name: 'Quality' }).click()
    await page.getByRole('region', { name: 'By category' }).getByText('not measured').first().waitFor()
    await page.getByRole('tab', { name: 'Safety' }).click()
    await page.getByText('uses the network: not found').waitFor()
    await page.getByText('in use').waitFor()
    await page.getByRole('tab', { name: 'Permissions' }).click()
    await page.getByRole('region', { name: 'What it can do' }).waitFor()
    await page.goto(`${dashboard.url}/tools/odd_tool?line=2`)
    await page.locator('.kogu-marked-line').waitFor()
    await page.getByRole('tab', { name: 'Try', exact: true }).click()
    await page.getByRole('textbox', { name: /^text/ }).fill('tea')
    await page.getByRole('button', { name: 'Call it' }).click()
    await page.getByRole('link', { name: /Review and answer|Open in the audit log/ }).waitFor()
    await page.getByRole('tab', { name: 'Usage', exact: true }).click()
    await page.getByRole('row', { name: /http:person/ }).waitFor()
  })

  // Every text of every answer is poisoned in dashboard-look.test.ts. Here it comes through the doors of the product: as
  // events of a run that goes on, in a line of a megabyte, in places that only such a thing has.
  test('what others wrote is harmless where it comes from a live run, a tool or a server', async () => {
    const { run, question } = await askOddly(dashboard)
    const page = await dashboard.page('/')
    await settled(page)
    const found: string[] = []
    for (const path of [
      ...['', '?tab=changes', '?tab=inout', '?tab=events'].map(tab => `/runs/${run}${tab}`),
      ...[
        '/approvals',
        `/approvals/${question}`,
        '/audit?kind=everything',
        '/panels/odd?part=try&tab=versions',
      ],
      ...['/pipelines/odd?step=long', '/permissions?edit=odd-rule', '/permissions?tab=grants'],
      ...['', '?tab=quality', '?tab=usage'].map(tab => `/tools/odd_tool${tab}`),
      ...['/tools?tab=mcp', '/tools/odd__good', '/servers/odd', '/settings?section=trust'],
    ]) {
      await visit(page, path)
      for (const fault of await page.evaluate<string[]>(FIND_ODD)) found.push(`${path}: ${fault}`)
    }
    expect(found).toEqual([])
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByText('⟨U+202E⟩').first().waitFor()
    expect(await page.evaluate(FIND_ODD)).toEqual([])
    await page.keyboard.press('Escape')
    await visit(page, `/approvals/${question}`)
    await page.getByRole('article').getByText('⟨U+202E⟩').first().waitFor()
    await page.getByText(/invisible characters or characters that reorder/).waitFor()
    // What is approved was seen whole: a line of a megabyte is opened first, piece by piece.
    const approve = page.getByRole('button', { name: 'Approve once' })
    await page.getByText('Show all of the text before approving.').waitFor()
    expect(await approve.isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Open the whole change' }).click()
    expect(await approve.isDisabled()).toBe(true)
    const more = page.getByRole('article').getByRole('button', { name: /Show all$/ })
    while ((await more.count()) > 0) await more.first().click()
    await page.getByText('Show all of the text before approving.').waitFor({ state: 'detached' })
    await expect.poll(() => approve.isEnabled(), PATIENCE).toBe(true)
    await dashboard.send('POST', `/api/runs/${run}/stop`, {})
  })
})

/** What a browser would obey or hide, wherever text can stand, and elements that text must not become. */
const FIND_ODD = `(() => {
  const odd = /[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\u{e0000}-\\u{e007f}\\u001b\\p{Surrogate}]/u
  const faults = odd.test(document.title) ? ['title'] : []
  for (const element of document.querySelectorAll('body *')) {
    for (const name of ['aria-label', 'title', 'alt', 'placeholder', 'aria-description'])
      if (odd.test(element.getAttribute(name) ?? '')) faults.push(name + ' of ' + element.outerHTML.slice(0, 120))
    // What a person edits is the text itself, and the editor of code marks what cannot be seen.
    if (element.matches('textarea, .cm-editor *')) continue
    for (const child of element.childNodes)
      if (child.nodeType === 3 && odd.test(child.data)) faults.push('text in ' + element.outerHTML.slice(0, 120))
  }
  // The editor puts an image without a source beside each mark.
  const made = document.querySelectorAll(
    'img:not([src="/icon.svg"], .cm-widgetBuffer:not([src])), [onload], [onerror], script:not([src]), a[href^="javascript"]',
  )
  return [...faults, ...[...made].map(element => element.outerHTML.slice(0, 120))]
})()`

/** A run with odd words in everything a model writes, and a question about a call with an odd path and a long line. */
async function askOddly({ send, write }: TestDashboard): Promise<{ run: string; question: string }> {
  const odd = JSON.stringify(`${SCRIPT} ${HIDDEN}`)
  write('.kogu/panels/odd.toml', `description = ${odd}\nsystem = ${odd}\nprompt = ${odd}\n`)
  const input = `{ path = ${odd}, content = ${JSON.stringify(`${SCRIPT}${'x'.repeat(1_000_000)}\n${HIDDEN}`)} }`
  write(
    'odd-run.toml',
    `[[answer]]\ntext = ${odd}\n[[answer.call]]\ntool = "read_file"\ninput = { path = ${odd} }\n` +
      `[[answer]]\ntext = ${odd}\n[[answer.call]]\ntool = "write_file"\ninput = ${input}\n`,
  )
  const { id: run } = await send<{ id: string }>('POST', '/api/runs', {
    ...{ task: `${SCRIPT} ${HIDDEN}`, model: 'rehearsal:odd-run.toml' },
  })
  // Half a character is refused at the door, and the refusal is on record.
  const half = { path: 'a\uD800.txt', content: '\uD800' }
  await expect(send('POST', '/api/calls', { tool: 'write_file', input: half })).rejects.toThrow('well-formed')
  const asked = async (): Promise<string | undefined> => {
    const waiting = await send<{ id: string; runPath: string[] }[]>('GET', '/api/approvals')
    return waiting.find(({ runPath }) => runPath[0] === run)?.id
  }
  await expect.poll(asked, PATIENCE).toBeDefined()
  return { run, question: (await asked()) ?? '' }
}

/** Through the doors that agents and repositories have: a pipeline of the project, and a tool that a model makes. */
async function makeOddThings({ send, write }: TestDashboard): Promise<void> {
  const odd = JSON.stringify(`${SCRIPT} ${HIDDEN}`)
  const long = JSON.stringify(`${SCRIPT}${'x'.repeat(1_000_000)}`)
  write(
    '.kogu/pipelines/odd.toml',
    `name = "odd"\ndescription = ${odd}\n[[step]]\nid = "first"\ntitle = ${odd}\ntext = ${odd}\n[[step]]\nid = "long"\ntext = ${long}\n`,
  )
  const { question } = await send<{ question: string }>('POST', '/api/calls', {
    tool: 'create_tool',
    input: {
      ...{ name: 'odd_tool', description: `${SCRIPT} ${HIDDEN}` },
      code: `function execute(params) {\n  // ${SCRIPT} a\u202Eb\u200Bc\n  return params.text\n}\n`,
      parameters: { text: { type: 'string', description: SCRIPT, required: true } },
    },
  })
  const { digest, isDangerous } = await send<{ digest: string; isDangerous: boolean }>(
    'GET',
    `/api/approvals/${question}`,
  )
  await send('POST', `/api/approvals/${question}/answer`, {
    ...{ answer: 'once', digest },
    ...(isDangerous ? { confirm: 'create_tool' } : {}),
  })
  await send('POST', `/api/approvals/${question}/continue`, {})
}

/** Puts a word into a field of words; `alone` takes out what is there. */
async function tag(page: Page, label: string, value: string, alone = false): Promise<void> {
  const field = page.getByRole('dialog').getByLabel(label, { exact: true }).last()
  if (alone) await field.press('Backspace')
  await field.fill(value)
  await field.press('Enter')
}
