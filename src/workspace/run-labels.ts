import type { KeptLabels } from '../core/run.ts'
import type { Label } from '../core/tool.ts'
import { openAppended } from './appended-lines.ts'

/**
 * Labels of one run, a line each, only ever appended: processes that belong to the same run add theirs side by side, and
 * one that is killed leaves what it had seen.
 */
export function openRunLabels(path: string): KeptLabels {
  const file = openAppended(path)
  return {
    add: label => file.append(JSON.stringify(label), { flush: true }),
    refresh(labels) {
      const added = file.readNew()
      if (added.length === 0) return
      const known = new Set(labels.map(toKey))
      for (const label of added.map(parseLabel)) {
        if (known.has(toKey(label))) continue
        known.add(toKey(label))
        labels.push(label)
      }
    },
  }
}

const toKey = ({ origin, trusted, source }: Label): string => JSON.stringify([origin, trusted, source])

/** A line that cannot be read was something that entered the run: it counts as the worst it could have been. */
function parseLabel(line: string): Label {
  try {
    const { origin, trusted, source } = JSON.parse(line) as Partial<Label>
    if (typeof origin === 'string' && typeof trusted === 'boolean') {
      return typeof source === 'string' ? { origin, trusted, source } : { origin, trusted }
    }
  } catch {
    // Cut off by a crash.
  }
  return { origin: 'other', trusted: false, source: 'unreadable' }
}
