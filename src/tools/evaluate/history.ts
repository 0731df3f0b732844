import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import * as z from 'zod'
import { writeWhole } from '../../core/write-whole.ts'
import type { Figures } from './evaluate.ts'

const HISTORY = z.record(z.string(), z.record(z.string(), z.number()))

/** The figures of the last time, by check; empty where there is none that can be read. */
export function readHistory(path: string): Record<string, Figures> {
  try {
    return HISTORY.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    // The first time, or the file was cut off: without it there is only no comparison.
    return {}
  }
}

export function writeHistory(path: string, figures: Readonly<Record<string, Figures | undefined>>): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeWhole(path, JSON.stringify(figures))
  } catch {
    // A disk that is full: the checks themselves are not worth less.
  }
}
