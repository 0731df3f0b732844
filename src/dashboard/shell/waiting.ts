import { useEffect } from 'react'
import { useGet } from '../api/api.ts'
import type { Approval } from '../api/types.ts'

export function useApprovals() {
  // Events tell of them too; this is for when the database that carries events is away.
  return useGet<Approval[]>('approvals', '/api/approvals', { refetchMs: 20_000 })
}

/** Questions that nobody has answered. */
export function useWaiting(): readonly Approval[] {
  const { data = [] } = useApprovals()
  return data.filter(({ answer }) => answer === null)
}

/** How many wait stands in the title of the tab, where one sees it from other tabs. */
export function useTabTitle(): void {
  const count = useWaiting().length
  useEffect(() => {
    const mark = (): void => {
      const plain = document.title.replace(/^\(\d+\) /, '')
      const wanted = count === 0 ? plain : `(${count}) ${plain}`
      if (document.title !== wanted) document.title = wanted
    }
    mark()
    const title = document.querySelector('title')
    if (title === null) return
    const observer = new MutationObserver(mark)
    observer.observe(title, { childList: true })
    return () => observer.disconnect()
  }, [count])
}
