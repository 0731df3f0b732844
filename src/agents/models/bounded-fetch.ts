import { ModelError } from '../model.ts'

/** An answer of the longest model there is, in small pieces, stays well below. */
const MOST_BYTES = 64 * 1024 * 1024

/** `fetch` for vendors. A server that never stops would fill the memory, whatever reads from it. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
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
