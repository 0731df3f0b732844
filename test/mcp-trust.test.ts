import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { toEnvironment } from '../src/config/environment.ts'
import { loadConfig } from '../src/config/load.ts'
import { trust } from '../src/config/trust.ts'
import { noApprover } from '../src/core/approval.ts'
import type { McpAdmin } from '../src/providers/mcp/admin.ts'
import { createRuntime, type Runtime } from '../src/runtime.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-mcp-trust-')))
const environment = toEnvironment(
  { HOME: home, PATH: process.env.PATH },
  { platform: process.platform, uid: process.getuid?.(), home },
)
const runtimes: Runtime[] = []
afterEach(async () => {
  for (const runtime of runtimes) await runtime.close()
  rmSync(home, { recursive: true, force: true })
})

/** A project with this file, which the person has trusted. */
async function open(name: string, project: string): Promise<McpAdmin> {
  const cwd = join(home, name)
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'kogu.toml'), project)
  await trust(environment, cwd, loadConfig({ cwd, environment }).projectPart)
  const loaded = loadConfig({ cwd, environment })
  const runtime = await createRuntime({ loaded, environment, approver: noApprover('a test') })
  runtimes.push(runtime)
  return runtime.mcp()
}

const statuses = (admin: McpAdmin) => admin.servers.map(each => `${each.name}: ${admin.status(each)}`)

test('a server of a project is trusted in that project; one of the person is trusted everywhere', async () => {
  mkdirSync(join(home, '.config', 'kogu'), { recursive: true })
  writeFileSync(
    join(home, '.config', 'kogu', 'config.toml'),
    '[mcp.own]\ncommand = ["node", "/opt/own.js"]\n',
  )
  const server = (script: string) =>
    `[mcp.notes]\ncommand = ["node", "${script}"]\n[[tools.mcp.servers]]\nname = "listed"\ncommand = "${script}"\n`
  const first = await open('first', server('notes.js'))
  for (const each of first.servers) await first.trust(each)
  expect(statuses(first)).toEqual(['listed: trusted', 'own: trusted', 'notes: trusted'])
  // The same words, but another folder: whoever read the first has not seen this program.
  const second = await open('second', server('notes.js'))
  expect(statuses(second)).toEqual(['listed: not trusted', 'own: trusted', 'notes: not trusted'])
  const third = await open('third', server('other.js'))
  for (const each of third.servers) await third.trust(each)
  expect(statuses(first)).toEqual(['listed: trusted', 'own: trusted', 'notes: trusted'])
})
