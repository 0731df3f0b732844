import { useQueryClient } from '@tanstack/react-query'
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useEffectEvent,
  useState,
  useSyncExternalStore,
} from 'react'
import type { ServerEvent } from '../../client.ts'
import type { Topic } from '../api/api.ts'
import { type EventStream, type LiveState, openEventStream } from './event-stream.ts'

const LiveContext = createContext<EventStream | undefined>(undefined)

/** Keeps what was loaded up to date with what happens. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const [stream, setStream] = useState<EventStream>()
  useEffect(() => {
    const opened = openEventStream()
    const pending = new Set<Topic | 'everything'>()
    let timer: number | undefined
    const flush = (): void => {
      timer = undefined
      const topics = [...pending]
      pending.clear()
      if (topics.includes('everything')) void queries.invalidateQueries()
      else for (const topic of topics) void queries.invalidateQueries({ queryKey: [topic] })
    }
    const stop = opened.onEvent(event => {
      for (const topic of topicsOf(event)) pending.add(topic)
      // A busy run has dozens of events a second; loading once for many of them is enough.
      if (pending.size > 0) timer ??= window.setTimeout(flush, FLUSH_MS)
    })
    // A connection that is refused says not why. A server that began anew knows no session of before.
    const unwatch = opened.onState(() => {
      if (opened.state().kind !== 'live') void queries.invalidateQueries({ queryKey: ['session'] })
    })
    setStream(opened)
    return () => {
      stop()
      unwatch()
      clearTimeout(timer)
      opened.close()
    }
  }, [queries])
  return <LiveContext value={stream}>{children}</LiveContext>
}

const FLUSH_MS = 150

function topicsOf({ type }: ServerEvent): readonly (Topic | 'everything')[] {
  if (type === 'resync') return ['everything']
  if (type === 'text.delta' || type === 'call.output') return []
  if (type.startsWith('approval.')) return ['approvals', 'runs']
  if (type === 'call.finished') return ['runs', 'changes', 'audit', 'approvals']
  if (type === 'run.finished') return ['runs', 'usage', 'panels', 'pipelines', 'changes']
  if (type === 'tool.changed') return ['tools', 'mcp']
  if (type === 'mcp.status') return ['mcp', 'tools']
  if (type === 'usage') return ['usage']
  if (type === 'model.failed') return ['models']
  if (type === 'config.changed') return ['settings', 'rules', 'models', 'mcp']
  if (type === 'panel.changed') return ['panels']
  if (type.startsWith('pipeline.')) return ['pipelines']
  return ['runs']
}

const CONNECTING: LiveState = { kind: 'connecting' }

export function useLive(): { state: LiveState; retry: () => void } {
  const stream = useContext(LiveContext)
  const state = useSyncExternalStore(
    listener => stream?.onState(listener) ?? (() => undefined),
    () => stream?.state() ?? CONNECTING,
  )
  return { state, retry: () => stream?.retry() }
}

export function useLiveEvents(listener: (event: ServerEvent) => void): void {
  const stream = useContext(LiveContext)
  const hear = useEffectEvent(listener)
  useEffect(() => stream?.onEvent(event => hear(event)), [stream])
}
