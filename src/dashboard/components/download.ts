/** Hands a text to the browser as a file. */
export function downloadText(name: string, text: string): void {
  const type = name.endsWith('.csv') ? 'text/csv' : 'application/x-ndjson'
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

export function toCsv<Field extends string>(
  fields: readonly Field[],
  rows: readonly Readonly<Record<Field, unknown>>[],
): string {
  const lines = rows.map(row => fields.map(field => toCell(row[field])).join(','))
  return `${[fields.join(','), ...lines].join('\n')}\n`
}

/** A cell that begins like a formula would be one in a spreadsheet. */
function toCell(value: unknown): string {
  const text = String(value ?? '')
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}
