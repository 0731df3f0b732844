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
  readonly id: string
  /** The first of them, where the row stands for several. */
  readonly agent: RunAgent
  /** How many equal ones that are done the row stands for. Undefined: for its agent alone. */
  readonly same?: number
  readonly depth: number
  /** How many work below it, at any depth. */
  readonly below: number
  readonly isClosed: boolean
  /** Of it and of all below it. */
  readonly total: Sums
}

interface Branch {
  readonly rows: readonly TreeRow[]
  readonly total: Sums
  readonly count: number
}

/**
 * The rows that are on the screen, each above those that work for it. Equal siblings that are done share a row, which is closed until
 * a person opens it or chooses one of them.
 */
export function shownRows(
  all: readonly RunAgent[],
  closed: ReadonlyMap<string, boolean>,
  chosen = '',
): TreeRow[] {
  const children = Map.groupBy(all, ({ parent_execution_id }) => parent_execution_id ?? '')
  const known = new Set(all.map(({ execution_id }) => execution_id))
  // One whose parent is not in the list stands at the top, so that nobody is lost.
  const tops = all.filter(({ parent_execution_id: parent }) => parent === null || !known.has(parent))
  const branchOf = (agent: RunAgent, depth: number): Branch => {
    const id = agent.execution_id
    const parts = siblings(children.get(id) ?? [], depth + 1)
    const own: Sums = {
      tokens: agent.tokens,
      cost: agent.cost_usd,
      calls: agent.calls,
      waiting: agent.waiting,
    }
    const total = parts.reduce((sum, part) => add(sum, part.total), own)
    const below = parts.reduce((sum, { count }) => sum + count, 0)
    const isClosed = below > 0 && closed.get(id) === true
    const row = { id, agent, depth, below, isClosed, total }
    return { rows: [row, ...(isClosed ? [] : parts.flatMap(({ rows }) => rows))], total, count: below + 1 }
  }
  const siblings = (agents: readonly RunAgent[], depth: number): Branch[] =>
    [...Map.groupBy(agents, sameness)].flatMap(([id, [first, ...others]]) => {
      if (first === undefined) return []
      if (others.length === 0) return [branchOf(first, depth)]
      const branches = [first, ...others].map(each => branchOf(each, depth + 1))
      const rows = branches.flatMap(branch => branch.rows)
      const total = branches.map(branch => branch.total).reduce(add)
      const count = branches.reduce((sum, branch) => sum + branch.count, 0)
      const isClosed = closed.get(id) ?? !rows.some(row => row.id === chosen)
      const row = { id, agent: first, same: branches.length, depth, below: count, isClosed, total }
      return [{ rows: [row, ...(isClosed ? [] : rows)], total, count }]
    })
  return siblings(tops, 0).flatMap(({ rows }) => rows)
}

/** Equal for siblings that are done in the same way, and nobody else's for every other one. */
function sameness(agent: RunAgent): string {
  const { execution_id, parent_execution_id: parent, name, status, stop_reason, waiting } = agent
  return status === 'completed' && waiting === 0 ? JSON.stringify([parent, name, stop_reason]) : execution_id
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
  const index = rows.findIndex(({ id }) => id === current)
  const row = rows[index]
  const idAt = (at: number): string | undefined => rows.at(at)?.id
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
      return { to: rows.slice(0, index).findLast(({ depth }) => depth < row.depth)?.id }
    case 'Enter':
      return row.same === undefined ? { open: true } : { close: !row.isClosed }
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
