import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import {
  SAMPLE_CONFIG,
  SAMPLE_PANELS,
  SAMPLE_PIPELINES,
  writeSampleWorkspace,
} from '../../scripts/sample-workspace.ts'
import { toEnvironment } from '../../src/config/environment.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openRunDatabase } from '../../src/run-database.ts'
import { openServer } from '../../src/server/open-server.ts'
import type { Database } from '../../src/store/database/database.ts'
import { createTestDatabase } from './database.ts'
import { BROWSER } from './skips.ts'

/** The dashboard of a real server, in a real browser, on the sample workspace. */
export interface TestDashboard {
  readonly url: string
  readonly workspace: string
  readonly database: Database
  readonly browser: Browser
  /** Signed in. What goes wrong in its pages is in `problems`. */
  readonly context: BrowserContext
  readonly problems: string[]
  page(path: string): Promise<Page>
  /** A link that signs a browser in, as the server prints it. */
  createLink(): string
  /** Sends a request as the page does. */
  send<T>(method: string, path: string, body?: unknown): Promise<T>
  read(path: string): string
  write(path: string, text: string): void
  /** Cuts every connection, and refuses new ones until `restore`. */
  cut(): void
  restore(): void
  close(): Promise<void>
}

/** `config` is added to the person's own configuration. */
export async function openTestDashboard({ config = '' } = {}): Promise<TestDashboard> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-dashboard-')))
  const workspace = join(home, 'tea-shop')
  mkdirSync(join(home, '.config/kogu'), { recursive: true })
  writeFileSync(join(home, '.config/kogu/config.toml'), `${SAMPLE_CONFIG}${config}`)
  writeSampleWorkspace(workspace)
  const database = await createTestDatabase()
  const variables = { HOME: home, PATH: process.env.PATH, DATABASE_URL: database.url }
  const environment = toEnvironment(variables, {
    ...{ platform: process.platform, uid: process.getuid?.(), home },
  })
  const loaded = loadConfig({ cwd: workspace, environment })
  const server = await openServer({
    ...{ loaded, environment, version: '0', host: '127.0.0.1', port: 0, remote: undefined },
  })
  await server.start()
  const door = await openDoor(new URL(server.url).port)
  const url = `http://127.0.0.1:${door.port}`
  const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox', '--disable-gpu'] })
  const problems: string[] = []
  const context = await browser.newContext({
    locale: 'en-US',
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
  })
  watch(context, url, problems)
  const first = await context.newPage()
  await first.goto(server.createLink().replace(server.url, url))
  const opened = await openRunDatabase(environment)
  const dashboard: TestDashboard = {
    ...{ url, workspace, browser, context, problems, database: opened },
    createLink: server.createLink,
    async page(path) {
      const page = await context.newPage()
      await page.goto(url + path)
      return page
    },
    async send(method, path, body) {
      const answer = await context.request.fetch(url + path, {
        method,
        headers: { 'x-kogu-csrf': '1', origin: url },
        ...(body === undefined ? {} : { data: body }),
      })
      if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${await answer.text()}`)
      return answer.json()
    },
    read: path => readFileSync(join(workspace, path), 'utf8'),
    write(path, text) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true })
      writeFileSync(join(workspace, path), text)
    },
    cut: door.cut,
    restore: door.restore,
    async close() {
      await browser.close()
      door.close()
      await server.close()
      await opened.close()
      await database.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
  await trustSample(dashboard)
  await first.close()
  return dashboard
}

async function trustSample({ send }: TestDashboard): Promise<void> {
  const paths = [
    ...SAMPLE_PANELS.map(name => `/api/panels/${name}`),
    ...SAMPLE_PIPELINES.map(name => `/api/pipelines/${name}`),
  ]
  for (const path of paths) {
    // Of a pipeline, all that is inside of it is trusted with it.
    const { hash, whole } = await send<{ hash: string; whole?: { hash: string } }>('GET', path)
    await send('POST', `${path}/trust`, { hash: whole?.hash ?? hash })
  }
}

/** Errors of scripts, violations of the page's policy, and requests that leave the server. */
function watch(context: BrowserContext, url: string, problems: string[]): void {
  context.on('weberror', error => problems.push(`error: ${error.error().message}`))
  context.on('console', message => {
    const text = message.text()
    if (/Content Security Policy|Refused to/i.test(text)) problems.push(`policy: ${text}`)
  })
  context.on('dialog', dialog => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on('request', request => {
    const address = request.url()
    if (!address.startsWith(url) && !/^(data|blob|about):/.test(address)) problems.push(`request: ${address}`)
  })
}

/** A way to the server that can be cut, as a network is. */
async function openDoor(to: string) {
  const sockets = new Set<Socket>()
  const state = { open: true }
  const server: Server = createServer(socket => {
    if (!state.open) return socket.destroy()
    const other = connect(Number(to), '127.0.0.1')
    for (const [end, opposite] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(end)
      end.pipe(opposite)
      end.on('error', () => opposite.destroy())
      end.on('close', () => {
        sockets.delete(end)
        opposite.destroy()
      })
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const cut = (): void => {
    state.open = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut,
    restore: () => {
      state.open = true
    },
    close() {
      cut()
      server.close()
    },
  }
}
