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

/** Dangerous calls are few; a tool that can change something is the ordinary case of a question. */
export function riskOf({ isDangerous, risk }: Pick<Approval, 'isDangerous' | 'risk'>) {
  if (isDangerous) return 'high'
  return risk === 'low' ? 'low' : 'medium'
}

/** The value that says most about a call, or the files that it touches. */
export function summaryOf({ input, access, cwd }: Pick<Approval, 'input' | 'access' | 'cwd'>): string {
  for (const key of ['command', 'path', 'file_path', 'url', 'query', 'name']) {
    const value = input[key]
    if (typeof value === 'string') return value
  }
  const paths = new Set(access.flatMap(each => ('path' in each ? [each.path] : [])))
  if (paths.size === 0) return JSON.stringify(input)
  return [...paths].map(path => (path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path)).join(', ')
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

/** The icon of the tab gets a dot. */
export function useTabIcon(): void {
  const isWaiting = useWaiting().length > 0
  useEffect(() => {
    document
      .querySelector('link[rel="icon"]')
      ?.setAttribute('href', isWaiting ? '/icon-waiting.svg' : '/icon.svg')
  }, [isWaiting])
}
