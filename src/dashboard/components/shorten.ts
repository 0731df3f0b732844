/** The whole text when it has neither too many characters nor too many lines, otherwise its head and its tail. */
export function shorten(text: string, most: number, mostLines: number): readonly string[] {
  const isShort = text.length <= most
  if (isShort && text.split('\n').length <= mostLines) return [text]
  const half = Math.floor(most / 2)
  const halfLines = Math.floor(mostLines / 2)
  const head = isShort ? text : text.slice(0, half)
  const tail = isShort ? text : text.slice(-half)
  return [head.split('\n').slice(0, halfLines).join('\n'), tail.split('\n').slice(-halfLines).join('\n')]
}
