import { hash } from 'node:crypto'
import type { WorkspaceEvent } from '../../agents/events.ts'
import { makeFolders } from '../../core/make-folders.ts'
import type { ShownQuestion } from '../../core/stored-question.ts'
import type { Runtime } from '../../runtime.ts'
import type { Database } from '../../store/database/database.ts'
import { insertWorkspaceEvents } from '../../store/tables/run-events.ts'
import type { RunPlace } from '../../store/tables/run-place.ts'
import { followFolder } from './follow-folder.ts'
import { lookRegularly, type RegularLook } from './look-regularly.ts'
import { signatureOf } from './watch-workspace.ts'

/** Tells listeners of questions, wherever they were asked: by a run, over HTTP, from the command line or by an MCP client. */
export interface Watch extends RegularLook {
  /** How many questions waited without an answer at the last look. */
  readonly waiting: number
}

export interface WatchOptions {
  readonly runtime: Runtime
  readonly database: Database
  readonly place: RunPlace
  /** When the server began: of questions that waited before, whoever began before has told. */
  readonly began: number
  readonly onQuestion: (question: { id: string; tool: string; risk: string }) => void
}

export function startWatch({ runtime, database, place, began, onQuestion }: WatchOptions): Watch {
  const state = { known: new Map<string, ShownQuestion>(), files: new Map<string, string>(), waiting: 0 }
  const look = async (): Promise<void> => {
    folder.follow()
    const questions = new Map((await runtime.listQuestions()).map(question => [question.id, question]))
    const before = state.known
    state.known = questions
    state.waiting = [...questions.values()].filter(({ answer }) => answer === null).length
    const fresh = [...questions.values()].filter(({ id }) => !before.has(id))
    const files = new Map([...questions.values()].map(question => [question.id, filesOf(question)]))
    const changes = [...changesBetween(before, questions), ...touchedBetween(state.files, files, questions)]
    state.files = files
    await insertWorkspaceEvents(database, place, changes.map(toStored))
    for (const { id, tool, risk, answer, createdAt } of fresh)
      if (answer === null && createdAt >= began) onQuestion({ id, tool: tool.name, risk })
  }
  // Whoever waits for an answer, and whoever is to give it, hears of it at once.
  makeFolders(runtime.places.waiting)
  const folder = followFolder(runtime.places.waiting, () => looking.lookSoon())
  const looking = lookRegularly(look)
  return {
    ...looking,
    get waiting() {
      return state.waiting
    },
    close() {
      folder.close()
      return looking.close()
    },
  }
}

function changesBetween(
  before: ReadonlyMap<string, ShownQuestion>,
  now: ReadonlyMap<string, ShownQuestion>,
): WorkspaceEvent[] {
  const events: WorkspaceEvent[] = []
  for (const { id, runId: run, callId: call, tool, risk, answer } of now.values()) {
    const known = before.get(id)
    if (known === undefined)
      events.push({ type: 'approval.created', approval: id, run, call, tool: tool.name, risk })
    if (answer !== null && known?.answer == null) {
      events.push({ type: 'approval.updated', approval: id, run, answer: answer.kind, user: answer.user })
    }
  }
  for (const { id, runId: run } of before.values()) {
    if (!now.has(id)) events.push({ type: 'approval.closed', approval: id, run })
  }
  return events
}

function touchedBetween(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
  questions: ReadonlyMap<string, ShownQuestion>,
): WorkspaceEvent[] {
  return [...questions.values()].flatMap(({ id, runId: run }) => {
    const [known, state = ''] = [before.get(id), now.get(id)]
    return known === undefined || known === state
      ? []
      : [{ type: 'approval.touched' as const, approval: id, run, state }]
  })
}

const MOST_FILES = 100

/** Looked at every second, so by time and size; whoever is told compares the content. */
function filesOf({ access }: ShownQuestion): string {
  const paths = access.flatMap(each => ('path' in each ? [each.path] : [])).slice(0, MOST_FILES)
  return hash('sha256', paths.map(signatureOf).join(' '))
}

/** Two servers of one workspace see the same change: its id follows from what it says, so it is written once. */
function toStored(event: WorkspaceEvent) {
  const digest = hash('sha256', JSON.stringify(event))
  const id = [0, 8, 12, 16, 20].map((from, index) => digest.slice(from, [8, 12, 16, 20, 32][index])).join('-')
  return { id, at: new Date().toISOString(), event }
}
