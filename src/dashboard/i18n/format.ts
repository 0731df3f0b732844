import { useMemo } from 'react'
import { useLanguage } from './language.tsx'

export interface Format {
  number(value: number): string
  /** Null is an unknown price, which is not the same as free. */
  money(usd: number | null, unknown: string): string
  time(at: string | number): string
  dateTime(at: string | number): string
  day(at: string | number): string
  ago(at: string | number): string
  duration(ms: number): string
  bytes(count: number): string
  percent(part: number): string
}

export function useFormat(): Format {
  const { language } = useLanguage()
  return useMemo(() => createFormat(language), [language])
}

/** For what is no number and no time: files and servers say anything, and a page that cannot say it shows nothing at all. */
const NONE = '–'
/** Beyond it nobody counts digits, and hundreds of them would break a page. */
const HUGE = 1e15

export function createFormat(language: string): Format {
  const number = new Intl.NumberFormat(language)
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'medium' })
  const dateTime = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
  const day = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric' })
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' })
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 })
  const sayTime =
    (format: (at: Date) => string) =>
    (at: string | number): string => {
      const date = new Date(at)
      return Number.isNaN(date.getTime()) ? NONE : format(date)
    }
  const sayNumber =
    (format: (value: number) => string) =>
    (value: number): string =>
      !Number.isFinite(value) ? NONE : Math.abs(value) < HUGE ? format(value) : value.toExponential(1)
  return {
    number: sayNumber(value => number.format(value)),
    money(usd, unknown) {
      if (usd === null || !Number.isFinite(usd)) return unknown
      if (Math.abs(usd) >= HUGE) return `$${usd.toExponential(1)}`
      const digits = usd !== 0 && Math.abs(usd) < 1 ? 4 : 2
      const options = {
        style: 'currency',
        currency: 'USD',
        minimumFractionDigits: 2,
        maximumFractionDigits: digits,
      }
      return new Intl.NumberFormat(language, options as Intl.NumberFormatOptions).format(usd)
    },
    time: sayTime(at => time.format(at)),
    dateTime: sayTime(at => dateTime.format(at)),
    day: sayTime(at => day.format(at)),
    ago: sayTime(at => sayAgo(relative, at.getTime() - Date.now())),
    duration: sayNumber(ms => sayDuration(language, ms)),
    bytes: sayNumber(count => sayBytes(language, count)),
    percent: sayNumber(part => percent.format(part)),
  }
}

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]

function sayAgo(format: Intl.RelativeTimeFormat, distance: number): string {
  const [unit, size] = STEPS.find(([, each]) => Math.abs(distance) >= each) ?? ['second', 1_000]
  return format.format(Math.round(distance / size), unit)
}

function sayDuration(language: string, ms: number): string {
  const one = (value: number, unit: string, digits = 0): string =>
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit,
      unitDisplay: 'narrow',
      maximumFractionDigits: digits,
    }).format(value)
  if (ms < 1_000) return one(Math.round(ms), 'millisecond')
  if (ms < 60_000) return one(ms / 1_000, 'second', ms < 10_000 ? 1 : 0)
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${one(minutes, 'minute')} ${one(Math.round((ms % 60_000) / 1_000), 'second')}`
  return `${one(Math.floor(minutes / 60), 'hour')} ${one(minutes % 60, 'minute')}`
}

function sayBytes(language: string, count: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3))
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit: units[power] ?? 'byte',
    unitDisplay: 'short',
    maximumFractionDigits: 1,
  }).format(count / 1_000 ** power)
}
