import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { globSearch } from './glob-search.ts'
import { createToolBench, type ToolBench } from './testing.ts'

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
})
afterAll(() => bench.close())

/** Makes files, each a second newer than the one before. */
function files(...names: string[]): void {
  names.forEach((name, index) => {
    mkdirSync(dirname(bench.at(name)), { recursive: true })
    writeFileSync(bench.at(name), name)
    utimesSync(bench.at(name), 1_700_000_000 + index, 1_700_000_000 + index)
  })
}

const find = async (pattern: string, more: object = {}) =>
  (await bench.call(globSearch, { pattern, ...more })).data.files

test('files come newest first, with the total and the offset that continues', async () => {
  files('order/a.ts', 'order/b.ts', 'order/deep/c.ts', 'order/d.js')
  const { text, data } = await bench.call(globSearch, { pattern: '**/*.ts', path: 'order', limit: 2 })
  expect(text).toBe('3 files match. Showing 1 to 2; continue with offset: 2.\norder/deep/c.ts\norder/b.ts')
  expect(data).toMatchObject({
    base: bench.at('order'),
    total: 3,
    returned: 2,
    truncated: true,
    next_offset: 2,
  })
  expect(await find('**/*.ts', { base_dir: 'order', cursor: '2' })).toEqual(['order/a.ts'])
  expect(await find('order/**/*', { sort: 'path' })).toEqual([
    'order/a.ts',
    'order/b.ts',
    'order/d.js',
    'order/deep/c.ts',
  ])
})

test.each([
  ['p/*.ts', ['p/a.ts', 'p/b.test.ts']],
  ['p/**/*.ts', ['p/a.ts', 'p/b.test.ts', 'p/x/c.ts', 'p/x/y/d.ts']],
  ['p/**', ['p/a.ts', 'p/b.test.ts', 'p/e.{js}', 'p/x/[id]/page.tsx', 'p/x/c.ts', 'p/x/y/d.ts']],
  ['p/*/*.ts', ['p/x/c.ts']],
  ['p/**/x/**/*.ts', ['p/x/c.ts', 'p/x/y/d.ts']],
  ['p/{a,x/c}.ts', ['p/a.ts', 'p/x/c.ts']],
  ['p/**/[cd].ts', ['p/x/c.ts', 'p/x/y/d.ts']],
  ['p/**/[!a-c].ts', ['p/x/y/d.ts']],
  ['p/?.ts', ['p/a.ts']],
  ['p/@(a|b.test).ts', ['p/a.ts', 'p/b.test.ts']],
  ['p/!(*.test).ts', ['p/a.ts']],
  ['p/x/[id]/*', ['p/x/[id]/page.tsx']],
  ['p/x/y/d.ts', ['p/x/y/d.ts']],
  ['./p//a.ts', ['p/a.ts']],
  ['p/**/**/d.ts', ['p/x/y/d.ts']],
  ['p/e.\\{js\\}', ['p/e.{js}']],
  ['p/none/**', []],
])('the pattern %s finds what it says', async (pattern, expected) => {
  files('p/a.ts', 'p/b.test.ts', 'p/x/c.ts', 'p/x/y/d.ts', 'p/x/[id]/page.tsx', 'p/e.{js}')
  expect(await find(pattern, { sort: 'path' })).toEqual(expected)
})

test('a pattern may be absolute or lead out of the folder, and the folder it begins in is what is judged', async () => {
  files('abs/in/a.ts')
  expect(await find(`${bench.root}/abs/**/*.ts`)).toEqual(['abs/in/a.ts'])
  expect(await find('../in/*.ts', { base_dir: 'abs/in' })).toEqual(['abs/in/a.ts'])
  const input = {
    pattern: '/etc/*.conf',
    base_dir: '.',
    max_results: 10,
    offset: 0,
    sort: 'path' as const,
    include_hidden: true,
    include_ignored: false,
  }
  const place = { cwd: bench.root, workspace: bench.root, receipts: bench.workspace.receipts }
  expect(globSearch.access(input, place)).toEqual([{ kind: 'file_read', path: '/etc' }])
  await expect(find('*/../a')).rejects.toMatchObject({ code: 'invalid_input' })
})

