export interface TextEdit {
  readonly old_string: string
  readonly new_string: string
}

/**
 * One replacement of whole lines that makes the one text of the other, with as many lines around it as tell the place apart.
 * They are doubled until they do: one by one, a long text of equal lines would be searched once for each of them.
 */
export function smallestEdit(before: string, after: string): TextEdit {
  const [old, fresh] = [toLines(before), toLines(after)]
  const most = Math.min(old.length, fresh.length)
  let head = 0
  while (head < most && old[head] === fresh[head]) head += 1
  let tail = 0
  while (tail < most - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1
  for (let more = 1; ; more *= 2) {
    const old_string = old.slice(head, old.length - tail).join('')
    const isWhole = head === 0 && tail === 0
    if (isWhole || occursOnce(before, old_string))
      return { old_string, new_string: fresh.slice(head, fresh.length - tail).join('') }
    head = Math.max(0, head - more)
    tail = Math.max(0, tail - more)
  }
}

function toLines(text: string): string[] {
  return text.split(/(?<=\n)/)
}

function occursOnce(text: string, part: string): boolean {
  return part !== '' && text.indexOf(part) === text.lastIndexOf(part)
}
