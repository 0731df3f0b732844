/** How a text indents its lines: `tabs`, `spaces:4`, `mixed`, or null when it does not. */
export function indentStyle(sample: string): string | null {
  let tabs = 0
  let spaces = 0
  const steps = new Map<number, number>()
  let previous = 0
  for (const line of sample.split('\n', 2000)) {
    const indent = /^([ \t]*)\S/.exec(line)?.[1]
    if (indent === undefined) continue
    if (indent.startsWith('\t')) tabs += 1
    else {
      const step = indent.length - previous
      if (indent.length > 0) spaces += 1
      // One space more is alignment (the stars of a comment), not indentation.
      if (step > 1) steps.set(step, (steps.get(step) ?? 0) + 1)
      previous = indent.length
    }
  }
  if (tabs + spaces === 0) return null
  if (tabs > 0 && spaces > 0 && Math.min(tabs, spaces) * 5 > Math.max(tabs, spaces)) return 'mixed'
  if (tabs >= spaces) return 'tabs'
  const [width] = [...steps].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? [0]
  return width === 0 ? 'spaces' : `spaces:${width}`
}
