import { describe, expect, test } from 'vitest'
import type { AuthorityWish } from '../core/authority.ts'
import { agentAuthority } from './agent-authority.ts'
import { narrowSettings } from './narrow-settings.ts'

// What `tool_config` of a request leaves an agent with.

const ROOT = '/nowhere/work'
const agentWith = (tools: Record<string, unknown>): AuthorityWish =>
  agentAuthority({
    agent: 'a',
    tools: Object.entries(tools).map(([tool, config]) => ({ tool, enabled: true, config })),
    canonicalTool: name => name,
  })
const narrowed = (own: AuthorityWish, tool: string, config: unknown): AuthorityWish =>
  narrowSettings(own, [{ tool, enabled: true, config }], ROOT)

const plain = agentWith({ write_file: {}, git_ops: {}, run_command: {} })

describe('a request gets what is narrower', () => {
  test('than the defaults of an agent', () => {
    expect(narrowed(plain, 'git_ops', { git: 'Disabled' }).git).toBe('disabled')
    expect(narrowed(plain, 'write_file', { allowed_dirs: ['doc/sub'] }).writeScope).toEqual([
      `${ROOT}/doc/sub`,
    ])
    expect(narrowed(plain, 'write_file', { allowed_dirs: [] }).writeScope).toEqual([])
    expect(narrowed(plain, 'run_command', { timeout_ms: 1000 }).commands).toMatchObject({
      timeoutMs: 1000,
      allowed: expect.arrayContaining(['ls', 'grep']),
    })
    expect(narrowed(plain, 'run_command', { allowed_commands: ['ls'] }).commands).toMatchObject({
      allowed: ['ls'],
    })
    expect(narrowed(plain, 'web_fetch', { allowed_hosts: ['example.com'] }).hosts).toEqual(['example.com'])
  })

  test('than what the agent was given', () => {
    const rich = agentWith({
      write_file: { allowed_dirs: ['src', 'doc'] },
      git_ops: { git: 'ReadWrite' },
      run_command: { profile: 'shell', timeout_ms: 5000 },
      web_fetch: { allowed_hosts: ['*.example.com'] },
    })
    expect(narrowed(rich, 'write_file', { allowed_dirs: ['src/a'] }).writeScope).toEqual([`${ROOT}/src/a`])
    expect(narrowed(rich, 'git_ops', { git_permission: 'ReadOnly' }).git).toBe('read-only')
    expect(narrowed(rich, 'web_fetch', { allowed_hosts: ['a.example.com'] }).hosts).toEqual(['a.example.com'])
    expect(narrowed(rich, 'run_command', { timeout_ms: 1000 }).commands).toEqual({
      profile: 'shell',
      timeoutMs: 1000,
    })
    expect(narrowed(rich, 'run_command', { allowed_commands: ['npm'] }).commands).toEqual({
      ...{ profile: 'restricted', allowed: ['npm'], timeoutMs: 5000 },
    })
    expect(narrowed(rich, 'git_ops', { git: 'ReadWrite' }).git).toBe('read-write')
  })
})

const bounded = agentWith({
  write_file: {},
  run_command: { allowed_commands: ['ls'], timeout_ms: 5000 },
  web_fetch: { allowed_hosts: ['example.com'] },
})

test.each([
  ['write_file', { allowed_dirs: ['/'] }],
  ['write_file', { allowed_dirs: ['.'] }],
  ['write_file', { allowed_dirs: ['doc/../src'] }],
  ['write_file', { allowed_dirs: ['doc', 'src'] }],
  ['git_ops', { git: 'ReadWrite' }],
  ['run_command', { profile: 'shell' }],
  ['run_command', { allowed_commands: ['ls', 'node'] }],
  ['run_command', { timeout_ms: 6000 }],
  ['web_fetch', { allowed_hosts: ['evil.example'] }],
  ['web_fetch', { allowed_hosts: ['*'] }],
])('a request gets nothing wider: %s %j', (tool, config) => {
  expect(() => narrowed(bounded, tool, config)).toThrow("this value is wider than the agent's own settings")
})

test('several settings narrow one after another, and a misspelt one is refused', () => {
  const both = [
    { tool: 'write_file', enabled: true, config: { allowed_dirs: ['doc/a'] } },
    { tool: 'git_ops', enabled: true, config: { git: 'Disabled' } },
  ]
  expect(narrowSettings(plain, both, ROOT)).toMatchObject({ writeScope: [`${ROOT}/doc/a`], git: 'disabled' })
  expect(() => narrowed(plain, 'git_ops', { gti: 'Disabled' })).toThrow("Invalid settings for 'git_ops'")
})