test('the same files are left out as git leaves out', async () => {
  const root = 'repo'
  const names = [
    'keep.txt',
    'a.log',
    'important.log',
    'build/out.js',
    'src/build/out.js',
    'src/a.tmp',
    'src/b.tmp',
    'docs/a/b/c.md',
    'docs/x.md',
    'deep/one/two/secret',
    'deep/secret',
    'top',
    'sub/top',
    '#hash',
    'trailing ',
    'sub/[x].txt',
    'node_modules/m/index.js',
    'sub/ignored-here/a',
    'sub/kept.gen',
    'excluded.by-info',
    '.hidden',
    'weird/a*b',
    'weird/aab',
    'foo/bar/baz',
    'foo/qux/bar',
    'x/y/z/w',
  ]
  files(...names.map(name => `${root}/${name}`))
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', bench.at(root), ...args], { encoding: 'utf8' })
  git('init', '-q')
  writeFileSync(
    bench.at(`${root}/.gitignore`),
    '*.log\n!important.log\n/build/\n# comment\n\\#hash\nnode_modules\ndocs/**/c.md\n/top\n**/secret\ntrailing\\ \nweird/a\\*b\nfoo/*/baz\nx/**\n!x/y/\n*.gen\r\n',
  )
  writeFileSync(bench.at(`${root}/src/.gitignore`), '*.tmp\n!b.tmp\n')
  writeFileSync(bench.at(`${root}/sub/.gitignore`), 'ignored-here/\n[[]x].txt\n!kept.gen\n')
  writeFileSync(bench.at(`${root}/.git/info/exclude`), '*.by-info\n')
  const expected = git('-c', 'core.excludesFile=/dev/null', 'ls-files', '-co', '--exclude-standard', '-z')
    .split('\0')
    .filter(Boolean)
    .sort()
  const found = await find('**', { base_dir: root, sort: 'path' })
  expect(found.map((path: string) => path.slice(root.length + 1))).toEqual(expected)
  // Below the root of the repository, the files above still hold.
  expect(await find('**', { base_dir: `${root}/sub`, sort: 'path' })).toEqual([
    'repo/sub/.gitignore',
    'repo/sub/kept.gen',
    'repo/sub/top',
  ])
  expect(await find('**/*.log', { base_dir: root, include_ignored: true })).toHaveLength(2)
  expect(await find('**/.hidden', { base_dir: root, include_hidden: false })).toEqual([])
})

test('what may not be read does not appear, not by its name and not through a link', async () => {
  files('rules/open.txt', 'rules/secret/key.txt')
  symlinkSync('secret/key.txt', bench.at('rules/link.txt'))
  symlinkSync('open.txt', bench.at('rules/good-link.txt'))
  symlinkSync('nowhere', bench.at('rules/broken'))
  const permit = { mayRead: (path: string) => !path.includes('/secret/') }
  const { data, text } = await bench.call(globSearch, { pattern: 'rules/**', sort: 'path' }, { permit })
  expect(data.files).toEqual(['rules/good-link.txt', 'rules/open.txt'])
  expect(data.total).toBe(2)
  expect(text).not.toContain('key')
})

test('loops of links, pipes, closed folders and hostile names do no harm', async () => {
  files('odd/a\nb.txt', 'odd/-rf', 'odd/\u202Etxt.exe', 'odd/closed/x.txt')
  symlinkSync('.', bench.at('odd/loop'))
  execFileSync('mkfifo', [bench.at('odd/pipe')])
  execFileSync('bash', ['-c', `touch "${bench.at('odd')}"/$'bad\\xff'`])
  chmodSync(bench.at('odd/closed'), 0)
  const { text, data } = await bench.call(globSearch, { pattern: 'odd/**', sort: 'path' })
  expect(data.files).toContain('odd/a\nb.txt')
  expect(text).toContain('odd/a⟨U+000A⟩b.txt')
  expect(text).toContain('odd/⟨U+202E⟩txt.exe')
  expect(data.files).not.toContain('odd/pipe')
  expect(data.files).toContain('odd/-rf')
  expect(data.files.some((path: string) => path.includes('loop/'))).toBe(false)
})

