import { useEffect, useRef, useState } from 'react'

const AFTER_SHOWN_MS = 500
const AFTER_TYPING_MS = 1_000

/**
 * Whether a yes or no can be given now. Not right after the question appeared, and not while somebody writes elsewhere: a click or
 * a key that was meant for something else must not answer it.
 */
export function useActGuard(question: string): {
  ready: boolean
  isStray: (event: { timeStamp: number }) => boolean
} {
  const [until, setUntil] = useState(() => performance.now() + AFTER_SHOWN_MS)
  const [now, setNow] = useState(() => performance.now())
  const stray = useRef<{ away: boolean; at: number }>({ away: !document.hasFocus(), at: -1 })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question is another card
  useEffect(() => setUntil(performance.now() + AFTER_SHOWN_MS), [question])
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { target } = event
      if (target instanceof HTMLElement && target.closest('[data-answer]') !== null) return
      // Half of an answer by keyboard, when it is not one of many keys.
      if (event.key === 'a' && target instanceof HTMLElement && target.matches('[data-question]')) return
      // Moving around is not writing.
      if (event.key.length === 1 || event.key === 'Enter' || event.key === 'Backspace')
        setUntil(before => Math.max(before, performance.now() + AFTER_TYPING_MS))
    }
    const onBlur = (): void => {
      stray.current.away = true
    }
    const onPointer = (event: PointerEvent): void => {
      // The click that brings the window back was meant to do just that.
      if (stray.current.away) stray.current = { away: false, at: event.timeStamp }
    }
    document.addEventListener('keydown', onKey, true)
    window.addEventListener('blur', onBlur)
    document.addEventListener('pointerdown', onPointer, true)
    return () => {
      document.removeEventListener('keydown', onKey, true)
      window.removeEventListener('blur', onBlur)
      document.removeEventListener('pointerdown', onPointer, true)
    }
  }, [])
  useEffect(() => {
    const left = until - performance.now()
    if (left <= 0) return setNow(performance.now())
    const timer = setTimeout(() => setNow(performance.now()), left + 5)
    return () => clearTimeout(timer)
  }, [until])
  return {
    ready: now >= until,
    isStray: event => stray.current.at >= 0 && event.timeStamp - stray.current.at < STRAY_MS,
  }
}

/** From the press that brought the window back to the click that follows from it. */
const STRAY_MS = 400
