/** As a text field has it: one that is typed into loses the ends of lines that Windows writes. */
export function toPlainLines(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** With the ends of lines that the file has, so that a change of one line is a change of one line. */
export function withLineEnds(text: string, file: string): string {
  return file.includes('\r\n') ? toPlainLines(text).replaceAll('\n', '\r\n') : text
}
