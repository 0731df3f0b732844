export interface RunAgent {
  readonly execution_id: string
  readonly parent_execution_id: string | null
  readonly name: string
  readonly description: string | null
  readonly status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  readonly stop_reason: string | null
  readonly task: string
  readonly error: string | null
  readonly tokens: number
  readonly cost_usd: number | null
  readonly calls: number
  readonly duration_ms: number | null
  readonly waiting: number
  /** A person wants it to end, and it has not. */
  readonly stopping: boolean
  readonly completed_at: string | null
  /** What it was told besides its task. */
  readonly prompt: string | null
  readonly tools: readonly string[]
  /** Null where there is no limit. */
  readonly limits_left: {
    readonly turns: number
    readonly cost_usd: number | null
    readonly tokens: number | null
    readonly calls: number | null
  }
}

interface Sums {
  readonly tokens: number
  /** Null when the price of any part is unknown. */
  readonly cost: number | null
  readonly calls: number
  readonly waiting: number
}

export interface TreeRow {
  readonly agent: RunAgent
  readonly depth: number
  /** How many work below it, at any depth. */
  readonly below: number
  readonly isClosed: boolean
  /** Of it and of all below it. */
  readonly total: Sums
}

/** The rows that are on the screen, each above those that work for it. */
export function shownRows(all: readonly RunAgent[], closed: ReadonlySet<string>): TreeRow[] {
  const children = Map.groupBy(all, ({ parent_execution_id }) => parent_execution_id ?? '')
  const known = new Set(all.map(({ execution_id }) => execution_id))
  // One whose parent is not in the list stands at the top, so that nobody is lost.
  const tops = all.filter(({ parent_execution_id: parent }) => parent === null || !known.has(parent))
  const walk = (agent: RunAgent, depth: number): { rows: TreeRow[]; total: Sums; count: number } => {
    const parts = (children.get(agent.execution_id) ?? []).map(child => walk(child, depth + 1))
    const own: Sums = {
      tokens: agent.tokens,
      cost: agent.cost_usd,
      calls: agent.calls,
      waiting: agent.waiting,
    }
    const total = parts.reduce((sum, part) => add(sum, part.total), own)
    const below = parts.reduce((sum, { count }) => sum + count, 0)
    const isClosed = below > 0 && closed.has(agent.execution_id)
    const row = { agent, depth, below, isClosed, total }
    return { rows: [row, ...(isClosed ? [] : parts.flatMap(({ rows }) => rows))], total, count: below + 1 }
  }
  return tops.flatMap(agent => walk(agent, 0).rows)
}

interface Move {
  /** Which one gets the focus. */
  readonly to?: string | undefined
  /** Whether the current one is closed from now on. */
  readonly close?: boolean
  /** What the current one said and did is looked at. */
  readonly open?: true
}

/** What a key does in a tree, as people know it from their file manager. Undefined: it is not for the tree. */
export function moveInTree(key: string, rows: readonly TreeRow[], current: string): Move | undefined {
  const index = rows.findIndex(({ agent }) => agent.execution_id === current)
  const row = rows[index]
  const idAt = (at: number): string | undefined => rows.at(at)?.agent.execution_id
  if (row === undefined) return undefined
  switch (key) {
    case 'ArrowDown':
      return index + 1 < rows.length ? { to: idAt(index + 1) } : {}
    case 'ArrowUp':
      return index > 0 ? { to: idAt(index - 1) } : {}
    case 'Home':
      return { to: idAt(0) }
    case 'End':
      return { to: idAt(-1) }
    case 'ArrowRight':
      if (row.isClosed) return { close: false }
      return row.below > 0 ? { to: idAt(index + 1) } : {}
    case 'ArrowLeft':
      if (row.below > 0 && !row.isClosed) return { close: true }
      return { to: row.agent.parent_execution_id ?? undefined }
    case 'Enter':
      return { open: true }
    case ' ':
      return row.below > 0 ? { close: !row.isClosed } : {}
    default:
      return undefined
  }
}

function add(a: Sums, b: Sums): Sums {
  return {
    tokens: a.tokens + b.tokens,
    cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
    calls: a.calls + b.calls,
    waiting: a.waiting + b.waiting,
  }
}
