import type { PageFormat } from './convert-html.ts'
import type { KnownAttributes } from './html-attributes.ts'
import type { ElementKind } from './html-elements.ts'
import { TextFlow } from './text-flow.ts'

export interface PageLink {
  readonly text: string
  readonly url: string
}

const MOST_LINKS = 200
/** Addresses that are worked out; links after these keep their text. */
const MOST_RESOLVED = 50_000
const MOST_TABLES_DEEP = 8

/** The text of a cell. */
type Cell = string

/** What is collected until its end is known. */
type Scope =
  | { kind: 'table'; rows: Cell[][]; flow: TextFlow }
  | { kind: 'cell'; flow: TextFlow }
  | { kind: 'pre'; language: string; flow: TextFlow }

/** Writes the page as it is read: headings, links, lists, tables and code keep their meaning. */
export class PageWriter {
  private flow = new TextFlow()
  private readonly scopes: Scope[] = []
  /** Tables that are open. */
  private tables = 0
  private readonly lists: { next: number | null }[] = []
  private readonly anchors: { url: string; from: number }[] = []
  private readonly links: PageLink[] = []
  private readonly seen = new Set<string>()
  private resolved = 0
  private baseUrl: string
  private hasBase = false
  private readonly isMarkdown: boolean

  constructor(baseUrl: string, format: PageFormat) {
    this.baseUrl = baseUrl
    this.isMarkdown = format === 'markdown'
  }

  finish(): { text: string; links: readonly PageLink[]; cut: boolean } {
    while (this.scopes.length > 0) this.endScope()
    return { text: this.flow.finish(), links: this.links, cut: this.flow.isFull }
  }

  write(text: string): void {
    this.flow.write(text)
  }

  /** What relative addresses are relative to; as in browsers, the first one counts. */
  setBase(href: string | undefined): void {
    const base = this.hasBase ? undefined : this.resolve(href)
    if (base === undefined) return
    this.baseUrl = base
    this.hasBase = true
  }

  lineBreak(): void {
    this.flow.lineBreak()
  }

  paragraph(): void {
    this.flow.break(2)
  }

  /** An element without content. */
  place(name: string, { src, alt }: KnownAttributes): void {
    if (name === 'br') this.flow.lineBreak()
    else if (name === 'hr') {
      this.flow.break(2)
      if (this.isMarkdown) this.flow.write('---')
      this.flow.break(2)
    } else if (name === 'img' && alt !== undefined && alt.trim() !== '') {
      const url = this.isMarkdown ? this.resolve(src) : undefined
      const label = alt.replaceAll(/\s+/g, ' ').trim().slice(0, 500)
      this.flow.write(url === undefined ? label : `![${escapeLabel(label)}](${url})`)
    }
  }

  open(kind: ElementKind, known: KnownAttributes): void {
    if (kind.heading > 0) {
      this.flow.break(2)
      if (this.isMarkdown && this.flow.inline === 0) this.flow.mark(`${'#'.repeat(kind.heading)} `)
      this.flow.inline += 1
      return
    }
    if (kind.lines > 0) this.flow.break(this.linesFor(kind))
    switch (kind.name) {
      case 'ul':
      case 'ol':
      case 'menu':
        this.lists.push({ next: kind.name === 'ol' ? (known.start ?? 1) : null })
        return
      case 'li':
        this.openItem()
        return
      case 'blockquote':
        this.flow.indent('> ')
        return
      case 'dd':
        this.flow.indent('  ')
        return
      case 'a':
        this.openLink(known.href)
        return
      case 'table':
        if (this.tables < MOST_TABLES_DEEP) this.begin({ kind: 'table', rows: [], flow: new TextFlow() })
        this.tables += 1
        return
      case 'tr':
      case 'td':
      case 'th':
        this.openTablePart(kind.name)
        return
      case 'pre':
        this.begin({ kind: 'pre', language: known.language ?? '', flow: new TextFlow(true) })
        return
      default:
        this.openMarked(kind, known)
    }
  }

  close({ name, heading, lines, marker }: ElementKind): void {
    if (heading > 0) {
      this.flow.inline = Math.max(0, this.flow.inline - 1)
      this.flow.dropMark(HEADING_MARK)
      this.flow.break(2)
      return
    }
    switch (name) {
      case 'ul':
      case 'ol':
      case 'menu':
        this.lists.pop()
        break
      case 'li':
        this.flow.dropMark(BULLET)
        this.flow.outdent()
        break
      case 'blockquote':
      case 'dd':
        this.flow.outdent()
        break
      case 'a':
        this.closeLink()
        return
      case 'td':
      case 'th':
        this.endScope('cell')
        return
      case 'table':
        this.endScope('cell')
        this.tables -= 1
        if (this.tables < MOST_TABLES_DEEP) this.endScope('table')
        return
      case 'pre':
        this.endScope('pre')
        return
      default:
        if (marker !== '' && this.isMarkdown && !this.isCode()) this.flow.endMark(marker)
    }
    if (lines > 0) this.flow.break(this.lists.length === 0 ? lines : 1)
  }

  /** Lists and paragraphs inside a list stay close to it. */
  private linesFor({ name, lines }: ElementKind): number {
    return this.lists.length > 0 && (name === 'ul' || name === 'ol' || name === 'p' || name === 'menu')
      ? 1
      : lines
  }

  private isCode(): boolean {
    return this.scopes.at(-1)?.kind === 'pre'
  }

