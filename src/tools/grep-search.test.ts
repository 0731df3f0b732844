import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createToolBench, grepSearch, type ToolBench } from './testing.ts'

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
})
afterAll(() => bench.close())

function file(name: string, content: string | Uint8Array, age = 0): void {
  mkdirSync(dirname(bench.at(name)), { recursive: true })
  writeFileSync(bench.at(name), content)
  utimesSync(bench.at(name), 1_700_000_000 - age, 1_700_000_000 - age)
}

const grep = (pattern: string, more: object = {}) => bench.call(grepSearch, { pattern, ...more })

test('the files that match are listed, newest first', async () => {
  file('list/old.ts', 'needle\n', 10)
  file('list/new.ts', 'a needle\n', 1)
  file('list/other.ts', 'nothing\n')
  const { text, data } = await grep('need.e', { path: 'list' })
  expect(text).toBe('2 files match.\nlist/new.ts\nlist/old.ts')
  expect(data).toMatchObject({
    total: 2,
    files: ['list/new.ts', 'list/old.ts'],
    next_offset: null,
    sorted_by: 'modified',
  })
  const page = await grep('needle', { path: 'list', head_limit: 1 })
  expect(page.text).toBe('2 files match. Showing 1 to 1. Continue with offset: 1.\nlist/new.ts')
})

test('lines around the matches are shown when they are asked for, or the result says why not', async () => {
  file('around/a.ts', 'one\ntwo needle\nthree\n')
  for (const lines of [{ context_lines: 1 }, { '-C': 1 }, { '-B': 1, '-A': 1 }]) {
    const { text } = await grep('needle', { path: 'around', ...lines })
    expect(text).toBe('1 line matches in 1 file.\naround/a.ts\n1-one\n2:two needle\n3-three')
  }
  expect((await grep('needle', { path: 'around', context_lines: 0 })).text).toBe(
    '1 file matches.\naround/a.ts',
  )
  for (const output_mode of ['files_with_matches', 'count']) {
    const { text } = await grep('needle', { path: 'around', output_mode, context_lines: 1 })
    expect(text).toContain(
      `No context lines are shown with output_mode: "${output_mode}"; pass output_mode: "content" for them.`,
    )
  }
})

test('content comes in groups by file, with line numbers, context and totals', async () => {
  file('content/a.ts', 'one\ntwo needle\nthree\nfour\nfive\nsix needle\nseven\n')
  file('content/b.ts', 'needle needle\n')
  const { text, data } = await grep('needle', { path: 'content', output_mode: 'content', '-C': 1 })
  expect(text).toBe(
    [
      '3 lines match in 2 files.',
      'content/a.ts',
      '1-one',
      '2:two needle',
      '3-three',
      '--',
      '5-five',
      '6:six needle',
      '7-seven',
      'content/b.ts',
      '1:needle needle',
    ].join('\n'),
  )
  expect(data.matches[1]).toEqual({
    path: 'content/b.ts',
    total: 1,
    lines: [{ line: 1, text: 'needle needle', match: true }],
  })
  const second = await grep('needle', {
    path: 'content',
    output_mode: 'content',
    head_limit: 1,
    offset: 1,
    context_lines: 1,
  })
  expect(second.text).toBe(
    '3 lines match in 2 files. Showing 2 to 2. Continue with offset: 2.\ncontent/a.ts\n5-five\n6:six needle\n7-seven\n[1 of 2 matching lines of this file]',
  )
  const plain = await grep('needle', { path: 'content/a.ts', output_mode: 'content', '-n': false, '-A': 1 })
  expect(plain.text).toBe('2 lines match in 1 file.\ntwo needle\nthree\n--\nsix needle\nseven')
})

test('paging through content visits every match once, and one file cannot fill the result', async () => {
  for (let i = 0; i < 30; i += 1) file(`pages/f${i}.txt`, 'hit\n'.repeat(7))
  const seen: string[] = []
  for (let offset: number | null = 0; offset !== null; ) {
    const { data } = await grep('hit', { path: 'pages', output_mode: 'content', head_limit: 25, offset })
    expect(data.total).toBe(210)
    for (const group of data.matches) for (const line of group.lines) seen.push(`${group.path}:${line.line}`)
    offset = data.next_offset
  }
  expect(seen).toHaveLength(210)
  expect(new Set(seen).size).toBe(210)
  file('pages/f0.txt', 'hit\n'.repeat(5000))
  const capped = await grep('hit', {
    path: 'pages',
    output_mode: 'content',
    max_per_file: 3,
    head_limit: 1000,
  })
  expect(capped.data).toMatchObject({ total: 203 + 5000, returned: 90, next_offset: null })
  expect(capped.text).toContain(
    '[3 of 5000 matching lines of this file; for the rest pass this file as path, with offset: 3]',
  )
})

