import { type ReadOptions, readEvents } from '../store/audit/read.ts'

/** The ids of all calls, or of all runs, in the audit log. */
export async function recordedIds(
  directory: ReadOptions['directory'],
  kind: 'call' | 'run',
): Promise<Set<string>> {
  const ids = new Set<string>()
  for await (const { event } of readEvents({ directory })) {
    if (event.type !== 'note') ids.add(event[kind])
  }
  return ids
}
