/** Why a run is to stand still; `lost`: somebody else has it by now. */
export type Wish = 'pause' | 'stop' | 'lost'

export interface Control {
  readonly signal: AbortSignal
  wish(wanted: Wish): void
  wished(): Wish | undefined
}

/** One signal for everything that can make a run stand still, and which of it was first. */
export function createControl(outer: AbortSignal | undefined): Control {
  const controller = new AbortController()
  const state: { wished: Wish | undefined } = { wished: undefined }
  const wish = (wanted: Wish): void => {
    state.wished ??= wanted
    controller.abort()
  }
  outer?.addEventListener('abort', () => wish('pause'), { once: true })
  if (outer?.aborted === true) wish('pause')
  return { signal: controller.signal, wish, wished: () => state.wished }
}
