import { readdirSync } from 'node:fs'

/** The entries of a folder; none when it is missing, or may not be listed. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // For whoever asks, there is nothing in it.
    return []
  }
}
