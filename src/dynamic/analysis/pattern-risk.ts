/**
 * Whether a regular expression repeats, without bound, a group that itself repeats without bound: such patterns take
 * exponential time on some inputs. Reads the pattern's structure: `a++`, classes and escapes do not count.
 */
export function hasNestedQuantifier(pattern: string): boolean {
  // For each open group: whether it holds an unbounded repetition so far.
  const groups: boolean[] = [false]
  let index = 0
  let closed: boolean | undefined
  while (index < pattern.length) {
    const character = pattern[index]
    const quantifier = unboundedAt(pattern, index)
    if (character === '\\') {
      index += 2
      closed = undefined
    } else if (character === '[') {
      index = endOfClass(pattern, index)
      closed = undefined
    } else if (character === '(') {
      groups.push(false)
      index += 1
      closed = undefined
    } else if (character === ')') {
      closed = groups.pop() ?? false
      // What a group repeats, the group around it holds too.
      if (closed) groups[groups.length - 1] = true
      index += 1
    } else if (quantifier > 0) {
      if (closed === true) return true
      groups[groups.length - 1] = true
      index += quantifier
      closed = undefined
    } else {
      index += 1
      if (character !== '?' && character !== '{') closed = undefined
    }
  }
  return false
}

/** The length of an unbounded quantifier (`*`, `+`, `{2,}`), or 0. */
function unboundedAt(pattern: string, index: number): number {
  if (pattern[index] === '*' || pattern[index] === '+') return 1
  return /^\{\d*,\}/.exec(pattern.slice(index, index + 20))?.[0].length ?? 0
}

function endOfClass(pattern: string, start: number): number {
  for (let index = start + 1; index < pattern.length; index += 1) {
    if (pattern[index] === '\\') index += 1
    else if (pattern[index] === ']') return index + 1
  }
  return pattern.length
}
