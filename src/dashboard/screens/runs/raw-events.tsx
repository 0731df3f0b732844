import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { Empty } from '../../components/data-region.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import type { ShownEvent } from './run-events.ts'
import classes from './runs.module.css'
import { words } from './words.ts'

export function RawEvents({ events }: { events: readonly ShownEvent[] }) {
  const t = useWords(words)
  const box = useRef<HTMLDivElement>(null)
  const list = useVirtualizer({
    count: events.length,
    getScrollElement: () => box.current,
    estimateSize: () => 24,
    overscan: 20,
  })
  if (events.length === 0) return <Empty title={t('noEvents')} />
  return (
    <div
      ref={box}
      className={`kogu-card ${classes.transcript}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label={t('events')}
    >
      <div style={{ height: list.getTotalSize(), position: 'relative' }}>
        {list.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key}
            ref={list.measureElement}
            data-index={index}
            className={`kogu-block ${classes.item}`}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Untrusted text={JSON.stringify(events[index])} most={2_000} />
          </div>
        ))}
      </div>
    </div>
  )
}
