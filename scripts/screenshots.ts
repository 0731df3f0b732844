// `npm run screenshots`: pictures of the dashboard for README and docs, made on the sample workspace.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import buildProgram from '../test/global-setup.ts'
import { openTestDashboard, type TestDashboard } from '../test/support/dashboard.ts'
import { root } from './steps.ts'

/** Every screen is taken light, dark and on a phone. */
const WIDE = { width: 1180, height: 740 }
const PHONE = { width: 390, height: 740 }

const into = join(root, 'docs/images')
buildProgram()
const dashboard = await openTestDashboard({
  config: '\n[mcp.notes]\ncommand = ["npx", "-y", "@modelcontextprotocol/server-memory"]\n',
})
try {
  const { done, question, danger } = await prepare(dashboard)
  rmSync(into, { recursive: true, force: true })
  mkdirSync(into, { recursive: true })
  const screens = {
    home: '/',
    panels: '/panels',
    panel: '/panels/pricing',
    pipelines: '/pipelines',
    pipeline: '/pipelines/weekly-report?step=report',
    runs: '/runs',
    run: `/runs/${done}`,
    approvals: `/approvals/${question}`,
    audit: '/audit',
    tools: '/tools',
    permissions: '/permissions',
    providers: '/providers',
    mcp: '/servers/notes',
    usage: '/usage',
    settings: '/settings',
  }
  const page = await dashboard.page('/')
  for (const [name, path] of Object.entries(screens)) {
    await take(page, path, name, 'light', WIDE)
    await take(page, path, `${name}-dark`, 'dark', WIDE)
    await take(page, path, `${name}-phone`, 'light', PHONE)
  }
  await take(page, `/approvals/${danger}`, 'approvals-dangerous', 'light', WIDE)
  await take(page, `/runs/${done}?tab=timeline`, 'run-timeline', 'light', WIDE)
  await take(page, `/runs/${done}?tab=agents`, 'run-agents', 'light', WIDE)
  await take(page, '/pipelines/weekly-report?view=graph&step=adjust', 'pipeline-graph', 'light', WIDE)
  await take(page, '/panels/sold', 'panel-chart', 'light', WIDE)
  await take(page, '/panels/way', 'panel-diagram', 'light', WIDE)
} finally {
  await dashboard.close()
}

async function prepare({ send }: TestDashboard) {
  const start = (panel: string, task: string): Promise<{ id: string }> =>
    send('POST', '/api/runs', { panel, task })
  const done = await start('research', 'Compare this week with the last one.')
  await start('pricing', 'Only tea, please.')
  await start('release', 'After the price change.')
  for (;;) {
    const waiting = await send<{ id: string; isDangerous: boolean }[]>('GET', '/api/approvals')
    const { status } = await send<{ status: string }>('GET', `/api/runs/${done.id}`)
    const danger = waiting.find(({ isDangerous }) => isDangerous)
    const question = waiting.find(({ isDangerous }) => !isDangerous)
    if (status === 'completed' && danger !== undefined && question !== undefined)
      return { done: done.id, danger: danger.id, question: question.id }
    await sleep(200)
  }
}

async function take(
  page: Page,
  path: string,
  name: string,
  colorScheme: 'light' | 'dark',
  size: typeof WIDE,
): Promise<void> {
  await page.setViewportSize(size)
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.goto(dashboard.url + path)
  await page.locator('[data-live="live"]').waitFor()
  await page.locator('main h1').first().waitFor()
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
  // A question takes no answer in its first moment.
  await page.getByText('Ready in a moment…').waitFor({ state: 'detached' })
  await sleep(400)
  await page.screenshot({ path: join(into, `${name}.png`) })
  console.log(`docs/images/${name}.png`)
}