test('count mode counts lines per file', async () => {
  file('count/a.txt', 'x\nx x\ny\n')
  file('count/b.txt', 'x\n')
  const { text, data } = await grep('x', { path: 'count', output_mode: 'count' })
  expect(text).toBe('2 files match, 3 lines in all.\ncount/a.txt:2\ncount/b.txt:1')
  expect(data.counts).toEqual([
    { path: 'count/a.txt', count: 2 },
    { path: 'count/b.txt', count: 1 },
  ])
})

test('case, fixed strings, multiline and line ends', async () => {
  file('options/a.txt', 'Hello (world)\r\nsecond\r\nbegin\nmiddle\nend\n')
  const one = async (pattern: string, more: object) =>
    (await grep(pattern, { path: 'options', output_mode: 'content', ...more })).data.matches[0]?.lines[0]
  expect(await one('hello', {})).toBeUndefined()
  expect(await one('hello', { '-i': true })).toMatchObject({ line: 1 })
  expect(await one('(world)', { fixed_strings: true })).toEqual({
    line: 1,
    text: 'Hello (world)',
    match: true,
  })
  expect(await one('second$', {})).toMatchObject({ line: 2, text: 'second' })
  expect(await one('begin.*end', { multiline: true })).toEqual({
    line: 3,
    text: 'begin\nmiddle\nend',
    match: true,
  })
})

test('glob and type choose files and never bring back ignored ones', async () => {
  for (const name of ['a.ts', 'a.test.ts', 'src/b.ts', 'src/deep/c.tsx', 'd.py', 'gen.ts', 'x.foo'])
    file(`choose/${name}`, 'needle\n')
  file('choose/.gitignore', 'gen.ts\n')
  const found = async (more: object) =>
    (await grep('needle', { path: 'choose', ...more })).data.files.map((path: string) => path.slice(7)).sort()
  expect(await found({ glob: '*.ts' })).toEqual(['a.test.ts', 'a.ts', 'src/b.ts'])
  expect(await found({ file_pattern: '*.{ts,tsx}' })).toEqual([
    'a.test.ts',
    'a.ts',
    'src/b.ts',
    'src/deep/c.tsx',
  ])
  expect(await found({ glob: 'src/**/*.ts*' })).toEqual(['src/b.ts', 'src/deep/c.tsx'])
  expect(await found({ glob: '!*.test.ts', type: 'ts' })).toEqual(['a.ts', 'src/b.ts', 'src/deep/c.tsx'])
  expect(await found({ type: 'py' })).toEqual(['d.py'])
  expect(await found({ type: 'foo' })).toEqual(['x.foo'])
  expect(await found({ glob: 'gen.ts' })).toEqual([])
  expect(await found({ glob: 'gen.ts', no_ignore: true })).toEqual(['gen.ts'])
})

test('ignored files are named as the reason when nothing else matches', async () => {
  file('ignored/.gitignore', 'dist\n')
  file('ignored/dist/a.js', 'only here\n')
  expect((await grep('only here', { path: 'ignored' })).text).toBe(
    'No matches. 1 file that .gitignore leaves out matches; pass no_ignore: true to see them.',
  )
})

test('what may not be read does not appear in any mode, nor in the totals', async () => {
  file('rules/open.txt', 'needle\n')
  file('rules/secret.txt', 'needle in a secret\n')
  const permit = { mayRead: (path: string) => !path.endsWith('secret.txt') }
  for (const output_mode of ['content', 'files_with_matches', 'count']) {
    const { text, data } = await bench.call(
      grepSearch,
      { pattern: 'needle', path: 'rules', output_mode },
      { permit },
    )
    expect(data.total).toBe(1)
    expect(text + JSON.stringify(data)).not.toContain('secret')
  }
})

test('a pattern or path that looks like an option is a pattern or path', async () => {
  file('dash/--pre=evil', '-e needle --files\n')
  file('dash/a.txt', '--pre=/bin/sh\n')
  expect((await grep('--files', { path: 'dash' })).data.files).toEqual(['dash/--pre=evil'])
  expect((await grep('--pre=/bin/sh', { path: 'dash' })).data.files).toEqual(['dash/a.txt'])
  expect((await grep('needle', { path: 'dash/--pre=evil', output_mode: 'content' })).data.total).toBe(1)
  expect((await grep('needle', { path: 'dash', glob: '--pre=*' })).data.files).toEqual(['dash/--pre=evil'])
})

test('a pattern that is no regular expression is explained', async () => {
  await expect(grep('foo(')).rejects.toMatchObject({
    code: 'invalid_input',
    hint: expect.stringContaining('fixed_strings'),
  })
  const error = await grep('(?=x)').catch(reason => reason)
  expect(error.message).not.toContain('pcre2')
  expect(error.hint).toContain('Look-around')
  await expect(grep('a\nb')).rejects.toMatchObject({ hint: 'Pass multiline: true.' })
  await expect(grep('x', { path: 'no-such-folder' })).rejects.toMatchObject({ code: 'not_found' })
})

