import type { ServerContext } from '@modelcontextprotocol/server'

type Notify = (notification: Parameters<ServerContext['mcpReq']['notify']>[0]) => Promise<void>

/** Between two notifications. Each also keeps the client from giving up. */
const PAUSE_MS = 200
const LONGEST_MESSAGE = 500

/** Live output of a call as progress, for clients that asked for it: the last line, counted, not too often. */
export function progressNotifier(
  token: string | number | undefined,
  notify: Notify,
): {
  onProgress: { onProgress?: (text: string) => void }
  end(): Promise<void>
} {
  if (token === undefined) return { onProgress: {}, end: async () => undefined }
  let count = 0
  let last = Number.NEGATIVE_INFINITY
  let sent: Promise<void> = Promise.resolve()
  return {
    onProgress: {
      onProgress(text) {
        const now = performance.now()
        if (now - last < PAUSE_MS) return
        last = now
        count += 1
        const message = text.trimEnd().split('\n').at(-1)?.slice(0, LONGEST_MESSAGE) ?? ''
        const progress = count
        sent = sent
          .then(() =>
            notify({
              method: 'notifications/progress',
              params: { progressToken: token, progress, message },
            }),
          )
          // A client that has gone hears no more; the call ends by its signal.
          .catch(() => undefined)
      },
    },
    // Everything that was said before the result arrives before it.
    end: () => sent,
  }
}
