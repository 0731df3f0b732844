import { z } from './api.ts'

/** A time, or a whole day of this machine: `2026-11-16`. */
const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

export const span = z.object({ since: time.optional(), until: time.optional() })

/** The last day of a span is a part of it. */
export function toSpan({ since, until }: z.infer<typeof span>): { since: Date; until?: Date } {
  return {
    since: since === undefined ? new Date(0) : toTime(since, '00:00:00'),
    ...(until === undefined ? {} : { until: toTime(until, '23:59:59.999') }),
  }
}

/** What has no offset is read as the time of this machine. */
function toTime(text: string, ofDay: string): Date {
  return new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T${ofDay}` : text)
}
