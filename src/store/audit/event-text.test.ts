import { expect, test } from 'vitest'
import type { AuditEvent } from '../../core/audit.ts'
import { compileLinear } from '../../core/linear-pattern.ts'
import { createRedactor } from '../../core/redact.ts'
import { createEventText } from './event-text.ts'

const finished: AuditEvent = {
  type: 'call-finished',
  call: 'call_1',
  run: 'run_1',
  tool: 'read_file',
  provider: 'builtin',
  access: [{ kind: 'file_read', path: '/w/a.txt' }],
  mode: 'ask',
  ok: false,
  error: { code: 'denied', message: 'No.' },
  decision: { outcome: 'deny', by: 'rule', ref: null, reason: 'Because.' },
  risk: 'low',
  effects: [],
  runMs: 1,
  waitMs: 2,
}

test('a pattern that matches everything hides what others said, and nothing of what Kogu says', () => {
  const redact = createRedactor({ patterns: [compileLinear('[\\s\\S]+')] })
  const told = JSON.parse(createEventText(redact)(finished))
  expect(told).toMatchObject({
    type: 'call-finished',
    call: 'call_1',
    run: 'run_1',
    tool: 'read_file',
    access: [{ kind: 'file_read' }],
    ok: false,
    error: { code: 'denied' },
    decision: { outcome: 'deny', by: 'rule' },
    risk: 'low',
  })
  expect(told.access[0].path).not.toContain('a.txt')
  const input = { command: 'ls', type: 'note' }
  const started: AuditEvent = {
    type: 'call-started',
    call: 'c',
    run: 'r',
    tool: 't',
    input,
    caller: 'cli',
    cwd: '/w',
  }
  expect(createEventText(redact)(started)).not.toContain('ls')
  expect(
    JSON.parse(createEventText(redact)({ type: 'note', action: 'trusted', details: { file: 'x' } })),
  ).toMatchObject({
    type: 'note',
    action: 'trusted',
  })
})

test('a name of ours that holds a known secret is redacted all the same', () => {
  const redact = createRedactor({ values: ['hunter2hunter2'] })
  const event: AuditEvent = {
    type: 'call-started',
    call: 'c',
    run: 'r',
    tool: 'hunter2hunter2',
    input: {},
    caller: 'cli',
    cwd: '/w',
  }
  expect(createEventText(redact)(event)).not.toContain('hunter2')
})
