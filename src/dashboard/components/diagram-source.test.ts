import { expect, test } from 'vitest'
import { diagramSource } from './diagram-source.ts'

test('a plain diagram stays as it is, without its fence', () => {
  const plain = 'classDiagram\n A <|-- B\n class C { <<interface>> }\n note for A "one<br/>two"\n'
  expect(diagramSource(plain)).toBe(plain)
  expect(diagramSource(`Here:\n\`\`\`mermaid\n${plain}\`\`\`\n`)).toBe(plain)
  expect(diagramSource('flowchart LR\n A <--> B{{"x"}}')).toBe('flowchart LR\n A <--> B{{"x"}}')
})

test.each([
  ['A["<img src=x onerror=alert(1)>"]', 'A["#lt;img src=x onerror=alert(1)>"]'],
  ['A->>B: <script>x</script>', 'A->>B: #lt;script>x#lt;/script>'],
  ['A["&lt;img src=x&gt;"]', 'A["#amp;lt;img src=x#amp;gt;"]'],
  ['A["<<img src=x onerror=y>>"]', 'A["<#lt;img src=x onerror=y>>"]'],
  ['A["<br onclick=y>"]', 'A["#lt;br onclick=y>"]'],
  ['A["&ltimg src=x>"]', 'A["#amp;ltimg src=x>"]'],
  [String.raw`"<\img src=x>" : 1`, String.raw`"#lt;\img src=x>" : 1`],
])('HTML in %j is text', (written, drawn) => {
  expect(diagramSource(written)).toBe(drawn)
})

test('settings in the text count for nothing', () => {
  expect(diagramSource('%%{init: {"securityLevel":"loose"}}%%\nflowchart LR')).toMatch(/^%% \{/)
  expect(diagramSource('%%{%%{init: {}}%%')).not.toContain('%%{')
  expect(diagramSource('---\nconfig:\n  securityLevel: loose\n---\nflowchart LR')).toBe('flowchart LR')
  expect(diagramSource('--- \nconfig:\n  htmlLabels: true\n---\t\nflowchart LR')).toBe('flowchart LR')
})

test.each([
  '---\na: b\n---\n---\nconfig:\n  htmlLabels: true\n---\nflowchart LR',
  '---\rconfig:\r  htmlLabels: true\r---\rflowchart LR',
])('settings that are left in front of %j keep it from being drawn', text => {
  expect(diagramSource(text)).toBeUndefined()
})

test('a sequence has no menus, which would work by scripts', () => {
  expect(diagramSource('sequenceDiagram\n link A: Home @ javascript:x\n A->>B: hi')).toBe(
    'sequenceDiagram\n\n A->>B: hi',
  )
  const said = 'sequenceDiagram\n A->>B: send details\n'
  expect(diagramSource(said)).toBe(said)
})

test.each([
  'sequenceDiagram\n A->>B: hi; link A: Home @ javascript:x',
  'sequenceDiagram links A: {"Home": "javascript:x"}',
  'sequenceDiagram\n loop x\n end properties A: {"icon": "https://example.com/i.png"}',
])('a menu that does not begin its line in %j is not drawn', text => {
  expect(diagramSource(text)).toBeUndefined()
})

test.each([
  'flowchart LR\n style A fill:url(https://example.com/x)',
  'flowchart LR\n style A fill:URL (x)',
  String.raw`flowchart LR${'\n'} style A fill:u\72l(x)`,
  'flowchart LR\n A@{ label: "x", img: "https://example.com/i.png" }',
  'flowchart LR\n A@{ label: "}", img: "https://example.com/i.png" }',
  String.raw`flowchart LR${'\n'} A@{ "\x69mg": "https://example.com/i.png" }`,
  String.raw`flowchart LR${'\n'} A@{ label: "\x3cimg src=x onerror=y\x3e" }`,
  'flowchart LR\n style A fill:image-set("https://example.com/i.png" 1x)',
  `flowchart LR\n${'A-->B\n'.repeat(10_000)}`,
])('what would load something, or is very large, is not drawn', text => {
  expect(diagramSource(text)).toBeUndefined()
})
