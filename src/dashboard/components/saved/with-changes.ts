/** New values for some keys; undefined takes a key out. */
export type Changes<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** What is not set is not in the file. */
export function withChanges<T extends object>(before: T, changes: Changes<T>): T {
  const entries = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined)
  // Only keys that may be left out are left out: the types of `changes` say so.
  return Object.fromEntries(entries) as T
}
