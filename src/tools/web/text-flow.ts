/** Larger than any page that somebody reads; a hostile one could make many lines of few bytes. */
const MOST_CHARACTERS = 10_000_000
const LONGEST_PREFIX = 40
const DEEPEST_MARGIN = 20
/** Worth collapsing. */
const UNEVEN = /[\t\n\r\f]| {2}/

/**
 * Text with collapsed spaces, held-back breaks and a margin. Markers such as `**` wait for text to belong to, so that
 * empty elements leave nothing behind.
 */
export class TextFlow {
  /** Inside a heading or a link everything stands on one line. */
  inline = 0
  /** The flow that this one is part of. */
  outer: TextFlow | undefined
  private readonly pieces: string[] = []
  private written = 0
  private breaks = 0
  private space = false
  private marks: string[] = []
  private margins: string[] = []
  private prefix = ''
  /** The margin of the empty line, which belongs to what is around both. */
  private breakPrefix = ''
  private readonly verbatim: boolean

  constructor(verbatim = false) {
    this.verbatim = verbatim
  }

  get isFull(): boolean {
    return this.written >= MOST_CHARACTERS
  }

  get length(): number {
    return this.pieces.length
  }

  /** Parts of a page count towards the same limit. */
  shareBudget(outer: TextFlow): void {
    this.outer = outer
    this.written = outer.written
  }

  write(text: string): void {
    if (this.isFull) return
    if (this.verbatim) {
      this.push(text)
      return
    }
    const words = UNEVEN.test(text) ? text.replaceAll(/[ \t\n\r\f]+/g, ' ') : text
    if (words === '') return
    if (words === ' ') {
      this.space = true
      return
    }
    const body = words.startsWith(' ') ? words.slice(1) : words
    if (words.startsWith(' ')) this.space = true
    this.flush()
    if (body.endsWith(' ')) {
      this.push(body.slice(0, -1))
      this.space = true
    } else {
      this.push(body)
    }
  }

  /** Lines that are laid out already. */
  lines(text: string): void {
    if (text === '' || this.isFull) return
    if (this.verbatim) {
      this.push(text)
      return
    }
    if (this.pieces.length > 0 && this.breaks === 0) this.setBreaks(1)
    this.flush()
    this.push(this.prefix === '' ? text : text.replaceAll('\n', `\n${this.prefix}`))
    this.setBreaks(1)
  }

  /** Comes before the next text; without any, not at all. */
  mark(marker: string): void {
    this.marks.push(marker)
  }

  /** Takes back a marker that no text followed, and those behind it. */
  dropMark(marker: RegExp): boolean {
    const at = this.marks.findLastIndex(each => marker.test(each))
    if (at === -1) return false
    this.marks.length = at
    return true
  }

  endMark(marker: string): void {
    if (this.marks.at(-1) === marker) this.marks.pop()
    else this.attach(marker)
  }

  /** Right behind the last text. */
  attach(text: string): void {
    if (this.pieces.length > 0) this.push(text)
  }

  break(lines: number): void {
    if (this.verbatim) return
    if (this.inline > 0) this.space = true
    else this.setBreaks(Math.max(this.breaks, lines))
  }

  lineBreak(): void {
    if (this.verbatim) this.push('\n')
    else if (this.inline > 0) this.space = true
    else this.setBreaks(Math.min(2, this.breaks + 1))
  }

  indent(margin: string): void {
    this.margins.push(margin)
    this.setPrefix()
  }

  outdent(): void {
    this.margins.pop()
    this.setPrefix()
  }

  since(piece: number): string {
    return this.pieces.slice(piece, piece + 50).join('')
  }

  finish(): string {
    const text = this.pieces.join('')
    if (this.outer !== undefined) this.outer.written = Math.max(this.outer.written, this.written)
    return this.verbatim ? text : text.trim()
  }

  private setBreaks(lines: number): void {
    if (this.breaks === 0) this.breakPrefix = this.prefix
    this.breaks = lines
  }

  private setPrefix(): void {
    // Deeper ones stand where the last one stood.
    if (this.margins.length > DEEPEST_MARGIN) return
    this.prefix = this.margins.join('').slice(0, LONGEST_PREFIX)
    if (this.breaks > 0 && this.prefix.length < this.breakPrefix.length) this.breakPrefix = this.prefix
  }

  /** What was held back, now that text follows. */
  private flush(): void {
    if (this.pieces.length === 0) {
      if (this.prefix !== '' && this.marks.length === 0) this.push(this.prefix)
    } else if (this.breaks > 0) {
      this.push(this.breaks > 1 ? `\n${this.breakPrefix.trimEnd()}\n` : '\n')
      // The bullet stands in the margin of its own item.
      const isBullet = /^(- |\d+\. )$/.test(this.marks[0] ?? '')
      this.push(isBullet ? this.prefix.slice(0, -(this.marks[0]?.length ?? 0)) : this.prefix)
    } else if (this.space) {
      this.push(' ')
    }
    this.breaks = 0
    this.space = false
    if (this.marks.length > 0) {
      for (const marker of this.marks) this.push(marker)
      this.marks = []
    }
  }

  private push(text: string): void {
    if (text === '') return
    this.pieces.push(text)
    this.written += text.length
  }
}
