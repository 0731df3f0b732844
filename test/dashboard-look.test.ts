import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { findCut, findFaults, settled, visit } from './support/axe.ts'
import { openTestDashboard, type TestDashboard } from './support/dashboard.ts'
import { findHarm, poison } from './support/poison.ts'
import { noBrowser } from './support/skips.ts'

// Every screen, in every state and language: is it whole, readable and usable by everybody?

const PATIENCE = { timeout: 20_000 }

describe.skipIf(noBrowser !== '')(`the look of the dashboard${noBrowser}`, () => {
  let dashboard: TestDashboard
  let run = ''
  let screens: readonly string[] = []
  const open = (path: string): Promise<Page> => dashboard.page(path)
  const start = (panel: string, task: string): Promise<{ id: string }> =>
    dashboard.send('POST', '/api/runs', { panel, task })
  const questions = (): Promise<{ id: string }[]> => dashboard.send('GET', '/api/approvals')

  beforeAll(async () => {
    dashboard = await openTestDashboard()
    run = (await start('research', 'accessible')).id
    await start('pricing', 'accessible')
    await start('release', 'accessible')
    const isDone = async (): Promise<boolean> => {
      const { status } = await dashboard.send<{ status: string }>('GET', `/api/runs/${run}`)
      return status === 'completed' && (await questions()).length === 2
    }
    await vi.waitUntil(isDone, PATIENCE)
    const asked = (await questions()).map(({ id }) => `/approvals/${id}`)
    screens = [
      ...[
        '/',
        '/panels',
        '/panels/pricing',
        '/panels/pricing?part=tools',
        '/panels/pricing?part=try&tab=toml',
        '/panels/sold',
      ],
      ...['/pipelines', '/pipelines/weekly-report', '/pipelines/weekly-report?step=report'],
      ...['/pipelines/weekly-report?view=graph&step=adjust', '/runs', '/runs/0', `/runs/${run}`],
      ...['overview', 'timeline', 'calls', 'agents'].map(tab => `/runs/${run}?tab=${tab}`),
      ...[...asked, '/approvals?tab=decided', '/audit', '/tools', '/tools/write_file', '/tools?tab=dynamic'],
      ...['/permissions', '/permissions?tab=dryRun', '/permissions?tab=test', '/permissions?tab=effective'],
      ...['/providers', '/servers', '/usage', '/settings', '/settings?section=diagnostics', '/nowhere'],
    ]
  })
  afterEach(async () => {
    for (const page of dashboard.context.pages()) await page.close()
    expect(dashboard.problems).toEqual([])
  })
  afterAll(() => dashboard?.close())

  test('every language is whole on every screen of a phone, and says which it is', async () => {
    const page = await open('/approvals')
    const found: string[] = []
    for (const [name, lang, heading] of [
      ['日本語', 'ja', '承認'],
      ['한국어', 'ko', '승인'],
      ['English', 'en', 'Approvals'],
    ] as const) {
      await page.getByRole('button', { name: /^(Language|言語|언어)$/ }).click()
      await page.getByRole('menuitem', { name }).click()
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
      expect(await page.locator('html').getAttribute('lang')).toBe(lang)
      await page.getByRole('menu').waitFor({ state: 'detached' })
      // English is looked at below, with everything else.
      if (lang === 'en') break
      await page.setViewportSize({ width: 360, height: 740 })
      for (const path of screens) {
        await visit(page, path)
        for (const fault of await findCut(page)) found.push(`${lang} ${path}: ${fault}`)
      }
      await page.setViewportSize({ width: 1280, height: 800 })
      await visit(page, '/approvals')
    }
    expect(found.join('\n')).toBe('')
  })

  test('every screen is accessible in both schemes, wide and on a phone, without a sideways scroll', async () => {
    const page = await open('/')
    await settled(page)
    const found: string[] = []
    for (const path of screens) {
      await visit(page, path)
      found.push(...(await findFaults(page, path)))
    }
    expect(found.join('\n')).toBe('')
  }, 240_000)

  test('what loads, is empty, has failed or is out of date is accessible on every screen', async () => {
    const paths = [
      ...[
        '/',
        '/panels',
        '/panels/pricing',
        '/pipelines',
        '/pipelines/weekly-report',
        '/runs',
        `/runs/${run}`,
      ],
      ...['timeline', 'calls', 'agents', 'changes'].map(tab => `/runs/${run}?tab=${tab}`),
      ...[
        '/approvals',
        '/approvals?tab=decided',
        '/audit',
        '/tools',
        '/tools/write_file',
        '/tools?tab=dynamic',
      ],
      ...['/permissions', '/permissions?tab=grants', '/permissions?tab=effective', '/providers', '/servers'],
      ...['/usage', '/settings', '/settings?section=diagnostics', '/settings?section=trust'],
    ]
    const found: string[] = []
    const guides = new Map<string, string>()
    const page = await dashboard.context.newPage()
    const server = await standIn(page)
    for (const path of paths) {
      server.answer = 'not'
      await page.goto(dashboard.url + path)
      await page.locator('[aria-busy="true"] .mantine-Skeleton-root').first().waitFor()
      found.push(...(await findFaults(page, `loading ${path}`, 'main')))
      await server.letGo('with a failure')
      await page.getByRole('alert').getByText('For a test.').first().waitFor()
      found.push(...(await findFaults(page, `failed ${path}`, 'main')))
      for (const answer of ['emptily', 'as usual'] as const) {
        server.answer = answer
        await page.evaluate(LOAD_AGAIN)
        await page.getByText('For a test.').first().waitFor({ state: 'detached' })
        await settled(page)
        if (answer === 'as usual') continue
        found.push(...(await findFaults(page, `empty ${path}`, 'main')))
        const [guide] = /docs\/[\w-]+\.md/.exec((await page.locator('main').textContent()) ?? '') ?? []
        if (guide !== undefined) guides.set(path, guide)
      }
      server.answer = 'with a failure'
      await page.evaluate(LOAD_AGAIN)
      await page.getByText('Not updated since').first().waitFor()
      found.push(...(await findFaults(page, `out of date ${path}`, 'main [role="status"]')))
    }
    expect(guides.get('/pipelines')).toBe('docs/pipelines.md')
    const root = join(import.meta.dirname, '..')
    expect([...guides.values()].filter(guide => !existsSync(join(root, guide)))).toEqual([])
    expect(found.join('\n')).toBe('')
  }, 240_000)

  test('whatever stands in any field of any answer is shown, and does nothing', async () => {
    const page = await dashboard.context.newPage()
    await poison(page)
    await page.goto(dashboard.url)
    const found: string[] = []
    for (const path of screens) {
      await visit(page, path)
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 })
        for (const harm of await findHarm(page)) found.push(`${path} ${width}: ${harm}`)
      }
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    expect(found.join('\n')).toBe('')
  }, 120_000)
})

