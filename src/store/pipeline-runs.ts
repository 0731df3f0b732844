import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { type FileLock, isLocked, tryLock } from '../core/lock-file.ts'
import { makeFolders } from '../core/make-folders.ts'
import { writeWhole } from '../core/write-whole.ts'
import type { Places } from './places.ts'

// One file per run of a pipeline, replaced as a whole after every step. In the state folder: a repository that brought
// such a file along could say that a gate was passed, or put words into the mouth of a step.

const value = { text: z.string(), data: z.unknown(), untrusted: z.string().optional() }
const tries = {
  attempts: z.int().min(0),
  round: z.int().min(0).optional(),
  waits: z.int().min(0).optional(),
  run: z.string().optional(),
  opened: z.literal(true).optional(),
  items: z.array(z.object(value)).readonly().optional(),
}
const step = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('waiting'),
    ...tries,
    notBefore: z.number().optional(),
    gate: z.literal(true).optional(),
  }),
  z.object({ status: z.literal('running'), ...tries }),
  z.object({
    status: z.literal('done'),
    ...tries,
    ...value,
    error: z.string().optional(),
    verdict: z.object({ is: z.enum(['failed', 'unknown']), why: z.string() }).optional(),
  }),
  z.object({ status: z.literal('skipped'), ...tries, reason: z.string() }),
  z.object({ status: z.literal('failed'), ...tries, error: z.string() }),
])

/** A run that works on a copy of a repository and leaves a branch. */
const build = z.object({
  /** Where the person's files are. */
  repository: z.string(),
  /** The copy. */
  root: z.string(),
  /** The commit that it began with. */
  base: z.string(),
  branch: z.string(),
  /** What became of it; set when it has ended and its branch is in the repository. */
  report: z
    .object({
      /** The last commit of the branch; null when nothing was committed. */
      commit: z.string().nullable(),
      files: z.array(z.object({ path: z.string(), added: z.number(), deleted: z.number() })),
      /** What the last check said. */
      checks: z.string(),
      rounds: z.number(),
      refused: z.array(z.object({ tool: z.string(), reason: z.string() })),
      calls: z.number(),
      tokens: z.number(),
      costUsd: z.number().nullable(),
    })
    .optional(),
  /** A person has taken the branch, or thrown it away. */
  settled: z.enum(['accepted', 'discarded']).optional(),
})

export type SavedBuild = z.output<typeof build>

const schema = z.object({
  id: z.string(),
  pipeline: z.string(),
  /** Of the file that it runs: a changed pipeline is not continued as if it were the same. */
  sha256: z.string(),
  input: z.record(z.string(), z.unknown()),
  /** Whose words are in it, when they are not those of a person or of the workspace. */
  inputFrom: z.string().optional(),
  startedAt: z.string(),
  status: z.enum(['running', 'waiting', 'stopped', 'completed', 'failed']),
  /** The earlier run whose outputs stand for the steps that are not run again. */
  continues: z.string().optional(),
  /** The run that this one is a step of; it goes on with that one. */
  parent: z.string().optional(),
  /** What its panels run with instead of their own models, also when it goes on later. */
  model: z.string().optional(),
  rehearse: z.boolean().optional(),
  /** A server began it, and goes on with it after a crash: nobody else would. */
  isServers: z.boolean().optional(),
  /** Who asked the server for it: no other caller makes it go on. */
  startedBy: z.string().optional(),
  build: build.optional(),
  /** Every run of a panel or pipeline that it has begun, also in earlier tries and rounds. */
  runs: z.array(z.string()).default([]),
  progress: z.object({
    steps: z.record(z.string(), step),
    loops: z.record(z.string(), z.number()),
    before: z.record(z.string(), z.object(value)).optional(),
  }),
})

export type SavedPipelineRun = z.output<typeof schema>

/** The run of a pipeline with all that it has begun: what one undo takes back. Of any other id, that one alone. */
export function wholePipelineRun(runs: Pick<PipelineRuns, 'find'>, id: string): string[] {
  const begun = runs.find(id)?.runs ?? []
  return [id, ...begun.flatMap(each => wholePipelineRun(runs, each))]
}

export function pipelineRunsOf({ pipelines }: Places): PipelineRuns {
  return openPipelineRuns(join(pipelines, 'runs'))
}

export interface PipelineRuns {
  /** Undefined when another process works on it. */
  lock(id: string): FileLock | undefined
  save(run: SavedPipelineRun): void
  find(id: string): SavedPipelineRun | undefined
  list(): SavedPipelineRun[]
  /** Those that have not ended. They are few, however many have. */
  listOpen(): SavedPipelineRun[]
  isLocked(id: string): boolean
}

/** What has ended lies in a folder of its own, so that whoever looks for work does not read it every second. */
function openPipelineRuns(folder: string): PipelineRuns {
  const ended = join(folder, 'ended')
  const fileOf = (id: string): string | undefined =>
    [folder, ended].map(each => join(each, `${id}.json`)).find(path => existsSync(path))
  const find = (id: string): SavedPipelineRun | undefined => {
    const path = ID.test(id) ? fileOf(id) : undefined
    if (path === undefined) return undefined
    const parsed = schema.safeParse(JSON.parse(readFileSync(path, 'utf8')))
    return parsed.success ? parsed.data : undefined
  }
  const listIn = (...folders: readonly string[]): SavedPipelineRun[] => {
    const names = folders.flatMap(each => (existsSync(each) ? readdirSync(each) : []))
    const ids = new Set(
      names.flatMap(name => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : [])),
    )
    const runs = [...ids].flatMap(id => find(id) ?? [])
    return runs.sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
  }
  return {
    find,
    list: () => listIn(folder, ended),
    listOpen: () => listIn(folder).filter(({ status }) => !hasEnded(status)),
    isLocked: id => isLocked(join(folder, `${id}.lock`)),
    lock(id) {
      makeFolders(folder)
      return tryLock(join(folder, `${id}.lock`))
    },
    save(run) {
      makeFolders(ended)
      const path = join(hasEnded(run.status) ? ended : folder, `${run.id}.json`)
      writeWhole(path, JSON.stringify(run), { flush: true })
      // Until this is gone, the run counts as open: going on with it finds that there is nothing left to do.
      if (hasEnded(run.status)) rmSync(join(folder, `${run.id}.json`), { force: true })
    },
  }
}

const ID = /^pl_[0-9a-f]{12}$/

function hasEnded(status: SavedPipelineRun['status']): boolean {
  return status === 'completed' || status === 'failed'
}