test('patterns that would run for ever or become thousands are quick or refused', async () => {
  files(`slow/${'a'.repeat(200)}`)
  expect(await find(`slow/${'*a'.repeat(40)}b`)).toEqual([])
  expect(await find('slow/+(a*|aa*)b')).toEqual([])
  await expect(find('{a,b}'.repeat(20))).rejects.toMatchObject({ code: 'invalid_input' })
  await expect(find('{1..100000}')).rejects.toMatchObject({ code: 'invalid_input' })
  writeFileSync(bench.at('slow/.gitignore'), `${'*a'.repeat(100)}b\n${'**/a'.repeat(100)}/b\n`)
  expect(await find('slow/a*')).toHaveLength(1)
})

test('nothing found says what was not looked at; a base folder that does not exist is an error', async () => {
  files('hint/deep/a.go')
  expect((await bench.call(globSearch, { pattern: '*.go', base_dir: 'hint' })).text).toContain(
    'use "**/*.go"',
  )
  await expect(find('*', { base_dir: 'nowhere' })).rejects.toMatchObject({ code: 'not_found' })
  await expect(find('*', { base_dir: 'hint/deep/a.go' })).rejects.toMatchObject({ code: 'invalid_input' })
})

test('a tree of 400 levels is walked', async () => {
  let path = 'levels'
  for (let i = 0; i < 400; i += 1) path += '/d'
  mkdirSync(bench.at(path), { recursive: true })
  writeFileSync(bench.at(`${path}/end.txt`), '')
  expect(await find('levels/**/end.txt')).toHaveLength(1)
})

test('a walk can be cancelled', async () => {
  const controller = new AbortController()
  controller.abort()
  await expect(bench.call(globSearch, { pattern: '**' }, { signal: controller.signal })).rejects.toThrow()
})

test('a bracket that is not closed is refused, a quoted one is a character', async () => {
  for (const pattern of ['[', '**/[a', 'x/{a,[b}'])
    await expect(bench.call(globSearch, { pattern })).rejects.toMatchObject({ code: 'invalid_input' })
  files('bracket/[a')
  expect(await find('bracket/\\[*')).toEqual(['bracket/[a'])
})

test('an offset behind the end says so', async () => {
  files('beyond/a')
  const { text } = await bench.call(globSearch, { pattern: 'beyond/*', offset: 3 })
  expect(text).toBe('1 file matches. None from offset 3 on.')
})

test('hidden files are named as the reason when they were left out and nothing else matches', async () => {
  files('dots/.env.sample', 'dots/.config/x.sample', 'dots/plain.txt')
  const { text } = await bench.call(globSearch, { pattern: 'dots/**/*.sample', include_hidden: false })
  expect(text).toContain('2 hidden files match; pass include_hidden: true to see them.')
  expect(text).not.toContain('.gitignore')
  const other = await bench.call(globSearch, { pattern: 'dots/**/*.zip', include_hidden: false })
  expect(other.text).not.toContain('include_hidden')
  const permit = { mayRead: (path: string) => !path.endsWith('.sample') }
  const unreadable = await bench.call(
    globSearch,
    { pattern: 'dots/**/*.sample', include_hidden: false },
    { permit },
  )
  expect(unreadable.text).not.toContain('include_hidden')
})

test('the folder of Kogu itself is searched only when it is named', async () => {
  files('own/.kogu/schema.json', 'own/a.json')
  expect(await find('own/**/*.json')).toEqual(['own/a.json'])
  expect(await find('**/*.json', { base_dir: 'own/.kogu' })).toEqual(['own/.kogu/schema.json'])
  expect(await find('own/.kogu/*.json')).toEqual(['own/.kogu/schema.json'])
})
