import { parseDiff } from './parse-diff.ts'

/** The text as it was before the change that the diff describes; undefined when the diff is not about exactly this text. */
export function reverseDiff(after: string, diff: string): string | undefined {
  // What stands before the first file changes nothing.
  const [file, ...others] = parseDiff(diff).filter(({ path }) => path !== '')
  if (file === undefined || others.length > 0 || file.added + file.removed === 0) return undefined
  const lines = after.split('\n')
  const before: string[] = []
  let at = 0
  for (const { kind, text, after: number } of file.lines) {
    if (kind === 'hunk') {
      const [, start, count = '1'] = /^@@ \S+ \+(\d+)(?:,(\d+))?/.exec(text) ?? []
      if (start === undefined) continue
      const to = count === '0' ? Number(start) : Number(start) - 1
      if (to < at) return undefined
      before.push(...lines.slice(at, to))
      at = to
      continue
    }
    if (kind === 'removed') {
      before.push(text)
      continue
    }
    if (number !== at + 1 || lines[at] !== text) return undefined
    at += 1
    if (kind === 'same') before.push(text)
  }
  return [...before, ...lines.slice(at)].join('\n')
}