type Answer = 'as usual' | 'not' | 'emptily' | 'with a failure'

const PROBLEM = {
  ...{ type: 'about:blank', title: 'Broken', status: 500, detail: 'For a test.', code: 'internal' },
  ...{ retryable: false, hint: 'Try later.', request_id: 'r-1', errors: [] },
}

/** What the stream of events says when everything has to be loaded again. */
const LOAD_AGAIN = "new BroadcastChannel('kogu-events').postMessage({ event: { type: 'resync' } })"

/** Stands between a page and its server, and answers for it whatever is loaded. */
async function standIn(page: Page) {
  const held: Route[] = []
  const server: { answer: Answer; letGo(answer: Answer): Promise<void> } = {
    answer: 'as usual',
    async letGo(answer) {
      server.answer = answer
      for (const route of held.splice(0)) await reply(route, answer)
    },
  }
  await page.route(/\/api\/(?!auth\/|events)/, async route => {
    if (server.answer === 'not') held.push(route)
    else await reply(route, server.answer)
  })
  return server
}

async function reply(route: Route, answer: Answer): Promise<void> {
  if (answer === 'with a failure') return route.fulfill({ status: 500, json: PROBLEM })
  if (answer !== 'emptily') return route.fallback()
  const response = await route.fetch({ maxRetries: 3 })
  await route.fulfill({ response, json: emptied(await response.json()) })
}

/** The same answer with nothing in its lists. */
function emptied(json: unknown): unknown {
  if (Array.isArray(json)) return []
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [
      key,
      key === 'next' ? null : Array.isArray(value) ? [] : value,
    ]),
  )
}
