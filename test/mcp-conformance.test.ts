import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HttpDoor } from '../src/mcp/serve-http.ts'
import { openConformanceServer } from './support/conformance-server.ts'

// The protocol's own suite against the real door and the real connection. A line of a baseline that passes by now fails.

const SUITE = join(
  import.meta.dirname,
  '..',
  'node_modules',
  '@modelcontextprotocol',
  'conformance',
  'dist',
  'index.js',
)
const CLIENT = join(import.meta.dirname, 'support', 'conformance-client.ts')
let server: HttpDoor
let folder: string
beforeAll(async () => {
  server = await openConformanceServer()
  folder = mkdtempSync(join(tmpdir(), 'kogu-conformance-'))
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

function runSuite(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise(resolve => {
    const suite = spawn(process.execPath, [SUITE, ...args, '-o', folder], { cwd: folder })
    let output = ''
    for (const stream of [suite.stdout, suite.stderr]) {
      stream.setEncoding('utf8').on('data', text => {
        output += text
      })
    }
    suite.on('close', code => resolve({ code, output }))
  })
}

test.each(['2025-11-25', '2026-07-28'])(
  'the server conforms to %s but for what it does not declare',
  async revision => {
    const baseline = join(import.meta.dirname, 'conformance', `server-${revision}.yml`)
    const { code, output } = await runSuite([
      'server',
      ...['--url', server.url],
      ...['--requirements', revision],
      ...['--expected-failures', baseline],
    ])
    expect(code, output.slice(-4000)).toBe(0)
    expect(output).toMatch(/✓ tools-list: [1-9]/)
  },
  180_000,
)

test.each([
  ['initialize', '2025-11-25'],
  ['tools_call', '2025-11-25'],
  ['tools_call', '2026-07-28'],
  ['request-metadata', '2026-07-28'],
  ['http-standard-headers', '2026-07-28'],
  ['json-schema-ref-no-deref', '2026-07-28'],
  ['sep-2322-client-request-state', '2026-07-28'],
  ['http-custom-headers', '2026-07-28'],
  ['http-invalid-tool-headers', '2026-07-28'],
  ['elicitation-sep1034-client-defaults', '2025-11-25'],
  ['json-schema-2020-12-preservation', '2025-11-25'],
  ['json-schema-2020-12-preservation', '2026-07-28'],
])(
  'the client does what the scenario %s of %s wants',
  async (scenario, revision) => {
    const { code, output } = await runSuite([
      'client',
      ...['--command', `${process.execPath} ${CLIENT}`],
      ...['--scenario', scenario],
      ...['--spec-version', revision],
    ])
    expect(code, output.slice(-4000)).toBe(0)
  },
  60_000,
)
