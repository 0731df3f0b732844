import { describe, expect, test } from 'vitest'
import { type Message, userText } from './messages.ts'
import { createRehearsal, parseRehearsal, toRehearsal } from './rehearsal.ts'

const play = (script: string, messages: readonly Message[]) =>
  createRehearsal(parseRehearsal(script, 'demo.toml'), 'rehearsal:demo.toml').respond({
    system: '',
    messages,
    tools: [],
    signal: new AbortController().signal,
  })

const SCRIPT = `
[[answer]]
text = "You want: {{task}}"
[[answer.call]]
tool = "read_file"
input = { path = "a.txt" }

[[answer]]
text = "It says {{last.text}}, first {{results.1.data.size}}, not {{results.9.text}}."
`

const answered = (content: string): Message[] => [
  userText('count'),
  { role: 'assistant', content: [] },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'x', name: 'read_file', content, is_error: false }],
  },
]

describe('a rehearsal', () => {
  test('plays its answers in order, wherever the conversation stands', async () => {
    expect(await play(SCRIPT, [userText('count')])).toMatchObject({
      stopReason: 'tool_use',
      content: [
        { type: 'text', text: 'You want: count' },
        { type: 'tool_use', name: 'read_file', input: { path: 'a.txt' } },
      ],
    })
    expect(await play(SCRIPT, answered('{"size":3}'))).toMatchObject({
      stopReason: 'end_turn',
      content: [{ text: 'It says {"size":3}, first 3, not {{results.9.text}}.' }],
    })
  })

  test('says when it has no more answers', async () => {
    const over = [...answered('x'), { role: 'assistant' as const, content: [] }]
    expect(await play(SCRIPT, over)).toMatchObject({
      content: [{ text: 'The rehearsal has no more answers.' }],
    })
  })

  test('reaches nothing but the conversation', async () => {
    const script = '[[answer]]\ntext = "{{task.constructor}} {{__proto__.x}} {{results.constructor}}"\n'
    expect(await play(script, [userText('x')])).toMatchObject({
      content: [{ text: '{{task.constructor}} {{__proto__.x}} {{results.constructor}}' }],
    })
  })

  test('a broken script says where', () => {
    expect(() => parseRehearsal('answer = 1', 'a.toml')).toThrow(
      'The rehearsal a.toml cannot be read: answer:',
    )
    expect(() => parseRehearsal('[[answer]]\ntxt = "x"', 'a.toml')).toThrow('cannot be read')
    expect(() => parseRehearsal('[[', 'a.toml')).toThrow('cannot be read')
  })

  test('what a model said is recorded so that it plays the same again, templates and nulls included', async () => {
    const said: Message[] = [
      userText('x'),
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Vue: {{ message }}' },
          {
            type: 'tool_use',
            id: '1',
            name: 'write_file',
            input: { path: 'a', content: '{{task}}\n"quoted"', mode: null },
          },
        ],
      },
    ]
    expect(await play(toRehearsal(said, 'x'), [userText('other')])).toMatchObject({
      content: [
        { text: 'Vue: {{ message }}' },
        { name: 'write_file', input: { path: 'a', content: '{{task}}\n"quoted"' } },
      ],
    })
  })
})
