import { ToolError } from '../core/errors.ts'

/** Runs that this process has taken or created and not let go since: nothing in it takes one a second time. */
export function createRunsAtWork() {
  const ids = new Set<string>()
  return {
    has: (id: string): boolean => ids.has(id),
    end: (id: string): void => void ids.delete(id),
    async begin<T>(id: string, take: () => Promise<T>): Promise<T> {
      if (ids.has(id)) throw new ToolError('conflict', 'This process is already working on the run.')
      ids.add(id)
      try {
        return await take()
      } catch (error) {
        ids.delete(id)
        throw error
      }
    },
  }
}
