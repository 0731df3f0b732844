import { expect, test } from 'vitest'
import { refuseExtraWords } from './command.ts'
import { COMMANDS } from './commands.ts'

// These take any number of words, or say themselves what is wrong with them.
const OWN = ['call', 'explain', 'run', 'undo', 'changes', 'mcp', 'data', 'completion']

test.each(Object.keys(COMMANDS).filter(name => !OWN.includes(name)))(
  'kogu %s does not pass over a word that it does not use',
  async name => {
    const { words } = (await COMMANDS[name]?.load()) ?? {}
    expect(words).toBeDefined()
    const verbs = typeof words === 'object' ? Object.keys(words) : ['x']
    for (const verb of verbs)
      expect(() => refuseExtraWords(name, words, [verb, 'a', 'b', 'c'])).toThrow(
        /Unexpected argument: '[abcx]'/,
      )
  },
)

test('an argument too many is named, with the help to read', () => {
  const words = { verify: 1, show: 2 }
  expect(() => refuseExtraWords('audit', words, ['verify', 'old.jsonl'])).toThrow(
    expect.objectContaining({
      message: "Unexpected argument: 'old.jsonl'.",
      hint: 'See: kogu audit --help',
    }),
  )
  refuseExtraWords('audit', words, ['show', 'call_4f9c'])
  refuseExtraWords('audit', words, ['constructor', 'a', 'b'])
})
