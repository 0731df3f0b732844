import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { positionInString } from './string-position.ts'

test.each([
  ['a plain string', 'command = "ls {x}"', [1, 15]],
  ['a literal one', "command = 'ls \\{x}'", [1, 16]],
  ['escapes', 'command = "a\\t\\u0041\\"{x}"', [1, 23]],
  ['several lines', 'command = """\nls \\\n   -l {x}\n"""', [3, 7]],
  ['several lines as they stand', "command = '''\nls\n{x}\n'''", [3, 1]],
  ['one that begins in its first line', 'command = """ls {x}"""', [1, 17]],
])('finds the place in %s', (_, toml, [line, column]) => {
  const { command } = parse(toml) as { command: string }
  expect(positionInString(toml, { line: 1, column: 11 }, command.indexOf('{x}'))).toEqual({ line, column })
  // Not only what is expected here: it is what stands there.
  expect(toml.split('\n')[Number(line) - 1]?.slice(Number(column) - 1)).toMatch(/^\{x\}/)
})
