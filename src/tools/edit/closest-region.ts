import { toVisible } from '../../core/visible.ts'
import { lineTable, splitLines } from './lines.ts'
import { mostSimilar } from './similarity.ts'

const SHOWN_LINES = 12
const SHOWN_CHARACTERS = 160

/** The lines most like the old text, with the first characters that differ. */
export function closestRegion(before: string, oldText: string): string | undefined {
  const table = lineTable(before)
  const wanted = splitLines(oldText, false)
  const best = mostSimilar(
    table,
    wanted.map(line => line.text),
  )[0]
  if (best === undefined || best.score < 0.35) return undefined
  const shown: string[] = []
  let differing = 0
  for (const [index, { text, eol }] of wanted.entries()) {
    if (shown.length >= 2 * SHOWN_LINES) break
    const inFile = table.lines[best.first + index]?.text ?? ''
    shown.push(`${String(best.first + index + 1).padStart(6)}  ${clip(inFile)}`)
    // A quotation may begin and end inside a line.
    const [isFirst, isLast] = [index === 0, eol === '']
    if (isFirst ? inFile.endsWith(text) : isLast ? inFile.startsWith(text) : inFile === text) continue
    if (differing < 3) {
      const start = isFirst ? alignment(inFile, text) : 0
      shown.push(
        `  yours  ${' '.repeat(Math.min(start, SHOWN_CHARACTERS / 2))}${clip(text)}`,
        `         ${firstDifference(inFile, text, start)}`,
      )
    }
    differing += 1
  }
  const last = best.first + wanted.length
  const where = wanted.length === 1 ? `line ${last}` : `lines ${best.first + 1}-${last}`
  return `Closest is ${where} (${Math.round(best.score * 100)} % alike):\n${shown.join('\n')}\n`
}

/** Characters of a line in which the place of a quotation is looked for. */
const MOST_ALIGNED = 400

/** Where in the line of the file the quotation begins: where most of its beginning is the same. */
function alignment(inFile: string, yours: string): number {
  const isIndented = /^\s/.test(yours)
  let best = isIndented ? 0 : inFile.length - inFile.trimStart().length
  let most = commonStart(inFile, best, yours)
  for (let at = 0; at < Math.min(inFile.length, MOST_ALIGNED); at += 1) {
    const common = commonStart(inFile, at, yours)
    // A few characters are the same somewhere in most lines.
    if (common > Math.max(most, 3)) {
      best = at
      most = common
    }
  }
  return best
}

function commonStart(inFile: string, at: number, yours: string): number {
  const end = Math.min(inFile.length - at, yours.length, MOST_ALIGNED)
  let length = 0
  while (length < end && inFile[at + length] === yours[length]) length += 1
  return length
}

function firstDifference(inFile: string, yours: string, start: number): string {
  const a = Array.from(inFile.slice(start))
  const b = Array.from(yours)
  const at = a.findIndex((character, index) => character !== b[index])
  const index = at === -1 ? a.length : at
  const column = Array.from(inFile.slice(0, start)).length + index + 1
  return `column ${column}: the file has ${nameOf(a[index])}, old_string has ${nameOf(b[index])}`
}

/** A character as it can be told from others that look like it. */
export function nameOf(character: string | undefined): string {
  if (character === undefined) return 'the end of the line'
  if (character === '\t') return 'a tab'
  if (character === ' ') return 'a space'
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return /[\p{C}\p{Z}\p{M}]/u.test(character) ? `U+${code}` : `${character} (U+${code})`
}

function clip(line: string): string {
  const visible = toVisible(line)
  return visible.length > SHOWN_CHARACTERS ? `${visible.slice(0, SHOWN_CHARACTERS)}…` : visible
}
