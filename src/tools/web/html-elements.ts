// What the converter knows about the elements of a page. One lookup for each tag: pages have millions of them.

export interface ElementKind {
  readonly name: string
  /** Has no content. */
  readonly isVoid: boolean
  /** Left out with everything in it. */
  readonly isSkipped: boolean
  /** 1 to 6; 0: none. */
  readonly heading: number
  /** Lines between it and what is around it: 0 runs on, 1 begins a line, 2 leaves one empty. */
  readonly lines: 0 | 1 | 2
  /** Around its text in Markdown. */
  readonly marker: string
  /** What its start ends, where pages leave the end tag out. */
  readonly closing: Closing | undefined
}

export interface Closing {
  /** The elements that it ends. */
  readonly ends: ReadonlySet<string>
  /** It looks no further up than these. */
  readonly within: ReadonlySet<string>
}

export function elementKind(name: string): ElementKind {
  return KNOWN.get(name) ?? { ...PLAIN, name }
}

const VOID = names(
  'area base br col embed hr img input link meta param source track wbr frame keygen command basefont bgsound',
)

// Code, drawings, controls, and what only shows where scripts do not run.
const SKIPPED = names(
  'script style noscript svg template head title iframe object canvas audio video math select datalist noembed noframes applet dialog',
)

const BLOCKS = names(
  'address article aside body center dd div dt figcaption footer form header hgroup html legend li main nav optgroup option section summary tbody td tfoot th thead tr caption search',
)

const PARAGRAPHS = names('p blockquote ul ol dl table pre figure details fieldset menu dir')

const MARKERS: Readonly<Record<string, string>> = {
  b: '**',
  strong: '**',
  i: '_',
  em: '_',
  code: '`',
  kbd: '`',
  samp: '`',
  tt: '`',
  del: '~~',
  s: '~~',
  strike: '~~',
}

const PARAGRAPH: Closing = { ends: names('p'), within: names('table td th button li blockquote div section') }
const ITEM: Closing = { ends: names('li'), within: names('ul ol menu dir table') }
const TERM: Closing = { ends: names('dt dd'), within: names('dl table') }
const CELL: Closing = { ends: names('td th'), within: names('table') }
const ROW: Closing = { ends: names('tr td th'), within: names('table tbody thead tfoot') }
const ROWS: Closing = { ends: names('tbody thead tfoot'), within: names('table') }

const CLOSINGS: Readonly<Record<string, Closing>> = {
  li: ITEM,
  dt: TERM,
  dd: TERM,
  td: CELL,
  th: CELL,
  tr: ROW,
  tbody: ROWS,
  thead: ROWS,
  tfoot: ROWS,
  a: { ends: names('a'), within: names('table td th') },
  body: { ends: names('head'), within: new Set() },
}

const ENDS_PARAGRAPH = names(
  'address article aside blockquote center details dir div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main menu nav ol p pre section table ul',
)

const PLAIN: ElementKind = {
  name: '',
  isVoid: false,
  isSkipped: false,
  heading: 0,
  lines: 0,
  marker: '',
  closing: undefined,
}

const KNOWN: ReadonlyMap<string, ElementKind> = new Map(
  [
    ...VOID,
    ...SKIPPED,
    ...BLOCKS,
    ...PARAGRAPHS,
    ...names('h1 h2 h3 h4 h5 h6 a span small sub sup u label button font img q cite time abbr mark ins'),
    ...Object.keys(MARKERS),
  ].map(name => [name, describe(name)]),
)

function describe(name: string): ElementKind {
  return {
    name,
    isVoid: VOID.has(name),
    isSkipped: SKIPPED.has(name),
    heading: /^h[1-6]$/.test(name) ? Number(name[1]) : 0,
    lines: PARAGRAPHS.has(name) ? 2 : BLOCKS.has(name) ? 1 : 0,
    marker: MARKERS[name] ?? '',
    closing: CLOSINGS[name] ?? (ENDS_PARAGRAPH.has(name) ? PARAGRAPH : undefined),
  }
}

function names(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}
