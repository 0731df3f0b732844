import { useCallback, useEffect, useRef, useState } from 'react'
import type { ServerEvent } from '../../../client.ts'
import { request } from '../../api/api.ts'
import type { Page } from '../../api/types.ts'
import { useLive, useLiveEvents } from '../../live/live-provider.tsx'

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
  // One load at a time. What comes meanwhile is part of it: added by itself it would hide what is missing before it.
  const loading = useRef({ isBusy: false, isWanted: false, isWhole: false })
  const load = useCallback(async (): Promise<void> => {
    const now = loading.current
    now.isWanted = true
    if (now.isBusy) return
    Object.assign(now, { isBusy: true, isWhole: false })
    try {
      while (now.isWanted) {
        now.isWanted = false
        await loadRest(run, all.current, draw)
      }
      now.isWhole = true
      setError(null)
    } catch (failure) {
      setError(failure)
    } finally {
      now.isBusy = false
      setLoading(false)
    }
  }, [run, draw])
  useEffect(() => {
    void load()
    return () => clearTimeout(timer.current)
  }, [load])
  const { kind } = useLive().state
  useEffect(() => {
    // A load that broke with the connection is made good as soon as there is one.
    if (kind === 'live' && !loading.current.isWhole) void load()
  }, [kind, load])
  useLiveEvents(event => {
    const isOurs = event.run === run && event.seq !== undefined
    if (isOurs && loading.current.isWhole && !loading.current.isBusy) {
      // The server numbers events of a run with those of all others, so a gap here is no loss.
      add(all.current, [event as ShownEvent]) // one with a number has a time too
      draw()
    } else if (event.run === run || event.type === 'resync') void load()
  })
  return { events, error, isLoading, reload: () => void load() }
}

/** From the last one that is there to the newest. */
async function loadRest(run: string, all: ShownEvent[], draw: () => void): Promise<void> {
  for (;;) {
    const after = all.at(-1)?.seq ?? 0
    const page = await request<Page<ShownEvent>>(
      'GET',
      `/api/runs/${encodeURIComponent(run)}/events?after=${after}&limit=${PAGE}`,
    )
    add(all, page.items)
    draw()
    if (page.next === null) return
  }
}

function add(all: ShownEvent[], more: readonly ShownEvent[]): void {
  for (const event of more) if (event.seq > (all.at(-1)?.seq ?? 0)) all.push(event)
}
