const [TAB, LINE_FEED, SPACE] = [9, 10, 32]
/** Lines that are looked at. */
const MOST_LINES = 2000

/** How a text indents its lines: `tabs`, `spaces:4`, `mixed`, or null when it does not. */
export function indentStyle(sample: string): string | null {
  let tabs = 0
  let spaces = 0
  const steps = new Map<number, number>()
  let previous = 0
  let start = 0
  for (let count = 0; count < MOST_LINES && start < sample.length; count += 1) {
    const end = endOfIndent(sample, start)
    if (isText(sample, end)) {
      if (sample.charCodeAt(start) === TAB) tabs += 1
      else {
        const width = end - start
        if (width > 0) spaces += 1
        // One space more is alignment (the stars of a comment), not indentation.
        if (width - previous > 1) steps.set(width - previous, (steps.get(width - previous) ?? 0) + 1)
        previous = width
      }
    }
    start = sample.indexOf('\n', end) + 1 || sample.length
  }
  if (tabs + spaces === 0) return null
  if (tabs > 0 && spaces > 0 && Math.min(tabs, spaces) * 5 > Math.max(tabs, spaces)) return 'mixed'
  if (tabs >= spaces) return 'tabs'
  const [width] = [...steps].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? [0]
  return width === 0 ? 'spaces' : `spaces:${width}`
}

function endOfIndent(sample: string, start: number): number {
  let at = start
  for (;;) {
    const code = sample.charCodeAt(at)
    if (code !== SPACE && code !== TAB) return at
    at += 1
  }
}

/** Whether a line goes on here with something that can be seen. */
function isText(sample: string, at: number): boolean {
  const code = sample.charCodeAt(at)
  if (code > SPACE && code < 0x7f) return true
  return at < sample.length && code !== LINE_FEED && /\S/.test(sample.charAt(at))
}
