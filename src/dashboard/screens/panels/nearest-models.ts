import type { Model } from './types.ts'

const MOST = 3

/** Of what a vendor offers, what is closest to a model that it does not list: the longest common beginning counts. */
export function nearestModels<M extends Pick<Model, 'id' | 'name'>>(
  wanted: string,
  models: readonly M[],
): M[] {
  return models
    .map(model => ({ model, common: commonStart(model.id, wanted) }))
    .toSorted((a, b) => b.common - a.common || a.model.id.length - b.model.id.length)
    .slice(0, MOST)
    .map(({ model }) => model)
}

function commonStart(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  return at
}
