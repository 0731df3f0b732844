// Days and months are those of the machine that Kogu runs on, for budgets, sums and charts alike.

export function startOfDay(at: Date): Date {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate())
}

export function startOfMonth(at: Date): Date {
  return new Date(at.getFullYear(), at.getMonth(), 1)
}

/** As databases know it: `Asia/Tokyo`. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}
