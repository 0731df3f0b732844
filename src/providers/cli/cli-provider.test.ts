import { expect, test } from 'vitest'
import type { AnyTool } from '../../core/tool.ts'
import { type CliProviderOptions, createCliProvider } from './cli-provider.ts'

function offered(options: Partial<CliProviderOptions>): {
  tools: readonly AnyTool[]
  names: Record<string, string | undefined>
  problems: readonly string[]
} {
  let tools: readonly AnyTool[] = []
  let problems: readonly string[] = []
  const search = { name: 'grep_search', aliases: [] } as unknown as AnyTool
  createCliProvider({
    aliases: {},
    findProgram: () => undefined,
    searchWith: () => search,
    builtin: new Set(['grep_search', 'glob_search', 'read_file']),
    ...options,
  }).start(new AbortController().signal, (list, trouble = []) => {
    tools = list
    problems = trouble
  })
  return { tools, names: Object.fromEntries(tools.map(({ name, overrides }) => [name, overrides])), problems }
}

const installed =
  (...programs: string[]) =>
  (name: string) =>
    programs.includes(name) ? `/usr/bin/${name}` : undefined

test('without an alias no built-in tool is replaced, whatever is installed', () => {
  const { names } = offered({ findProgram: installed('rg', 'grep', 'fd', 'find', 'bat', 'cat', 'gh', 'jq') })
  expect(names).toEqual({ github: undefined, json_query: undefined })
})

test('the aliases of the founding documents work as far as nothing is lost', () => {
  const aliases = { grep_search: 'rg', glob_search: 'fd' }
  const { names, problems } = offered({ aliases, findProgram: installed('rg', 'fdfind') })
  expect(names).toEqual({ grep_search: 'grep_search' })
  expect(problems).toEqual([
    "'glob_search' stays built in: 'fd' lacks the order by time, pages, extended globs and the rules about files that may not be read",
  ])
  const read = offered({ aliases: { read_file: 'bat' }, findProgram: installed('batcat') })
  expect(read).toMatchObject({
    names: {},
    problems: [expect.stringMatching(/^'read_file' stays built in: 'bat' lacks the record of what was read/)],
  })
})

test('a program that is not installed leaves the built-in tool in place and says so', () => {
  expect(offered({ aliases: { grep_search: 'rg' } })).toMatchObject({
    names: {},
    problems: ["'grep_search' stays built in: the program 'rg' is not installed"],
  })
})

test('an alias for a name that nobody has makes a tool of the program', () => {
  expect(offered({ aliases: { my_tool: 'cowsay' }, findProgram: installed('cowsay') }).names).toEqual({
    my_tool: undefined,
  })
})

test('the tool runs the program by the name that it has here', () => {
  const { tools } = offered({ aliases: { find_names: 'fd' }, findProgram: installed('fdfind') })
  expect(tools[0]?.access({ args: ['x'] }, { cwd: '/' } as never)).toEqual([
    { kind: 'execute', command: 'fdfind x' },
  ])
})
