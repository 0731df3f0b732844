import { useCallback } from 'react'
import { useGet } from '../api/api.ts'
import { shortenPaths } from './shorten-paths.ts'

/** Takes the folder of the workspace out of a text: a path inside is told by what follows it. Others stay whole. */
export function useShortPath(): (text: string) => string {
  const { data } = useGet<{ workspace: string }>('session', '/api/auth/session')
  const workspace = data?.workspace
  return useCallback(text => (workspace === undefined ? text : shortenPaths(text, workspace)), [workspace])
}

interface Place {
  readonly source: string
  readonly line?: number | null | undefined
}

/** Where a rule or a setting stands: inside the workspace its path, elsewhere the end of it. */
export function usePlace(): (place: Place) => string {
  const shorten = useShortPath()
  return useCallback(
    ({ source, line }) => {
      const short = shorten(source)
      const parts = short.split('/')
      const name = short.startsWith('/') && parts.length > 4 ? `…/${parts.slice(-3).join('/')}` : short
      return line === undefined || line === null ? name : `${name}:${line}`
    },
    [shorten],
  )
}
