import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

let database: TestDatabase
let other: TestDatabase
let home: Sandboxed

beforeAll(async () => {
  database = await createTestDatabase()
  other = await createTestDatabase()
  home = createSandboxed()
  home.env.DATABASE_URL = database.url
  home.write('write.toml', script('notes.md'))
  home.write('write-doc.toml', script('doc/notes.md'))
  home.write(
    '.kogu/panels/writer.toml',
    [
      'description = "writes reports"',
      'prompt = "Write about {{topic}}"',
      `model = "rehearsal:${join(home.workspace, 'write-reports.toml')}"`,
      '[tools.write_file]',
      'allowed_dirs = ["reports"]',
    ].join('\n'),
  )
  home.write('write-reports.toml', `${script('reports/notes.md')}\n`)
})
afterAll(async () => {
  home.remove()
  await database.close()
  await other.close()
})

const script = (path: string): string =>
  [
    '[[answer]]',
    '[[answer.call]]',
    'tool = "write_file"',
    `input = { path = "${path}", content = "x\\n" }`,
    '[[answer]]',
    'text = "{{task}}: {{last.text}}"',
  ].join('\n')

const there = (path: string): boolean => existsSync(join(home.workspace, path))

describe('an agent', () => {
  test('begins with every tool off, doc/ to write in and reading commands', () => {
    expect(home.run(['agents', 'create', 'clerk']).stderr).toContain('Every tool is off')
    const off = home.json([
      'run',
      'x',
      '--agent',
      'clerk',
      '--model',
      'rehearsal:write-doc.toml',
      '--mode',
      'accept-edits',
    ])
    expect(off.denied).toMatchObject([
      { reason: "The tool 'write_file' is not enabled for the agent 'clerk'." },
    ])
    home.run(['agents', 'tools', 'clerk', '--on', 'file_write'])
    expect(home.json(['agents', 'tools', 'clerk'])).toEqual([{ tool: 'write_file', enabled: true }])
    const inside = [
      'run',
      'x',
      '--agent',
      'clerk',
      '--model',
      'rehearsal:write-doc.toml',
      '--mode',
      'accept-edits',
    ]
    expect(home.json(inside)).toMatchObject({ status: 'completed', denied: [] })
    expect(there('doc/notes.md')).toBe(true)
    const outside = home.json([
      'run',
      'x',
      '--agent',
      'clerk',
      '--model',
      'rehearsal:write.toml',
      '--mode',
      'accept-edits',
    ])
    expect(outside.denied).toMatchObject([{ tool: 'write_file' }])
    expect(there('notes.md')).toBe(false)
  })

  test('has the settings of its tools applied, and a misspelt one is refused', () => {
    home.run(['agents', 'tools', 'clerk', '--settings', 'write_file={"allowed_dirs":["."]}'])
    const wide = ['run', 'x', '--agent', 'clerk', '--model', 'rehearsal:write.toml', '--mode', 'accept-edits']
    expect(home.json(wide)).toMatchObject({ denied: [] })
    expect(there('notes.md')).toBe(true)
    const misspelt = home.run(['agents', 'tools', 'clerk', '--settings', 'write_file={"alowed_dirs":["/"]}'])
    expect(misspelt.code).not.toBe(0)
    expect(misspelt.stderr).toContain('allowed_dirs')
  })

  test('--tools of a run only takes away from what its agent has', () => {
    const more = home.json([
      'run',
      'x',
      '--agent',
      'clerk',
      '--model',
      'rehearsal:write.toml',
      '--tools',
      'read_file',
    ])
    expect(more.denied).toMatchObject([{ reason: expect.stringContaining('not enabled') }])
  })

  test('has no more in a run that is started again than it has by then', () => {
    home.write('write-again.toml', script('again.md'))
    const model = 'rehearsal:write-again.toml'
    const wide = ['run', 'x', '--agent', 'clerk', '--model', model, '--mode', 'accept-edits']
    const { id } = home.json(wide)
    expect(there('again.md')).toBe(true)
    home.run(['agents', 'tools', 'clerk', '--settings', 'write_file={"allowed_dirs":["doc"]}'])
    const again = home.json(['runs', 'rerun', String(id), '--mode', 'accept-edits'])
    expect(again.denied).toMatchObject([{ tool: 'write_file' }])
  })

  test('reads what is said to its run after the end, as over HTTP', () => {
    const told = ['run', 'x', '--model', 'rehearsal:talk.toml']
    home.write('talk.toml', '[[answer]]\ntext = "First."\n[[answer]]\ntext = "Second."\n')
    const { id } = home.json(told)
    expect(home.run(['runs', 'say', String(id), 'More.']).stderr).toContain(
      'A server goes on with it by itself',
    )
    expect(home.json(['runs', 'show', String(id)])).toMatchObject({ stop_reason: 'queued' })
    expect(home.json(['runs', 'resume', String(id)])).toMatchObject({ status: 'completed', text: 'Second.' })
  })

  test('is listed, shown, changed and deleted', () => {
    home.run([
      'agents',
      'edit',
      'clerk',
      '--system',
      'You are a clerk.',
      '--temperature',
      '0.2',
      '--tools',
      'grep_search',
    ])
    expect(home.json(['agents', 'show', 'clerk'])).toMatchObject({
      system: 'You are a clerk.',
      temperature: 0.2,
      max_tokens: 1024,
    })
    // These tools and no others: what was on before is off.
    const on = home.json(['agents', 'tools', 'clerk']).filter((each: { enabled: boolean }) => each.enabled)
    expect(on).toEqual([{ tool: 'grep_search', enabled: true }])
    expect(home.run(['agents', 'create', 'clerk']).code).toBe(2)
    home.run(['agents', 'delete', 'clerk'])
    expect(home.json(['agents', 'list']).map((agent: { name: string }) => agent.name)).not.toContain('clerk')
    expect(home.run(['agents', 'show', 'clerk']).stderr).toContain("There is no agent 'clerk'")
  })
})

