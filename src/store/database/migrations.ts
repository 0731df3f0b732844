import { AGENTS } from './migrations/0001-agents.ts'
import { RUNS } from './migrations/0002-runs.ts'
import { SERVER } from './migrations/0003-server.ts'
import { SAVED_VERSIONS } from './migrations/0004-saved-versions.ts'
import { APPROVALS } from './migrations/0005-approvals.ts'
import { OWNER } from './migrations/0006-owner.ts'
import { REVIEWS } from './migrations/0007-reviews.ts'
import { EVENT_PLACES } from './migrations/0008-event-places.ts'
import { STEERING } from './migrations/0009-steering.ts'
import { WORKFLOW_PLACES } from './migrations/0010-workflow-places.ts'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** In order, forward only. The text of one that was released never changes: its checksum is compared at every start. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'agents', sql: AGENTS },
  { version: 2, name: 'runs', sql: RUNS },
  { version: 3, name: 'server', sql: SERVER },
  { version: 4, name: 'saved versions', sql: SAVED_VERSIONS },
  { version: 5, name: 'approvals', sql: APPROVALS },
  { version: 6, name: 'owner', sql: OWNER },
  { version: 7, name: 'reviews', sql: REVIEWS },
  { version: 8, name: 'event places', sql: EVENT_PLACES },
  { version: 9, name: 'steering', sql: STEERING },
  { version: 10, name: 'workflow places', sql: WORKFLOW_PLACES },
]
