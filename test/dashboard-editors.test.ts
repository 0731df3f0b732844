import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openTestDashboard, type TestDashboard } from './support/dashboard.ts'
import { noBrowser } from './support/skips.ts'

// Panels and pipelines are made, changed and run in the page.

const PATIENCE = { timeout: 20_000 }

describe.skipIf(noBrowser !== '')(`the editors of the dashboard${noBrowser}`, () => {
  let dashboard: TestDashboard

  beforeAll(async () => {
    dashboard = await openTestDashboard()
  })
  afterEach(async () => {
    for (const page of dashboard.context.pages()) await page.close()
    expect(dashboard.problems).toEqual([])
  })
  afterAll(() => dashboard?.close())

  test('by keyboard alone: three steps, run, look at the change, approve, find the call in the audit log', async () => {
    const page = await dashboard.page('/pipelines')
    const press = async (role: 'button' | 'link', name: string | RegExp): Promise<void> => {
      await page.getByRole(role, { name }).first().focus()
      await page.keyboard.press('Enter')
    }
    const type = async (label: RegExp, text: string): Promise<void> => {
      await page.getByRole('textbox', { name: label }).focus()
      await page.keyboard.type(text)
    }
    await press('button', 'New pipeline')
    await page.getByRole('textbox', { name: /^Name/ }).waitFor()
    await page.keyboard.type('copies')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'copies', level: 1 }).waitFor()
    for (const [after, tool] of [
      ['text', 'read_file'],
      ['read_file', 'write_file'],
    ] as const) {
      await press('button', `Add a step after ${after}`)
      await page
        .getByRole('listbox')
        .getByRole('option', { name: /^read_file/ })
        .waitFor()
      await page.keyboard.type(tool)
      await page.getByRole('listbox').getByRole('option', { name: tool, selected: true }).waitFor()
      await page.keyboard.press('Enter')
      await type(/^path/, tool === 'read_file' ? 'prices.json' : 'copy.json')
    }
    await type(/^content/, '{{read')
    await page.getByRole('option', { name: 'steps.read_file.text' }).waitFor()
    await page.keyboard.press('Enter')
    // It can be run once the server has looked at the last change.
    await page.getByRole('button', { name: 'Save and run', disabled: false }).first().waitFor()
    await press('button', 'Save and run')
    await page.getByText('No inputs.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Save and run' }).focus()
    await page.keyboard.press('Enter')
    await press('link', 'Review and answer')
    await page.locator('tr.added').first().waitFor()
    await expect
      .poll(() => page.locator('[data-answer][data-ready]').getAttribute('data-ready'), PATIENCE)
      .toBe('true')
    await press('button', 'Approve once')
    await expect.poll(() => readOr(dashboard, 'copy.json'), PATIENCE).toContain('"green tea": 120')
    await page.goto(`${dashboard.url}/audit?tool=write_file`)
    await page.getByText('copy.json').first().waitFor()
    await page.goto(`${dashboard.url}/pipelines/copies`)
    await page.getByText('3 of 3 steps').waitFor()
  })

  test('every change of a pipeline can be undone, and leaving with changes asks', async () => {
    const page = await dashboard.page('/pipelines/weekly-report')
    const before = dashboard.read('.kogu/pipelines/weekly-report.toml')
    await page.getByRole('button', { name: /^2\. adjust/ }).press('Alt+ArrowUp')
    await page.getByRole('button', { name: /^1\. adjust/ }).waitFor()
    await page.getByRole('button', { name: 'Remove report' }).click()
    await page.getByText('unsaved').waitFor()
    const asked: string[] = []
    dashboard.context.on('dialog', dialog => void asked.push(dialog.message()))
    await page.getByRole('link', { name: 'Runs' }).click()
    await expect.poll(() => asked.length, PATIENCE).toBe(1)
    expect(page.url()).toContain('/pipelines/weekly-report')
    dashboard.problems.length = 0
    await page.locator('h1').click()
    await page.keyboard.press('Control+z')
    await page.keyboard.press('Control+z')
    await page.getByRole('button', { name: /^2\. adjust/ }).waitFor()
    await page.getByText('unsaved').waitFor({ state: 'detached' })
    await page.getByRole('tab', { name: 'TOML' }).click()
    expect(await page.getByRole('textbox', { name: /weekly-report.toml/ }).inputValue()).toBe(before)
  })

  test('a panel is changed by form and by file, and an earlier version comes back', async () => {
    const page = await dashboard.page('/panels/pricing')
    await page.getByRole('textbox', { name: 'System prompt' }).fill('You are careful.')
    await page.getByRole('button', { name: 'Configure write_file' }).click()
    await page.getByText('Test with sample input…').click()
    await page.getByRole('dialog').getByRole('textbox', { name: /^path/ }).fill('elsewhere/a.md')
    // What is missing is said above the form, with the way there.
    await page.getByRole('dialog').getByRole('button', { name: 'content', exact: true }).click()
    const content = page.getByRole('dialog').getByRole('textbox', { name: /^content/ })
    await content.and(page.locator(':focus')).waitFor()
    await content.fill('x')
    await page.getByRole('button', { name: 'Preview decision' }).click()
    await page.getByRole('dialog').getByRole('status').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await configure(page, 'web_fetch', 'Allowed hosts', 'example.com')
    await page.keyboard.press('Control+s')
    await expect
      .poll(() => dashboard.read('.kogu/panels/pricing.toml'), PATIENCE)
      .toContain('allowed_hosts = [ "example.com" ]')
    expect(dashboard.read('.kogu/panels/pricing.toml')).toContain('You are careful.')
    await page.getByRole('textbox', { name: 'input', exact: true }).fill('typed')
    await page.getByRole('tab', { name: 'TOML' }).click()
    const file = page.getByRole('textbox', { name: /pricing.toml/ })
    await file.fill(`# kept\n${await file.inputValue()}\n[tools.git_ops]\ngit = "Disabled"\n`)
    // What its calls meet under its own settings; without them, git may look.
    const row = page.locator('.kogu-card > div', { has: page.locator('[data-tool-name="git_ops"]') })
    await row.getByText('deny', { exact: true }).waitFor()
    await page.keyboard.press('Control+s')
    await expect.poll(() => dashboard.read('.kogu/panels/pricing.toml'), PATIENCE).toContain('# kept')
    await file.fill('temperature = "hot"')
    await page
      .getByText(/temperature/)
      .first()
      .waitFor()
    await page.getByText('Fix these problems before saving').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByText(/^saved .+ · version \d+$/).waitFor()
    await page.getByRole('button', { name: /Version 1/ }).click()
    expect(await page.locator('tr.removed').first().textContent()).toContain('# kept')
    await page.getByRole('tab', { name: 'Try it' }).click()
    expect(await page.getByRole('textbox', { name: 'input', exact: true }).inputValue()).toBe('typed')
  })

  test('a chart and a diagram are panels: made here, drawn, used in a pipeline, and nothing in them runs', async () => {
    const page = await dashboard.page('/panels')
    await page.getByRole('button', { name: 'New panel' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('stock')
    await dialog.getByLabel('Start from').selectOption({ label: 'Chart' })
    await dialog.getByRole('button', { name: 'Create' }).click()
    const text = page.getByRole('textbox', { name: 'Text', exact: true })
    await text.fill('item,left\n{{input}}')
    await page.getByRole('textbox', { name: 'input' }).fill('pot,7')
    await page.getByRole('figure', { name: 'item' }).waitFor()
    await page.keyboard.press('Control+s')
    await expect.poll(() => readOr(dashboard, '.kogu/panels/stock.toml'), PATIENCE).toContain('item,left')
    await page.getByText('unsaved').waitFor({ state: 'detached' })
    const hostile = [
      '%%{init: {"securityLevel":"loose","themeCSS":"* { background: url(http://127.0.0.1:9/x) }"}}%%',
      'flowchart LR',
      ' A["<img src=x onerror=alert(1)>"] --> B',
      ' click A "javascript:alert(1)"',
    ].join('\n')
    await dashboard.send('PUT', '/api/panels/trap', {
      settings: { kind: 'diagram', text: hostile },
      base: null,
    })
    await dashboard.send('PUT', '/api/pipelines/draw', {
      base: null,
      definition: {
        name: 'draw',
        step: [
          { id: 'rows', text: 'cup,3' },
          { id: 'drawn', panel: 'stock' },
          { id: 'trap', panel: 'trap' },
        ],
      },
    })
    await dashboard.send('POST', '/api/pipelines/draw/run', { input: {} })
    await page.goto(`${dashboard.url}/pipelines/draw?step=drawn&tab=output`)
    await page.getByRole('figure', { name: 'item' }).getByText('cup').waitFor()
    await page.goto(`${dashboard.url}/panels?view=graph`)
    await page.getByText('draw', { exact: true }).waitFor()
    await page.locator('[data-id="trap"]').click()
    await page.getByRole('region', { name: 'Diagram' }).or(page.locator('main img')).waitFor()
    expect(await page.locator('main svg a, main iframe, main img[src=x]').count()).toBe(0)
    await dashboard.send('PUT', '/api/panels/linked', {
      settings: { kind: 'diagram', text: 'flowchart LR\n A-->B\n click B "https://example.com/"' },
      base: null,
    })
    await page.goto(`${dashboard.url}/panels/linked`)
    const picture = page.locator('main img')
    await picture.waitFor()
    await expect.poll(() => picture.evaluate(shown => Reflect.get(shown, 'naturalWidth'))).toBeGreaterThan(0)
  })
})

async function configure(page: Page, tool: string, label: string, value: string): Promise<void> {
  await page.getByRole('button', { name: `Configure ${tool}` }).click()
  const field = page.getByRole('dialog').getByLabel(label, { exact: true }).first()
  await field.fill(value)
  await field.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

function readOr(dashboard: TestDashboard, path: string): string {
  try {
    return dashboard.read(path)
  } catch {
    return ''
  }
}
