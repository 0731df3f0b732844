import type { Runtime } from '../runtime.ts'
import type { DoorContext } from './call-tool.ts'
import { giveBackMemory, type IdleMemory } from './give-back-memory.ts'
import type { NameSet } from './tool-list.ts'

/** What everything that answers clients of one door works with. */
export interface DoorParts extends Pick<DoorContext, 'runtime' | 'run' | 'begun'> {
  readonly version: string
  readonly names: NameSet
  /** Tokens that definitions of tools may cost. */
  readonly budget: number
  /** Whether the client may answer questions: its person's programs may, a token only with the scope `approve`. */
  readonly mayApprove: boolean
  /** Who sends its requests, where the door knows: clients may call themselves whatever they like. */
  readonly sender?: string
  readonly memory: IdleMemory
  /** Calls that have not ended. */
  readonly running: Set<Promise<unknown>>
}

/** Each connection has its own run. */
export function createDoorParts(
  runtime: Runtime,
  options: Pick<DoorParts, 'version' | 'names' | 'budget' | 'mayApprove' | 'sender'>,
): Omit<DoorParts, 'run'> {
  const { version, names, budget, mayApprove, sender } = options
  return {
    ...{ runtime, version, names, budget, mayApprove },
    ...(sender === undefined ? {} : { sender }),
    running: new Set(),
    begun: new Map(),
    memory: giveBackMemory(),
  }
}

export function trackCall({ running, memory }: DoorParts, work: Promise<unknown>): void {
  const ended = (): void => {
    running.delete(work)
    memory.called()
  }
  running.add(work)
  work.then(ended, ended)
}
