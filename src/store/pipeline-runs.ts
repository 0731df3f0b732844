import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFolders } from '../core/make-folders.ts'

// One file per run of a pipeline, replaced as a whole after every step.

const schema = z.object({
  id: z.string(),
  pipeline: z.string(),
  /** Of the file that it runs: a changed pipeline is not continued as if it were the same. */
  sha256: z.string(),
  input: z.record(z.string(), z.unknown()),
  startedAt: z.string(),
  status: z.enum(['running', 'waiting', 'completed', 'failed']),
  progress: z.object({
    steps: z.record(z.string(), z.looseObject({ status: z.string(), attempts: z.number() })),
    loops: z.record(z.string(), z.number()),
  }),
})

export type SavedPipelineRun = z.output<typeof schema>

export interface PipelineRuns {
  save(run: SavedPipelineRun): void
  find(id: string): SavedPipelineRun | undefined
  list(): SavedPipelineRun[]
}

export function openPipelineRuns(folder: string): PipelineRuns {
  const find = (id: string): SavedPipelineRun | undefined => {
    const path = join(folder, `${id}.json`)
    if (!/^pl_[0-9a-f]{12}$/.test(id) || !existsSync(path)) return undefined
    const parsed = schema.safeParse(JSON.parse(readFileSync(path, 'utf8')))
    return parsed.success ? parsed.data : undefined
  }
  return {
    find,
    save(run) {
      makeFolders(folder)
      const draft = join(folder, `.${run.id}.${process.pid}.tmp`)
      writeFileSync(draft, JSON.stringify(run), { mode: 0o600, flush: true })
      renameSync(draft, join(folder, `${run.id}.json`))
    },
    list() {
      if (!existsSync(folder)) return []
      const ids = readdirSync(folder).filter(name => name.endsWith('.json'))
      const runs = ids.flatMap(name => find(name.slice(0, -'.json'.length)) ?? [])
      return runs.sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
    },
  }
}
