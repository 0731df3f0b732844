import { shortModel } from '../runs/short-model.ts'

/** Models by their short names, where those tell them apart. */
export function withShortKeys<Row extends { readonly key: string }>(rows: readonly Row[]): Row[] {
  const keys = [...new Set(rows.map(({ key }) => key))]
  const isAlone = (key: string): boolean =>
    keys.every(other => other === key || shortModel(other) !== shortModel(key))
  return rows.map(row => (isAlone(row.key) ? { ...row, key: shortModel(row.key) } : row))
}
