import { applyPatch, parsePatch, reversePatch } from 'diff'

/**
 * The parts of a change, each from its `@@` on, after the name of its file where there are several. Files stand apart by an empty
 * line. Only `\n` ends a line of a diff: a changed text may hold a `\r`.
 */
export function partsOf(diff: string): string[] {
  const parts: { file: string; text: string }[] = []
  let file = ''
  let open: { text: string } | undefined
  for (const line of diff.split(/(?<=\n)/)) {
    if (line.startsWith('@@ -')) {
      const part = { file, text: line }
      parts.push(part)
      open = part
    } else if (open !== undefined && /^[ +\\-]/.test(line)) open.text += line
    else {
      open = undefined
      if (line.startsWith('+++ ')) file = line
    }
  }
  const isOne = parts.every(part => part.file === parts[0]?.file)
  return parts.map(part => (isOne ? part.text : `${part.file}${part.text}`))
}

/** What each part begins with: the name of its file where there are several, and its place. */
export function headsOf(diff: string): string[] {
  return partsOf(diff).map(part => /^(?:\+\+\+ .*\n)?.*/.exec(part)?.[0] ?? '')
}

/**
 * The text without these parts of the change that led to it, counted from 0. Undefined when the diff is not about this text,
 * or about more than one file.
 */
export function withoutParts(after: string, diff: string, parts: ReadonlySet<number>): string | undefined {
  try {
    const [patch, ...others] = parsePatch(diff)
    if (patch === undefined || others.length > 0) return undefined
    const left = patch.hunks.filter((_, index) => parts.has(index))
    if (left.length !== parts.size) return undefined
    const text = applyPatch(after, reversePatch({ ...patch, hunks: left }))
    return text === false ? undefined : text
  } catch {
    // A diff that was shortened, or that says only how large the change is.
    return undefined
  }
}