describe('a panel', () => {
  const args = ['run', '--panel', 'writer', '--var', 'topic=tea', '--mode', 'accept-edits']

  test('is shown but not run until a person has looked at this very text', () => {
    expect(home.json(['agents', 'list'])).toMatchObject([{ name: 'writer', state: 'panel, not trusted' }])
    expect(home.json(['agents', 'show', 'writer'])).toMatchObject({ name: 'writer', trusted: false })
    const refused = home.run(args)
    expect(refused.code).toBe(7)
    expect(refused.stderr).toContain('kogu agents trust writer')
    expect(home.run(['agents', 'trust', 'writer']).code).toBe(0)
    const ran = home.json(args)
    expect(ran).toMatchObject({ status: 'completed', denied: [] })
    expect(ran.text).toContain('Write about tea')
    expect(there('reports/notes.md')).toBe(true)
    home.write('.kogu/panels/writer.toml', `${home.read('.kogu/panels/writer.toml')}\n[tools.run_command]\n`)
    expect(home.run(args).stderr).toContain('has changed since it was reviewed')
  })

  test('a variable that is missing is a mistake', () => {
    home.run(['agents', 'trust', 'writer'])
    expect(home.run(['run', '--panel', 'writer']).stderr).toContain("needs 'topic'")
  })
})

describe('models, usage and data', () => {
  test('models lists places of keys and never keys', () => {
    const secret = 'sk-ant-0123456789abcdef'
    const listed = home.run(['models', 'list', '--json'], { env: { ANTHROPIC_API_KEY: secret } })
    expect(listed.stdout).not.toContain(secret)
    expect(JSON.parse(listed.stdout)).toMatchObject({ default: 'anthropic/claude-sonnet-4-5' })
    expect(home.run(['models', 'default']).code).toBe(4)
    expect(home.run(['models', 'default', 'nobody/x']).code).toBe(2)
    expect(home.run(['models', 'default', 'gpt-5']).code).toBe(0)
    expect(home.run(['models', 'default']).stdout).toBe('gpt-5\n')
    home.run(['config', 'unset', 'defaults.model'])
  })

  test('usage sums what runs have used', () => {
    expect(home.json(['usage', '--by', 'agent']).map((row: { key: string }) => row.key)).toContain('writer')
  })

  test('a backup brings back every run into another database', () => {
    home.run(['data', 'backup', '../all.jsonl.gz'])
    const before = home.json(['runs', 'list', '--limit', '50'])
    const env = { DATABASE_URL: other.url }
    expect(home.run(['data', 'backup', '../all.jsonl.gz']).code).toBe(10)
    writeFileSync(join(home.home, 'half.gz'), readFileSync(join(home.home, 'all.jsonl.gz')).subarray(0, 300))
    expect(home.run(['data', 'restore', '../half.gz'], { env }).stderr).toContain('not a whole backup')
    expect(home.run(['data', 'restore', '../nowhere.gz'], { env }).code).toBe(9)
    expect(home.run(['data', 'restore', '../all.jsonl.gz'], { env }).code).toBe(0)
    expect(home.json(['runs', 'list', '--limit', '50'], { env })).toEqual(before)
    expect(home.run(['data', 'restore', '../all.jsonl.gz'], { env }).stderr).toContain('has runs already')
    expect(home.json(['data', 'prune', '--older-than', '0s', '--yes'], { env }).deleted).toBe(before.length)
    expect(home.json(['runs', 'list'], { env })).toEqual([])
  })
})