  private openMarked({ marker }: ElementKind, { language }: KnownAttributes): void {
    const scope = this.scopes.at(-1)
    if (scope?.kind === 'pre') scope.language ||= language ?? ''
    else if (marker !== '' && this.isMarkdown) this.flow.mark(marker)
  }

  private openItem(): void {
    const list = this.lists.at(-1)
    let bullet = '- '
    if (list !== undefined && list.next !== null) {
      bullet = `${list.next}. `
      list.next += 1
    }
    this.flow.mark(bullet)
    this.flow.indent(' '.repeat(bullet.length))
  }

  private openLink(href: string | undefined): void {
    const url = this.resolve(href)
    this.anchors.push({ url: url ?? '', from: this.flow.length })
    if (url === undefined) return
    this.flow.inline += 1
    if (this.isMarkdown) this.flow.mark('[')
  }

  private closeLink(): void {
    const anchor = this.anchors.pop()
    if (anchor === undefined || anchor.url === '') return
    this.flow.inline = Math.max(0, this.flow.inline - 1)
    const isEmpty = this.isMarkdown && this.flow.dropMark(LINK_MARK)
    if (!isEmpty && this.isMarkdown) this.flow.attach(`](${anchor.url})`)
    if (isEmpty || this.links.length >= MOST_LINKS || this.seen.has(anchor.url)) return
    this.seen.add(anchor.url)
    const text = this.flow
      .since(anchor.from)
      .replace(/\]\([^)]*\)$/, '')
      .replace(/^\s*\[/, '')
    this.links.push({ text: text.replaceAll(/\s+/g, ' ').trim().slice(0, 200), url: anchor.url })
  }

  private openTablePart(name: 'tr' | 'td' | 'th'): void {
    const table = this.scopes.at(-1)
    if (table?.kind !== 'table' || this.tables > MOST_TABLES_DEEP) return
    if (name === 'tr' || table.rows.length === 0) table.rows.push([])
    if (name !== 'tr') this.begin({ kind: 'cell', flow: new TextFlow() })
  }

  private begin(scope: Scope): void {
    this.scopes.push(scope)
    scope.flow.shareBudget(this.flow)
    this.flow = scope.flow
  }

  private endScope(kind?: Scope['kind']): void {
    const scope = this.scopes.at(-1)
    if (scope === undefined || (kind !== undefined && scope.kind !== kind)) return
    this.scopes.pop()
    const text = scope.flow.finish()
    this.flow = scope.flow.outer ?? this.flow
    const around = this.scopes.at(-1)
    if (scope.kind === 'table') this.writeTable(scope.rows, text)
    else if (scope.kind === 'pre') this.writeCode(text, scope.language)
    else if (around?.kind === 'table') around.rows.at(-1)?.push(text)
  }

  /** Text of a table that is outside its cells, such as the caption, comes first. */
  private writeTable(rows: readonly Cell[][], caption: string): void {
    this.flow.break(2)
    if (caption !== '') this.flow.lines(caption)
    const filled = rows.filter(row => row.some(cell => cell !== ''))
    const columns = filled.reduce((most, row) => Math.min(100, Math.max(most, row.length)), 0)
    const isData = columns > 1 && filled.length > 1 && filled.every(row => row.every(isPlain))
    this.flow.break(2)
    if (!isData) {
      // A table for layout: what is in it, one after the other.
      for (const cell of filled.flat()) {
        this.flow.lines(cell)
        this.flow.break(1)
      }
    } else {
      filled.forEach((row, index) => {
        this.flow.lines(this.toRow(row, columns))
        if (index === 0 && this.isMarkdown) this.flow.lines(`|${' --- |'.repeat(columns)}`)
      })
    }
    this.flow.break(2)
  }

  private toRow(row: readonly Cell[], columns: number): string {
    const cells = Array.from({ length: columns }, (_, index) => row[index] ?? '')
    if (!this.isMarkdown) return cells.join('\t')
    return `| ${cells.map(text => text.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  }

  private writeCode(text: string, language: string): void {
    const code = text.replace(/^\n/, '').trimEnd()
    this.flow.break(2)
    if (code === '') return
    if (this.isMarkdown) {
      // Longer than any row of backticks in it, so that the code cannot end itself.
      const longest = (code.match(/`{3,}/g) ?? []).reduce((most, row) => Math.max(most, row.length), 2)
      const fence = '`'.repeat(longest + 1)
      this.flow.lines(`${fence}${language}\n${code}\n${fence}`)
    } else {
      this.flow.lines(code)
    }
    this.flow.break(2)
  }

  /** Undefined when it leads nowhere that could be fetched. */
  private resolve(href: string | undefined): string | undefined {
    const address = href?.trim()
    if (address === undefined || address === '' || address.length > 2000 || address.startsWith('#'))
      return undefined
    if (/^[a-z][a-z0-9+.-]*:/i.test(address) && !/^https?:/i.test(address)) return undefined
    this.resolved += 1
    const url = this.resolved > MOST_RESOLVED ? null : URL.parse(address, this.baseUrl)
    if (url === null || !/^https?:$/.test(url.protocol)) return undefined
    return url.href.replaceAll('(', '%28').replaceAll(')', '%29')
  }
}

const BULLET = /^(- |\d+\. )$/
const HEADING_MARK = /^#+ $/
const LINK_MARK = /^\[$/

function isPlain(text: Cell): boolean {
  return text.length <= 2000 && text.split('\n', 4).length <= 3
}

function escapeLabel(text: string): string {
  return text.replaceAll(/[[\]]/g, '\\$&')
}
