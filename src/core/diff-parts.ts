import { applyPatch, parsePatch, reversePatch } from 'diff'

/** The parts of a change, each from its `@@` on. Only `\n` ends a line of a diff: `^` would also take a `\r` in a changed text. */
export function partsOf(diff: string): string[] {
  return diff.split(/(?<=\n)(?=@@ -)/).slice(1)
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
