/** At most `most` UTF-16 units of a text, never cut inside what a person sees as one character. */
export function cutAtGrapheme(text: string, most: number): string {
  if (text.length <= most) return text
  // A few units are enough to find the boundary; a run of combining marks has no end, so the window has one.
  const from = Math.max(0, most - 64)
  const near = graphemes(text.slice(from, most + 64)).containing(most - from)
  const boundary = near === undefined || near.index === 0 ? most : from + near.index
  return text.slice(0, boundary).toWellFormed()
}

/** A piece of a long text around `start`, with both ends at whole characters. */
export function cutAround(text: string, start: number, most: number): string {
  if (text.length <= most) return text
  const from = Math.max(0, Math.min(start - (most >> 2), text.length - most))
  const near = graphemes(text.slice(from, from + 64)).containing(0)
  const skip = from === 0 ? 0 : (near?.segment.length ?? 0)
  const piece = cutAtGrapheme(text.slice(from + skip), most)
  const after = text.length - from - skip - piece.length
  return `${from > 0 ? `[${from + skip} characters] …` : ''}${piece}${after > 0 ? `… [${after} characters]` : ''}`
}

/** Made only when something is cut: the first one loads tables for about 10 ms. */
function graphemes(text: string): Intl.Segments {
  return new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)
}
