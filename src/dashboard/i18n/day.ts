/** The day of a time as a person here calls it: `2026-11-16`. The server reads it as a day of its own machine. */
export function dayOf(at: number): string {
  const date = new Date(at)
  const [month, day] = [date.getMonth() + 1, date.getDate()].map(part => String(part).padStart(2, '0'))
  return `${date.getFullYear()}-${month}-${day}`
}

/** The day so many days later; earlier, when negative. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * 86_400_000).toISOString().slice(0, 10)
}
