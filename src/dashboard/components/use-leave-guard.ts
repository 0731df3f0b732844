import { useEffect } from 'react'

/** While something is not saved, asks before the page goes elsewhere: by a link, by Back, by a shortcut or by closing it. */
export function useLeaveGuard(isDirty: boolean, question: string): void {
  useEffect(() => {
    if (!isDirty) return
    const here = window.location.pathname
    const isElsewhere = (url: string | URL | null | undefined): boolean =>
      url != null && new URL(url, window.location.href).pathname !== here
    const push = history.pushState
    history.pushState = (state, unused, url) => {
      if (!isElsewhere(url) || window.confirm(question)) push.call(history, state, unused, url)
    }
    // Before the router hears of it; the address has changed by then and is put back.
    const onBack = (event: PopStateEvent): void => {
      if (!isElsewhere(window.location.href) || window.confirm(question)) return
      event.stopImmediatePropagation()
      push.call(history, null, '', here)
    }
    const onClose = (event: BeforeUnloadEvent): void => event.preventDefault()
    window.addEventListener('popstate', onBack, { capture: true })
    window.addEventListener('beforeunload', onClose)
    return () => {
      history.pushState = push
      window.removeEventListener('popstate', onBack, { capture: true })
      window.removeEventListener('beforeunload', onClose)
    }
  }, [isDirty, question])
}
