import { Tokenizer } from 'htmlparser2'
import { type Attributes, readAttributes, WANTED_ATTRIBUTES } from './html-attributes.ts'
import { type Closing, type ElementKind, elementKind } from './html-elements.ts'
import { type PageLink, PageWriter } from './page-writer.ts'

export interface ConvertedPage {
  readonly title: string
  readonly text: string
  readonly links: readonly PageLink[]
  /** Elements that a reader of the page would not see, and that are left out. */
  readonly hidden: number
  /** The page was cut: it would have become larger than any page is. */
  readonly cut: boolean
}

export type PageFormat = 'text' | 'markdown'

/**
 * Turns a page into text in one pass over its tokens. No tree is built: trees overflow or take minutes on hostile pages.
 * The stack of open elements is capped, and every step costs the same however deep the page is.
 */
export function convertHtml(html: string, baseUrl: string, format: PageFormat): ConvertedPage {
  const page = new Page(html, new PageWriter(baseUrl, format))
  const tokenizer = new Tokenizer({ decodeEntities: true }, page)
  tokenizer.write(html)
  tokenizer.end()
  return page.finish()
}

/** Deeper elements are not tracked: their text is kept, their meaning is not. */
const DEEPEST = 256
/** How far up an end tag looks for its start. */
const FARTHEST = 64

class Page {
  /** From the outermost element to the innermost. */
  private readonly open: ElementKind[] = []
  /** Elements beyond the cap that are open. */
  private beyond = 0
  /** The index of the element whose content is being left out. */
  private skippedFrom = -1
  private hidden = 0
  private title = ''
  private inTitle = false
  private kind = elementKind('')
  private attributes: Attributes | undefined
  private attribute = ''
  private value = ''
  private readonly html: string
  private readonly writer: PageWriter

  constructor(html: string, writer: PageWriter) {
    this.html = html
    this.writer = writer
  }

  finish(): ConvertedPage {
    while (this.open.length > 0) this.closeTop()
    const { text, links, cut } = this.writer.finish()
    return { title: this.title.replaceAll(/\s+/g, ' ').trim(), text, links, hidden: this.hidden, cut }
  }

  ontext(start: number, end: number): void {
    this.write(this.html.slice(start, end))
  }

  ontextentity(codepoint: number): void {
    this.write(String.fromCodePoint(codepoint))
  }

  onopentagname(start: number, end: number): void {
    this.kind = elementKind(this.html.slice(start, end).toLowerCase())
    this.attributes = undefined
  }

  onattribname(start: number, end: number): void {
    // Longer names are none that count.
    this.attribute = end - start > 12 ? '' : this.html.slice(start, end).toLowerCase()
    this.value = ''
    if (!WANTED_ATTRIBUTES.has(this.attribute)) this.attribute = ''
  }

  onattribdata(start: number, end: number): void {
    if (this.attribute !== '') this.value += this.html.slice(start, end)
  }

  onattribentity(codepoint: number): void {
    if (this.attribute !== '') this.value += String.fromCodePoint(codepoint)
  }

  onattribend(): void {
    if (this.attribute === '') return
    // As in browsers, the first of two counts.
    this.attributes ??= {}
    this.attributes[this.attribute] ??= this.value
    this.attribute = ''
  }

  onopentagend(): void {
    this.openElement(this.kind)
  }

  onselfclosingtag(): void {
    // `<div/>` is an open div in HTML; only what is inside a drawing closes itself.
    if (this.inDrawing()) return
    this.openElement(this.kind)
  }

  onclosetag(start: number, end: number): void {
    const kind = elementKind(this.html.slice(start, end).toLowerCase())
    if (kind.isVoid) {
      if (kind.name === 'br' && this.skippedFrom === -1) this.writer.lineBreak()
    } else if (this.beyond > 0) {
      this.beyond -= 1
    } else {
      this.closeUpTo(kind.name)
    }
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  private write(text: string): void {
    if (this.inTitle) {
      if (this.title.length < 1000) this.title += text.slice(0, 1000)
    } else if (this.skippedFrom === -1) {
      this.writer.write(text)
    }
  }

  private openElement(kind: ElementKind): void {
    this.closeImplied(kind)
    const known = this.attributes === undefined ? SAYS_NOTHING : readAttributes(kind.name, this.attributes)
    if (kind.isVoid) {
      if (kind.name === 'base') this.writer.setBase(known.href)
      else if (this.skippedFrom === -1 && !known.isHidden) this.writer.place(kind.name, known)
      return
    }
    if (this.open.length >= DEEPEST) {
      this.beyond += 1
      return
    }
    const wasSkipping = this.skippedFrom !== -1
    this.inTitle = kind.name === 'title' && this.title === '' && !this.inDrawing()
    this.open.push(kind)
    if (wasSkipping) return
    if (known.isHidden || kind.isSkipped) {
      this.skippedFrom = this.open.length - 1
      if (known.isHidden) this.hidden += 1
      return
    }
    this.writer.open(kind, known)
  }

  private inDrawing(): boolean {
    const name = this.skippedFrom === -1 ? '' : this.open[this.skippedFrom]?.name
    return name === 'svg' || name === 'math'
  }

  /** Ends what the start of another element ends without saying so: `<p>` a paragraph, `<li>` an item. */
  private closeImplied({ closing, lines, heading }: ElementKind): void {
    // A drawing that is not ended would swallow the page; as in browsers, what cannot be in one ends it.
    if (this.inDrawing() && (lines > 0 || heading > 0)) this.closeDownTo(this.skippedFrom)
    if (closing === undefined) return
    const at = this.find(closing)
    if (at !== -1) this.closeDownTo(at)
  }

  private closeUpTo(name: string): void {
    const last = Math.max(0, this.open.length - FARTHEST)
    for (let index = this.open.length - 1; index >= last; index -= 1) {
      if (this.open[index]?.name === name) {
        this.closeDownTo(index)
        return
      }
    }
    // A page may end a paragraph that it did not begin; browsers show an empty one.
    if (name === 'p' && this.skippedFrom === -1) this.writer.paragraph()
  }

  private find({ ends, within }: Closing): number {
    const last = Math.max(0, this.open.length - FARTHEST)
    for (let index = this.open.length - 1; index >= last; index -= 1) {
      const name = this.open[index]?.name ?? ''
      if (ends.has(name)) return index
      if (within.has(name)) return -1
    }
    return -1
  }

  private closeDownTo(index: number): void {
    while (this.open.length > index) this.closeTop()
  }

  private closeTop(): void {
    const top = this.open.pop()
    if (top === undefined) return
    if (this.skippedFrom === -1) this.writer.close(top)
    else if (this.skippedFrom === this.open.length) this.skippedFrom = -1
    if (top.name === 'title') this.inTitle = false
  }
}

const SAYS_NOTHING: ReturnType<typeof readAttributes> = { isHidden: false }
