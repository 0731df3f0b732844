/** Of one element, by name in lower case; only those that count. */
export type Attributes = Record<string, string>

export const WANTED_ATTRIBUTES: ReadonlySet<string> = new Set([
  'href',
  'src',
  'alt',
  'class',
  'hidden',
  'style',
  'type',
  'start',
  'open',
  'aria-hidden',
])

export interface KnownAttributes {
  readonly href?: string
  readonly src?: string
  readonly alt?: string
  /** Of code, by its class. */
  readonly language?: string
  /** The first number of a list. */
  readonly start?: number
}

/** What the writer needs to know of an element, and whether a reader of the page would see it. */
export function readAttributes(
  name: string,
  attributes: Attributes,
): KnownAttributes & { isHidden: boolean } {
  const { href, src, alt, start } = attributes
  const language = /(?:^|\s)(?:lang|language|highlight-source)-([\w+#.-]{1,30})/.exec(
    attributes.class?.slice(0, 300) ?? '',
  )?.[1]
  return {
    isHidden: isHidden(name, attributes),
    ...(href === undefined ? {} : { href }),
    ...(src === undefined ? {} : { src }),
    ...(alt === undefined ? {} : { alt }),
    ...(language === undefined ? {} : { language }),
    ...(start === undefined || !/^\d{1,9}$/.test(start) ? {} : { start: Number(start) }),
  }
}

/**
 * Text that people do not see is where a page talks to a model behind their backs. Style sheets are not evaluated; what
 * an element says about itself is.
 */
function isHidden(name: string, attributes: Attributes): boolean {
  if (attributes.hidden !== undefined && attributes.hidden.toLowerCase() !== 'until-found') return true
  if (name === 'input' || attributes['aria-hidden']?.toLowerCase() === 'true') return true
  return attributes.style !== undefined && hidesByStyle(attributes.style)
}

const HIDING: readonly RegExp[] = [
  /^display:none\b/,
  /^visibility:(hidden|collapse)\b/,
  /^opacity:(0*\.)?0+%?(!|$)/,
  /^content-visibility:hidden\b/,
  /^(font-size|max-height|max-width|height|width|line-height):0*(\.0*[1-9]?\d*)?(px|em|rem|pt|%|vh|vw)?(!|$)/,
  /^color:(transparent|rgba\([^)]*,[^)]*,[^)]*,0*(\.0+)?%?\)|rgba?\([^)/]*\/0*(\.0+)?%?\)|#[0-9a-f]{3}0|#[0-9a-f]{6}00)(!|$)/,
  /^(left|top|right|bottom|text-indent|margin-left|margin-top):-\d{3,}/,
  /^clip:rect\((0|1px)[, ]/,
  /^clip-path:(inset\((50|100)%|circle\(0|polygon\(0)/,
  /^transform:.*scale(x|y|3d)?\(0*(\.0+)?[,)]/,
]

/** Declarations are looked at one by one, and only the first of a page's length: a style is not a place for a book. */
function hidesByStyle(style: string): boolean {
  const plain = unescapeCss(style.slice(0, 2000))
    .toLowerCase()
    .replaceAll(/\/\*[^*]*\*\//g, '')
  const declarations = plain.split(';').map(declaration => declaration.replaceAll(/\s+/g, ''))
  if (declarations.some(declaration => HIDING.some(pattern => pattern.test(declaration)))) return true
  const lastValue = (name: RegExp): string | undefined =>
    declarations
      .findLast(declaration => name.test(declaration))
      ?.replace(/^[^:]*:/, '')
      .replace(/!.*$/, '')
  const color = lastValue(/^color:/)
  return color !== undefined && toHex(color) === toHex(lastValue(/^background(-color)?:/) ?? '')
}

/** `dis\70lay` is `display` to a browser. */
function unescapeCss(style: string): string {
  return style
    .replaceAll(/\\([0-9a-f]{1,6})\s?/gi, (_, code: string) => {
      const point = Number.parseInt(code, 16)
      return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : ''
    })
    .replaceAll(/\\(.)/g, '$1')
}

/** White on white, in the spellings that are in use. */
function toHex(color: string): string {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/.exec(color)
  if (short !== null)
    return `#${short
      .slice(1)
      .map(digit => digit + digit)
      .join('')}`
  const rgb = /^rgb\((\d+),(\d+),(\d+)\)$/.exec(color)
  if (rgb !== null)
    return `#${rgb
      .slice(1)
      .map(part => Number(part).toString(16).padStart(2, '0'))
      .join('')}`
  return color === 'white' ? '#ffffff' : color === 'black' ? '#000000' : color
}
