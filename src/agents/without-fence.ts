/**
 * What an answer says when the whole of it is one code block; models often answer so with a file or with JSON. Undefined
 * when it is not: text around the block, or a second block, means that the fences belong to what is said.
 */
export function withoutFence(text: string): { info: string; inside: string } | undefined {
  const [first = '', ...rest] = text.trim().split('\n')
  const last = rest.pop() ?? ''
  const opening = FENCE.exec(first)
  const [, marks = '', info = ''] = opening ?? []
  if (opening === null || info.includes('`') || !closes(last, marks)) return undefined
  // A block in the block: one that names its language, or has fewer marks. A bare line of marks ends the one that is open.
  let isNested = false
  for (const line of rest) {
    const [, own = '', name = ''] = FENCE.exec(line) ?? []
    if (own[0] !== marks[0]) continue
    if (isNested) isNested = name !== ''
    else if (closes(line, marks)) return undefined
    else isNested = true
  }
  return isNested ? undefined : { info: info.toLowerCase(), inside: rest.map(line => `${line}\n`).join('') }
}

/**
 * A model's answer as the content of a file. A fence around all of it goes, with one line before it where code cannot
 * begin with words. In Markdown, blocks are content: only a fence that says it holds Markdown goes.
 */
export function toFileText(answer: string, path: string): string {
  const isMarkdown = /\.(md|mdx|markdown)$/i.test(path)
  const isCode = /\.\w+$/.test(path) && !isMarkdown && !/\.(txt|text|rst|adoc|org)$/i.test(path)
  const [, afterLine] = (isCode && /^\s*[^`~\s][^\n]*\n\s*?(?=[`~]{3})([\s\S]*)$/.exec(answer)) || []
  const found = withoutFence(answer) ?? (afterLine === undefined ? undefined : withoutFence(afterLine))
  const isWrapping = found !== undefined && (!isMarkdown || /^(md|mdx|markdown)\b/.test(found.info))
  const text = isWrapping ? found.inside : answer
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*(.*?)\s*$/

function closes(line: string, marks: string): boolean {
  const [, own = '', name] = FENCE.exec(line) ?? []
  return name === '' && own[0] === marks[0] && own.length >= marks.length
}
