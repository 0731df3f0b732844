/** One of many things to show: in one line, and in full. */
export interface Entry {
  readonly line: string
  /** More than the line says; called only when there is room. */
  readonly full?: () => string
}

/** How much is left of what a person reads at once; shared by all that is shown together. */
export interface Room {
  /** Lines of what is shown in full. What begins within them is cut where they end. */
  full: number
  /** Lines after that, one for each. */
  lines: number
}

export function createRoom(full = 200, lines = 50): Room {
  return { full, lines }
}

/** As many entries as there is room for, the first ones in full, and how many more there are. */
export function showEntries(entries: readonly Entry[], room: Room): string[] {
  const shown: string[] = []
  for (const { line, full } of entries) {
    if (room.full > 0) {
      const lines = (full?.() ?? line).split('\n')
      shown.push(cut(lines, room.full))
      room.full -= lines.length
    } else if (room.lines > 0) {
      room.lines -= 1
      shown.push(line)
    } else {
      shown.push(`  and ${entries.length - shown.length} more (all of it: --json)`)
      break
    }
  }
  return shown
}

function cut(lines: readonly string[], most: number): string {
  if (lines.length <= most) return lines.join('\n')
  return `${lines.slice(0, most).join('\n')}\n    … ${lines.length - most} more lines`
}
