import { ModelError } from '../model.ts'

/** An answer of the longest model there is, in small pieces, stays well below. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * `fetch` for vendors. A redirect would carry the key and the conversation to where nobody has configured them to go, so it
 * is an error. A server that never stops would fill the memory, whatever reads from it.
 */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' })
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel()
    throw redirected(response)
  }
  if (response.body === null) return response
  let left = MOST_BYTES
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.byteLength
        if (left < 0) throw new ModelError('failed', 'The answer is larger than 64 MB, so it was cut off.')
        controller.enqueue(chunk)
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(counted, { status, statusText, headers })
}

function redirected({ status, url, headers }: Response): ModelError {
  // Only where it leads: a path may repeat what was sent.
  const target = headers.get('location') ?? ''
  const to = URL.canParse(target, url) ? ` to ${new URL(target, url).origin}` : ''
  return new ModelError(
    'failed',
    `The server redirects${to} (${status}). Kogu did not follow it: the key and the conversation would go there.`,
    { hint: 'If that address is the right one, set it as base_url of the provider.' },
  )
}
