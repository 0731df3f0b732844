import { parseDuration } from '../core/duration.ts'
import { type CommandContext, textOption, UsageError } from './command.ts'

/** `7d` and `30m` ago, or a date. */
export function readTime(text: string | undefined, option: string): Date | undefined {
  if (text === undefined) return undefined
  const ago = parseDuration(text)
  if (ago !== undefined) return new Date(Date.now() - ago)
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) {
    throw new UsageError(`--${option} takes a time such as 7d, 12h or 2026-11-01, not '${text}'.`)
  }
  return time
}

/** `90s`, `10m` or `2h` in milliseconds. */
export function readDuration(values: CommandContext['values'], option: string): number | undefined {
  const text = textOption(values, option)
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === undefined || ms === 0)
    throw new UsageError(`--${option} takes a time such as 90s, 10m or 2h, not '${text}'.`)
  return ms
}
