import { useCallback, useEffect, useRef, useState } from 'react'
import type { ServerEvent } from '../../../client.ts'
import { request } from '../../api/api.ts'
import type { Page } from '../../api/types.ts'
import { useLiveEvents } from '../../live/live-provider.tsx'

export type ShownEvent = ServerEvent & {
  readonly seq: number
  readonly at: string
  readonly execution?: string
}

interface Loaded {
  readonly events: readonly ShownEvent[]
  readonly error: unknown
  readonly isLoading: boolean
  readonly reload: () => void
}

const PAGE = 2_000
/** Text comes in small pieces; drawing 25 times a second is as good as drawing for each. */
const FRAME_MS = 40

/** Every event of a run from the first one on, then as they happen, without gaps and without doubles. */
export function useRunEvents(run: string): Loaded {
  const [events, setEvents] = useState<readonly ShownEvent[]>([])
  const [error, setError] = useState<unknown>(null)
  const [isLoading, setLoading] = useState(true)
  const all = useRef<ShownEvent[]>([])
  const timer = useRef<number>(undefined)
  const draw = useCallback(() => {
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined
      setEvents([...all.current])
    }, FRAME_MS)
  }, [])
  const load = useCallback(async (): Promise<void> => {
    try {
      for (;;) {
        const after = all.current.at(-1)?.seq ?? 0
        const page = await request<Page<ShownEvent>>(
          'GET',
          `/api/runs/${encodeURIComponent(run)}/events?after=${after}&limit=${PAGE}`,
        )
        add(all.current, page.items)
        draw()
        if (page.next === null) break
      }
      setError(null)
    } catch (failure) {
      setError(failure)
    } finally {
      setLoading(false)
    }
  }, [run, draw])
  useEffect(() => {
    void load()
    return () => clearTimeout(timer.current)
  }, [load])
  useLiveEvents(event => {
    if (event.type === 'resync') void load()
    else if (event.run === run && event.seq !== undefined && !isLoading) {
      // The server numbers events of a run with those of all others, so a gap here is no loss.
      add(all.current, [event as ShownEvent]) // one with a number has a time too
      draw()
    } else if (event.run === run) void load()
  })
  return { events, error, isLoading, reload: () => void load() }
}

function add(all: ShownEvent[], more: readonly ShownEvent[]): void {
  for (const event of more) if (event.seq > (all.at(-1)?.seq ?? 0)) all.push(event)
}
