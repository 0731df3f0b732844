import type { CallResult } from '../core/call.ts'
import type { Output } from './output.ts'

/** A result for a person: diffs in colour. The text itself is the tool's, made for models and people alike. */
export function renderResult(result: CallResult, output: Output): string {
  const diff = diffOf(result.data)
  if (diff === undefined) return output.shown(result.text)
  // By a function: `$&` in a diff is text.
  return output.shown(result.text).replace(output.shown(diff), () => colorDiff(output.shown(diff), output))
}

export function colorDiff(diff: string, output: Output): string {
  return diff
    .split('\n')
    .map(line => {
      if (line.startsWith('+++') || line.startsWith('---')) return output.style('bold', line)
      if (line.startsWith('@@')) return output.style('cyan', line)
      if (line.startsWith('+')) return output.style('green', line)
      return line.startsWith('-') ? output.style('red', line) : line
    })
    .join('\n')
}

function diffOf(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('diff' in data)) return undefined
  return typeof data.diff === 'string' && data.diff !== '' ? data.diff : undefined
}
