/** A number with its noun: "1 line", "2,000 lines". */
export function counted(count: number, one: string, many = `${one}s`): string {
  // Not by toLocaleString: its first use loads the tables of all languages, which takes longer than writing a file.
  const grouped = String(count).replace(/\B(?=(\d{3})+$)/g, ',')
  return `${grouped} ${count === 1 ? one : many}`
}