test('hostile names, long lines, binary junk, pipes and loops do no harm', async () => {
  file('odd/a\nb.txt', 'needle\n')
  file('odd/5:x-1.txt', 'needle\n')
  file('odd/long.js', `${'x'.repeat(300_000)}needle${'y'.repeat(300_000)}\n`)
  file('odd/monster.js', `${'z'.repeat(6_000_000)} needle\nneedle 2\n`)
  file('odd/latin.txt', Buffer.from('caf\xe9 needle\n', 'latin1'))
  file('odd/junk.bin', Buffer.concat([Buffer.from('needle\0\0'), Buffer.alloc(1000, 7)]))
  file('odd/wide.txt', Buffer.from('\uFEFFwide needle\n', 'utf16le'))
  execFileSync('mkfifo', [bench.at('odd/pipe')])
  symlinkSync('.', bench.at('odd/loop'))
  execFileSync('bash', ['-c', `echo needle > "${bench.at('odd')}"/$'bad\\xff.txt'`])
  const content = await grep('needle', { path: 'odd', output_mode: 'content' })
  const lineOf = (path: string) =>
    content.data.matches.find((group: { path: string }) => group.path === `odd/${path}`)?.lines[0]
  expect(lineOf('a\nb.txt').text).toBe('needle')
  expect(content.text).toContain('odd/a⟨U+000A⟩b.txt')
  expect(lineOf('long.js').text).toMatch(/^\[\d+ characters\] …x+needley+… \[\d+ characters\]$/)
  expect(lineOf('long.js').text.length).toBeLessThan(600)
  expect(lineOf('monster.js')).toMatchObject({
    line: 1,
    text: expect.stringMatching(/^\[\d+ bytes\] …z+ needle$/),
  })
  expect(lineOf('latin.txt').text).toContain('needle')
  expect(lineOf('wide.txt').text).toBe('wide needle')
  expect(lineOf('5:x-1.txt')).toMatchObject({ line: 1 })
  const files = await grep('needle', { path: 'odd' })
  expect(files.data.files).toContain('odd/a\nb.txt')
  expect(files.data.files.some((path: string) => path.includes('loop'))).toBe(false)
  const counts = await grep('needle', { path: 'odd', output_mode: 'count' })
  expect(counts.data.counts).toContainEqual({ path: 'odd/a\nb.txt', count: 1 })
})

test('a search can be cancelled', async () => {
  const controller = new AbortController()
  const call = bench.call(grepSearch, { pattern: 'x', path: '/usr' }, { signal: controller.signal })
  controller.abort()
  await expect(call).rejects.toThrow()
})

test('an offset behind the end says so', async () => {
  file('beyond/a.txt', 'x\n')
  for (const output_mode of ['files_with_matches', 'content', 'count']) {
    const { text, data } = await grep('x', { path: 'beyond', output_mode, offset: 100 })
    expect(text).toMatch(/^1 (file|line) matches.* None from offset 100 on\.$/)
    expect(data).toMatchObject({ returned: 0, truncated: false })
  }
})

test('look-around is refused without advice about options of ripgrep', async () => {
  const error = await grep('(?=x)', {}).catch(reason => reason)
  expect(error.code).toBe('invalid_input')
  expect(error.message).toMatch(/look-behind, is not supported: \(\?=x\)$/)
})

test.each(['[', 'src/[a', '!['])('the glob %j is not valid', async glob => {
  file('bad-glob/a.txt', 'x\n')
  await expect(grep('x', { glob })).rejects.toMatchObject({
    code: 'invalid_input',
    hint: expect.stringContaining('[abc]'),
  })
})

test.each([
  ['foo(', 'unclosed group: foo('],
  ['foo\\', 'it ends with a single \\: foo\\'],
  ['\\p{Foo}', 'Unicode property not found: \\p{Foo}'],
  ['a\nb(', 'unclosed group: a\nb('],
])('what is wrong with the pattern %j is said of the pattern as it was passed', async (pattern, reason) => {
  await expect(grep(pattern, { multiline: true })).rejects.toMatchObject({
    message: `The pattern is not a valid regular expression: ${reason}`,
  })
})

test('what is wrong with a glob is said of the glob as it was passed', async () => {
  await expect(grep('x', { glob: '[a' })).rejects.toThrow(/ in the pattern: \[a$/)
})

test('the folder of Kogu itself is searched only when it is named', async () => {
  file('own/.kogu/schema.json', 'needle\n')
  file('own/a.txt', 'needle\n')
  expect((await grep('needle', { path: 'own', no_ignore: true })).data.files).toEqual(['own/a.txt'])
  expect((await grep('needle', { path: 'own/.kogu' })).data.files).toEqual(['own/.kogu/schema.json'])
  expect((await grep('needle', { path: 'own/.kogu/schema.json' })).data.total).toBe(1)
})
