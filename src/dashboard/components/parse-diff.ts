export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'hunk'
  readonly text: string
  readonly before?: number
  readonly after?: number
  /** The part that differs from the line it takes the place of. */
  readonly changed?: readonly [number, number]
}

export interface DiffFile {
  readonly path: string
  readonly added: number
  readonly removed: number
  readonly lines: readonly DiffLine[]
}

interface Position {
  before: number
  after: number
  /** Lines that the hunk still has: inside of it, a removed `-- x` is no header of a file. */
  oldLeft: number
  newLeft: number
}

/** Reads unified diffs. What stands before the first file, or all of a text that is no diff, is a file without a name. */
export function parseDiff(text: string): DiffFile[] {
  const head: string[] = []
  const files: { path: string; lines: DiffLine[] }[] = []
  const now: Position = { before: 0, after: 0, oldLeft: 0, newLeft: 0 }
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (const [index, line] of lines.entries()) {
    const file = files.at(-1)
    const content = file === undefined ? undefined : readContent(line, now)
    if (content !== undefined) {
      file?.lines.push(content)
      continue
    }
    const header = readHeader(line, lines[index + 1] ?? '')
    if (header !== undefined) files.push({ path: header, lines: [] })
    else if (file === undefined) head.push(line)
    else if (!(line.startsWith('+++ ') && file.lines.length === 0)) {
      startHunk(line, now)
      file.lines.push({ kind: 'hunk', text: line })
    }
  }
  const said = head.join('\n').trimEnd()
  if (said !== '')
    files.unshift({ path: '', lines: said.split('\n').map(line => ({ kind: 'same', text: line })) })
  return files.map(({ path, lines: all }) => ({
    path,
    added: all.filter(({ kind }) => kind === 'added').length,
    removed: all.filter(({ kind }) => kind === 'removed').length,
    lines: markWords(all),
  }))
}

export type DiffNote = 'newFile' | 'emptied' | 'lineEnds' | 'lastLine' | 'binary'

/** What the lines alone do not say at a glance. */
export function notesOf({ lines }: Pick<DiffFile, 'lines'>): DiffNote[] {
  const [first] = lines
  const header = first?.kind === 'hunk' ? first.text : ''
  const isEndOnly = toPairs(lines).some(
    ([old, fresh]) =>
      old?.kind === 'removed' &&
      fresh?.kind === 'added' &&
      old.text !== fresh.text &&
      old.text.replace(/\r$/, '') === fresh.text.replace(/\r$/, ''),
  )
  return [
    ...(/^@@ -0,0 /.test(header) ? (['newFile'] as const) : []),
    ...(/^@@ \S+ \+0,0 /.test(header) ? (['emptied'] as const) : []),
    ...(lines.some(({ kind, text }) => kind === 'removed' && /[\0\uFFFD]/.test(text))
      ? (['binary'] as const)
      : []),
    ...(isEndOnly ? (['lineEnds'] as const) : []),
    ...(lines.some(({ kind, text }) => kind === 'hunk' && text.startsWith('\\ No newline'))
      ? (['lastLine'] as const)
      : []),
  ]
}

/** Lines beside those they take the place of. A hunk's header, and a line that is the same, is its own neighbour. */
export function toPairs(
  lines: readonly DiffLine[],
): (readonly [DiffLine | undefined, DiffLine | undefined])[] {
  const pairs: (readonly [DiffLine | undefined, DiffLine | undefined])[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  const flush = (): void => {
    const rows = Math.max(removed.length, added.length)
    for (let row = 0; row < rows; row += 1) pairs.push([removed[row], added[row]])
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'removed') {
      if (added.length > 0) flush()
      removed.push(line)
    } else if (line.kind === 'added') added.push(line)
    else {
      flush()
      pairs.push([line, line])
    }
  }
  flush()
  return pairs
}

function readHeader(line: string, next: string): string | undefined {
  const old = /^--- (.+?)\t?$/.exec(line)?.[1]
  if (old === undefined || !next.startsWith('+++ ')) return undefined
  const fresh = next.slice('+++ '.length).replace(/\t$/, '')
  return nameOf(fresh === '/dev/null' ? old : fresh)
}

function startHunk(line: string, now: Position): void {
  const [, before, oldLeft = '1', after, newLeft = '1'] =
    /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
  if (before === undefined) return
  Object.assign(now, {
    before: Number(before),
    after: Number(after),
    oldLeft: Number(oldLeft),
    newLeft: Number(newLeft),
  })
}

/** A line of the current hunk; undefined for one that is not inside of one. */
function readContent(line: string, now: Position): DiffLine | undefined {
  const { before, after } = now
  const text = line.slice(1)
  if (line.startsWith('+') && now.newLeft > 0) {
    now.after += 1
    now.newLeft -= 1
    return { kind: 'added', text, after }
  }
  if (line.startsWith('-') && now.oldLeft > 0) {
    now.before += 1
    now.oldLeft -= 1
    return { kind: 'removed', text, before }
  }
  if ((line.startsWith(' ') || line === '') && now.oldLeft > 0 && now.newLeft > 0) {
    now.before += 1
    now.after += 1
    now.oldLeft -= 1
    now.newLeft -= 1
    return { kind: 'same', text, before, after }
  }
  return undefined
}

function nameOf(text: string): string {
  return text.replace(/^[ab]\//, '')
}

/** One line in the place of one: what is the same at both ends is not what has changed. */
function markWords(lines: readonly DiffLine[]): DiffLine[] {
  return lines.map((line, index) => {
    const isPair =
      line.kind === 'removed'
        ? lines[index + 1]?.kind === 'added' &&
          lines[index - 1]?.kind !== 'removed' &&
          lines[index + 2]?.kind !== 'added'
        : line.kind === 'added' &&
          lines[index - 1]?.kind === 'removed' &&
          lines[index - 2]?.kind !== 'removed' &&
          lines[index + 1]?.kind !== 'added'
    const other = lines[line.kind === 'removed' ? index + 1 : index - 1]?.text
    if (!isPair || other === undefined) return line
    const most = Math.min(line.text.length, other.length)
    let head = 0
    while (head < most && line.text[head] === other[head]) head += 1
    let tail = 0
    while (tail < most - head && line.text.at(-1 - tail) === other.at(-1 - tail)) tail += 1
    return { ...line, changed: [head, line.text.length - tail] }
  })
}
