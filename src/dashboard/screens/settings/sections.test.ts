import { expect, test } from 'vitest'
import { sectionOf } from './sections.ts'

test('a setting belongs to the section of its table, whatever it is called', () => {
  expect(sectionOf('mode')).toBe('general')
  expect(sectionOf('limits.budget.day')).toBe('general')
  expect(sectionOf('notify.desktop')).toBe('notifications')
  expect(sectionOf('redaction.patterns')).toBe('retention')
  expect(sectionOf('mcp.server.url')).toBe('others')
  expect(sectionOf('constructor')).toBe('others')
})
