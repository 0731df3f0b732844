import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
})
afterEach(() => box.remove())

const REVERSE = {
  name: 'reverse',
  description: 'Reverses a text',
  code: 'export async function execute(params: { text: string }) { return params.text.split("").reverse().join("") }',
  parameters: { text: { type: 'string', description: 'the text', required: true } },
  examples: [{ parameters: { text: 'ab' }, result: 'ba' }],
}

describe('kogu tools dynamic', () => {
  test('shows, verifies, edits, quarantines, exports, imports and promotes what was made', () => {
    box.approve('create_tool', REVERSE)
    expect(box.json(['tools', 'dynamic', 'list'])).toMatchObject([
      { name: 'reverse', version: 1, verificationStatus: 'passed', scope: 'project' },
    ])
    expect(box.run(['tools', 'list']).stdout).toContain('dynamic 75')
    expect(box.run(['call', 'reverse', '{"text":"abc"}']).stdout).toBe('cba\n')
    box.write('broken.js', 'function execute(p) { return p.text }')
    const edited = box.run(['tools', 'dynamic', 'edit', 'reverse', '--code', 'broken.js'])
    expect(edited.code).toBe(1)
    expect(edited.stdout).toMatch(/version 2 {2}failed\n.*\(version 1: .*\)\nexamples: 0 of 1 passed/)
    expect(box.json(['tools', 'dynamic', 'show', 'reverse'])).toMatchObject({
      version: 2,
      previous: [{ version: 1, code: REVERSE.code }],
    })
    box.write('fixed.js', 'function execute(p) { return [...p.text].reverse().join("") }')
    expect(box.run(['tools', 'dynamic', 'edit', 'reverse', '--code', 'fixed.js']).code).toBe(0)
    expect(box.run(['tools', 'dynamic', 'verify', 'reverse']).stdout).toContain('examples: 1 of 1 passed')
    expect(box.run(['tools', 'dynamic', 'quarantine', 'reverse', '--reason', 'odd']).code).toBe(0)
    expect(
      box.json(['call', 'run_dynamic_tool', '{"tool_name":"reverse","parameters":{"text":"x"}}']),
    ).toMatchObject({
      error: { code: 'forbidden', message: 'Error: The tool is quarantined: odd' },
    })
    expect(box.run(['tools', 'dynamic', 'quarantine', 'reverse', '--lift']).code).toBe(0)
    expect(box.run(['tools', 'dynamic', 'deprecate', 'reverse']).code).toBe(0)
    expect(box.json(['tools', 'dynamic', 'list'])).toMatchObject([{ verificationStatus: 'deprecated' }])
    expect(box.run(['tools', 'show', 'reverse']).stdout).toContain('Deprecated. Reverses a text')
    expect(box.run(['call', 'reverse', '{"text":"abc"}']).stdout).toBe('cba\n')
    expect(box.run(['tools', 'dynamic', 'export', 'reverse', 'reverse.json']).code).toBe(0)
    box.approve('delete_dynamic_tool', { tool_name: 'reverse', confirm: true })
    expect(box.run(['tools', 'dynamic', 'import', join(box.workspace, 'reverse.json')]).code).toBe(0)
    expect(box.run(['tools', 'dynamic', 'promote', 'reverse']).code).toBe(0)
    const elsewhere = join(box.home, 'elsewhere')
    box.write('../elsewhere/.kogu/config.toml', '')
    expect(box.run(['call', 'reverse', '{"text":"abc"}'], { cwd: elsewhere }).stdout).toBe('cba\n')
    const notes = box.run(['audit', 'list', '--limit', '200', '--json']).stdout
    for (const action of [
      'tool.create',
      'tool.run',
      'tool.update',
      'tool.delete',
      'tool.export',
      'tool.import',
      'verification.pass',
      'verification.fail',
    ])
      expect(notes).toContain(`"${action}"`)
  })
})
