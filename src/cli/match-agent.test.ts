import { expect, test } from 'vitest'
import { matchAgent } from './match-agent.ts'

const AGENTS = [
  { execution: 'aa11', name: 'root', isAtWork: false },
  { execution: 'bb11', name: 'reader', isAtWork: true },
  { execution: 'bb22', name: 'reader', isAtWork: false },
  { execution: 'cc11', name: 'writer', isAtWork: true },
  { execution: 'cc22', name: 'writer', isAtWork: true },
]

test('a sub-agent is meant by its name while it works, or by the beginning of its id', () => {
  expect(matchAgent('reader', AGENTS)).toBe('bb11')
  expect(matchAgent('bb2', AGENTS)).toBe('bb22')
})

test('one that cannot be told apart, or is not there, is asked for again', () => {
  expect(() => matchAgent('writer', AGENTS)).toThrow(/2 sub-agents are called 'writer':\n {2}cc11\n {2}cc22/)
  expect(() => matchAgent('bb', AGENTS)).toThrow('start of 2 agent ids')
  expect(() => matchAgent('editor', AGENTS)).toThrow("No sub-agent 'editor' is running in this run.")
})

test('an agent that a model has given the id of another one is not stopped in its place', () => {
  const own = { execution: 'abcd-1234', name: 'own', isAtWork: true }
  const twin = (name: string) => ({ execution: 'dd11', name, isAtWork: true })
  expect(matchAgent('abcd-1234', [own, twin('abcd-1234')])).toBe('abcd-1234')
  expect(() => matchAgent('abcd', [own, twin('abcd')])).toThrow(
    /2 sub-agents are called 'abcd':\n {2}dd11\n {2}abcd-1234/,
  )
})
