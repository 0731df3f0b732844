// `npm run screenshots`: pictures of the dashboard for README and docs, made on the sample workspace.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { openTestDashboard, type TestDashboard } from '../test/support/dashboard.ts'
import { root } from './steps.ts'

interface Shot {
  readonly name: string
  readonly path: string
  readonly dark?: boolean
  readonly phone?: boolean
}

const into = join(root, 'docs/images')
const dashboard = await openTestDashboard()
try {
  const { done, question, danger } = await prepare(dashboard)
  rmSync(into, { recursive: true, force: true })
  mkdirSync(into, { recursive: true })
  const shots: Shot[] = [
    { name: 'home', path: '/', phone: true, dark: true },
    { name: 'approvals', path: `/approvals/${question}`, phone: true, dark: true },
    { name: 'approvals-dangerous', path: `/approvals/${danger}` },
    { name: 'run', path: `/runs/${done}`, phone: true, dark: true },
    { name: 'run-timeline', path: `/runs/${done}?tab=timeline` },
    { name: 'run-agents', path: `/runs/${done}?tab=agents` },
    { name: 'runs', path: '/runs' },
    { name: 'panel', path: '/panels/pricing', phone: true, dark: true },
    { name: 'pipeline', path: '/pipelines/weekly-report' },
    { name: 'pipeline-graph', path: '/pipelines/weekly-report?view=graph', dark: true },
    { name: 'audit', path: '/audit' },
    { name: 'tools', path: '/tools' },
    { name: 'permissions', path: '/permissions' },
    { name: 'providers', path: '/providers' },
    { name: 'mcp', path: '/servers' },
    { name: 'usage', path: '/usage' },
    { name: 'settings', path: '/settings' },
  ]
  const page = await dashboard.page('/')
  for (const shot of shots) await take(page, shot)
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

async function take(page: Page, { name, path, dark = false, phone = false }: Shot): Promise<void> {
  const one = async (
    file: string,
    scheme: 'light' | 'dark',
    width: number,
    height: number,
  ): Promise<void> => {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await page.goto(dashboard.url + path)
    await page.locator('main h1').waitFor()
    await page.locator('[data-live="live"]').waitFor()
    await sleep(700)
    await page.screenshot({ path: join(into, `${file}.png`) })
    console.log(`docs/images/${file}.png`)
  }
  await one(name, 'light', 1280, 800)
  if (dark) await one(`${name}-dark`, 'dark', 1280, 800)
  if (phone) await one(`${name}-phone`, 'light', 390, 844)
}
