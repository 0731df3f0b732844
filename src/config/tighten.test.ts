import { expect, test } from 'vitest'
import { createTestMachine } from './test-machine.ts'

const write = (...folders: string[]) => `[sandbox]\nbackground_write = ${JSON.stringify(folders)}\n`

test('a file that is not trusted can close folders for background commands, and open none', async () => {
  const machine = createTestMachine()
  machine.write('kogu.toml', write('dist', 'src'))
  expect(machine.load().config.sandbox.background_write).toEqual([])
  expect(machine.load().warnings[0]?.message).toContain('sandbox.background_write')
  machine.write('user/config.toml', write('dist', '.next'))
  expect(machine.load().config.sandbox.background_write).toEqual(['dist'])
  await machine.trustNow()
  expect(machine.load().config.sandbox.background_write).toEqual(['dist', 'src'])
})

test.each([
  '',
  '.',
  '..',
  '../out',
  'dist/../..',
  '/etc',
  '/',
  '~',
  '~/x',
  'dist//x',
  'dist/',
  'a\\..\\b',
  'a\0b',
])('background_write does not take %j', folder => {
  const machine = createTestMachine()
  machine.write('user/config.toml', write(folder))
  expect(() => machine.load()).toThrow(/inside the workspace/)
})

test('a file that is not trusted cannot put a number of approvals in the place of a stricter rule', () => {
  const machine = createTestMachine()
  machine.write('user/config.toml', '[quorum]\nrule = "unanimous"\n')
  machine.write('kogu.toml', '[reviewers]\nneeded = 1\n')
  expect(machine.load().config.reviewers.needed).toBeUndefined()
  machine.write('user/config.toml', '[reviewers]\nneeded = 2\n')
  expect(machine.load().config.reviewers.needed).toBe(2)
  machine.write('kogu.toml', '[reviewers]\nneeded = 3\n')
  expect(machine.load().config.reviewers.needed).toBe(3)
})
