import { Alert } from '@mantine/core'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

export interface ByKeyboardProps {
  readonly mayApprove: boolean
  readonly onApprove: (event: { timeStamp: number }) => void
}

/** `a` on the question itself, then Enter. Two keys, because one is too easily meant for something else. */
export function ByKeyboard({ mayApprove, onApprove }: ByKeyboardProps) {
  const place = useRef<HTMLDivElement>(null)
  const [armed, arm] = useState(false)
  // What could not be approved in between is not approved by what was pressed before.
  if (armed && !mayApprove) arm(false)
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat
    if (event.key === 'a' && isPlain && event.target === event.currentTarget && mayApprove) arm(true)
  })
  useEffect(() => {
    const card = place.current?.closest('article')
    const listen = (event: KeyboardEvent): void => onKey(event)
    card?.addEventListener('keydown', listen)
    return () => card?.removeEventListener('keydown', listen)
  }, [])
  return (
    <div ref={place} hidden={!armed}>
      {armed && (
        <PressEnter
          onKey={event => {
            arm(false)
            place.current?.closest('article')?.focus({ preventScroll: true })
            if (event.key === 'Enter') onApprove(event)
          }}
          onLeave={() => arm(false)}
        />
      )}
    </div>
  )
}

interface PressEnterProps {
  readonly onKey: (event: { key: string; timeStamp: number }) => void
  readonly onLeave: () => void
}

/** Any other key takes it back: who writes a word has not meant this. */
function PressEnter({ onKey, onLeave }: PressEnterProps) {
  const t = useWords(words)
  const line = useRef<HTMLDivElement>(null)
  useEffect(() => line.current?.focus(), [])
  return (
    <Alert
      ref={line}
      py="xs"
      role="alert"
      tabIndex={-1}
      onBlur={onLeave}
      onKeyDown={event => {
        event.preventDefault()
        if (!event.repeat) onKey(event)
      }}
    >
      {t('pressEnter')}
    </Alert>
  )
}
