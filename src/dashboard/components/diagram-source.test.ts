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
])('HTML in %j is text', (written, drawn) => {
  expect(diagramSource(written)).toBe(drawn)
})

test('settings in the text count for nothing', () => {
  expect(diagramSource('%%{init: {"securityLevel":"loose"}}%%\nflowchart LR')).toMatch(/^%% \{/)
  expect(diagramSource('%%{%%{init: {}}%%')).not.toContain('%%{')
  expect(diagramSource('---\nconfig:\n  securityLevel: loose\n---\nflowchart LR')).toBe('flowchart LR')
})

test('a sequence has no menus, which would work by scripts', () => {
  expect(diagramSource('sequenceDiagram\n link A: Home @ javascript:x\n A->>B: hi')).toBe(
    'sequenceDiagram\n\n A->>B: hi',
  )
})

test.each([
  'flowchart LR\n style A fill:url(https://example.com/x)',
  'flowchart LR\n style A fill:URL (x)',
  String.raw`flowchart LR${'\n'} style A fill:u\72l(x)`,
  'flowchart LR\n A@{ label: "x", img: "https://example.com/i.png" }',
  `flowchart LR\n${'A-->B\n'.repeat(10_000)}`,
])('what would load something, or is very large, is not drawn', text => {
  expect(diagramSource(text)).toBeUndefined()
})
