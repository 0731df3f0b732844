import { existsSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'

const boxes: TestRuntime[] = []
afterEach(async () => {
  for (const box of boxes.splice(0)) await box.close()
})

async function toolsWith(config: string) {
  const box = await openTestRuntime(config)
  boxes.push(box)
  return box.runtime.registry.list()
}

const ALIAS =
  '[tools.cli.aliases]\ncount_words = "wc"\n[tools.custom.hello]\ndescription = "x"\ncommand = "echo hi"\n'

test.each([
  ['', true, true],
  ['[tools]\nproviders = ["cli", "builtin"]\n', true, true],
  ['[tools]\nproviders = ["builtin"]\n', true, false],
  ['[tools]\nproviders = ["cli"]\n', false, true],
  ['[tools.builtin]\nenabled = false\n', false, true],
  ['[tools.cli]\nenabled = false\n', true, false],
])(
  '%j decides about built-in tools and programs, and not about custom tools',
  async (config, builtin, cli) => {
    const names = (await toolsWith(config + ALIAS)).map(({ tool }) => tool.name)
    expect(names.includes('read_file')).toBe(builtin)
    expect(names.includes('count_words')).toBe(cli)
    expect(names).toContain('hello')
  },
)

test('a provider that cannot be named there is an error', async () => {
  await expect(toolsWith('[tools]\nproviders = ["cli", "mcp"]\n')).rejects.toThrow('"builtin" and "cli"')
})

test('the tools of the founding documents have their parameters and risks', async () => {
  const tools = new Map((await toolsWith('')).map(({ tool }) => [tool.name, tool]))
  const expected = {
    read_file: ['low', ['path'], ['offset', 'limit']],
    write_file: ['high', ['path', 'content'], ['create_dirs']],
    run_command: ['high', ['command'], ['working_dir', 'timeout_secs']],
    glob_search: ['low', ['pattern'], ['base_dir', 'max_results']],
    grep_search: ['low', ['pattern'], ['path', 'file_pattern', 'context_lines', 'case_insensitive']],
    web_fetch: ['low', ['url'], ['max_length']],
    web_search: ['low', ['query'], []],
  } as const
  for (const [name, [risk, required, optional]] of Object.entries(expected)) {
    const tool = tools.get(name)
    expect(tool?.risk, name).toBe(risk)
    const { properties = {}, required: needed } = tool?.input.json ?? {}
    expect(needed, name).toEqual(required)
    const known = [...Object.keys(Object(properties)), ...Object.keys(tool?.parameterAliases ?? {})]
    expect(known, name).toEqual(expect.arrayContaining([...required, ...optional]))
  }
})

test.runIf(existsSync('/usr/bin/rg'))(
  'a search with the ripgrep of the machine answers as the built-in one does, and is trusted as it is',
  async () => {
    const answers = []
    for (const config of ['', '[tools.cli.aliases]\ngrep_search = "/usr/bin/rg"\n']) {
      const box = await openTestRuntime(config)
      boxes.push(box)
      box.write('a.txt', 'one\nTwo\nthree\n')
      box.write('.hidden/b.txt', 'two \u001b[2J\n')
      box.write('wide.txt', Buffer.from('\ufefftwo\n', 'utf16le').toString('latin1'))
      box.write('ignored.log', 'two\n')
      box.write('.gitignore', '*.log\n')
      const inputs = [
        { pattern: 'two', path: '.' },
        { pattern: 'two', path: '.', '-i': true, output_mode: 'content', '-C': 1 },
        { pattern: 'two', path: '.', file_pattern: '*.txt', case_insensitive: true, output_mode: 'count' },
        { pattern: '(', path: '.' },
      ]
      const [entry] = box.runtime.registry.candidates('grep_search')
      const results = await box.runtime.callAll(inputs.map(input => ({ tool: 'Grep', input })))
      answers.push({
        provider: entry?.provider.id,
        results: results.map(({ ok, text, error, label }) => ({
          ...{ ok, error, text, trusted: label?.trusted, origin: label?.origin },
        })),
      })
    }
    const [builtin, alias] = answers
    expect([builtin?.provider, alias?.provider]).toEqual(['builtin', 'cli'])
    expect(alias?.results).toEqual(builtin?.results)
    expect(alias?.results.map(({ ok }) => ok)).toEqual([true, true, true, false])
  },
)
