import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ProcessRequest } from '../../core/processes.ts'
import type { ToolContext } from '../../core/tool.ts'
import { jqTool } from './program-tool.ts'

function query(path: string): { asked: ProcessRequest[]; done: Promise<unknown> } {
  const cwd = mkdtempSync(join(tmpdir(), 'kogu-query-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  execFileSync('mkfifo', [join(cwd, 'pipe')])
  symlinkSync('/dev/zero', join(cwd, 'link'))
  writeFileSync(join(cwd, 'a.json'), '{}')
  const asked: ProcessRequest[] = []
  const processes = {
    async run(request: ProcessRequest) {
      asked.push(request)
      throw new Error('started')
    },
  }
  // All that it uses.
  const context = { cwd, processes } as unknown as ToolContext
  return { asked, done: jqTool('jq').run({ filter: '.', path, raw: false }, context) }
}

test.each(['pipe', 'link', '/dev/zero'])('json_query does not wait for the end of %s', async path => {
  const { asked, done } = query(path)
  await expect(done).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('not a file'),
  })
  expect(asked).toEqual([])
})

test('json_query gives a filter that may never end 20 seconds, for a file and for what is not there', async () => {
  for (const path of ['a.json', 'missing.json']) {
    const { asked, done } = query(path)
    await expect(done).rejects.toThrow('started')
    expect(asked).toMatchObject([{ timeoutMs: 20_000 }])
  }
})
