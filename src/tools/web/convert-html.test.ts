import { expect, test } from 'vitest'
import { convertHtml } from './convert-html.ts'

const markdown = (html: string): string => convertHtml(html, 'https://site.test/dir/page', 'markdown').text
const text = (html: string): string => convertHtml(html, 'https://site.test/', 'text').text

test('headings, emphasis and paragraphs keep their meaning', () => {
  expect(markdown('<h1>A <b>b</b></h1><p>One <em> two </em>three.<p>Four<h3></h3>')).toBe(
    '# A **b**\n\nOne _two_ three.\n\nFour',
  )
  expect(text('<h1>A <b>b</b></h1><p>One')).toBe('A b\n\nOne')
})

test('links are absolute, unsafe ones are text, and cards are one line', () => {
  expect(
    markdown('<a href="../x y">a</a> <a href="javascript:1">b</a> <a href="#c">c</a> <a href="/d"></a>'),
  ).toBe('[a](https://site.test/x%20y) b c')
  expect(markdown('<a href="/card"><h3>Title</h3><p>Text</p></a>')).toBe(
    '[Title Text](https://site.test/card)',
  )
  expect(
    convertHtml('<a href=/a>A</a><a href=/a>A</a><a href=/b>B', 'https://site.test/', 'text').links,
  ).toEqual([
    { text: 'A', url: 'https://site.test/a' },
    { text: 'B', url: 'https://site.test/b' },
  ])
})

test('a base is what relative links are relative to', () => {
  expect(
    markdown('<base href="https://other.test/d/"><base href="https://evil.test/"><a href="x">l</a>'),
  ).toBe('[l](https://other.test/d/x)')
})

test('lists nest, count and leave their end tags out', () => {
  expect(markdown('<ul><li>a<li>b<ol start=3><li>c<li>d</ol><li>e</ul>after')).toBe(
    '- a\n- b\n  3. c\n  4. d\n- e\n\nafter',
  )
})

test('tables of data are tables, tables for layout are what is in them', () => {
  expect(markdown('<table><tr><th>A<th>B<tr><td>1<td>2|3</table>')).toBe(
    '| A | B |\n| --- | --- |\n| 1 | 2\\|3 |',
  )
  expect(markdown('<table><tr><td><h2>T</h2><p>x</p><ul><li>i</ul></td></tr></table>')).toBe(
    '## T\n\nx\n\n- i',
  )
  expect(text('<table><tr><td>a<td>b<tr><td>c<td>d</table>')).toBe('a\tb\nc\td')
})

test('code stays as it is and cannot end itself', () => {
  expect(markdown('<pre><code class="language-js">a\n  b &lt; c\n```\n</code></pre>')).toBe(
    '````js\na\n  b < c\n```\n````',
  )
  expect(markdown('Use <code>x &amp; y</code>.')).toBe('Use `x & y`.')
})

test('quotes have their margin, also between paragraphs', () => {
  expect(markdown('a<blockquote><p>b<p>c</blockquote>d')).toBe('a\n\n> b\n>\n> c\n\nd')
})

test('a drawing or a hidden element that never ends does not swallow what browsers show', () => {
  expect(markdown('<svg><g>no<p>yes')).toBe('yes')
  expect(markdown('<p hidden>no<p>yes')).toBe('yes')
  expect(markdown('<input hidden>yes')).toBe('yes')
  expect(markdown('<math><mi>no<p>yes')).toBe('yes')
})

test('ordinary styles hide nothing', () => {
  for (const style of [
    'color:rgb(0,0,0)',
    'color:#000',
    'opacity:0.5',
    'left:-5px',
    'font-size:10px',
    'color:#fff;background:#000',
    'height:100px',
    'color:\\',
  ]) {
    expect(markdown(`<p style="${style}">yes`), style).toBe('yes')
  }
})

test('titles come from the head, not from drawings', () => {
  const page = convertHtml(
    '<svg><title>no</title></svg><title> A\n b </title>x',
    'https://site.test/',
    'text',
  )
  expect(page).toMatchObject({ title: 'A b', text: 'x' })
})

test('a small page does not become a large text', () => {
  const page = convertHtml(
    `${'<blockquote>'.repeat(200)}${'x<br>'.repeat(900_000)}`,
    'https://site.test/',
    'text',
  )
  expect(page.cut).toBe(true)
  expect(page.text.length).toBeLessThan(10_100_000)
})
