import { hash } from 'node:crypto'
import type { Panel } from '../agents/panel.ts'
import type { Pipeline } from '../agents/pipelines/pipeline.ts'
import type { Environment } from '../config/environment.ts'
import { canonicalJson } from '../core/canonical-json.ts'
import { ToolError } from '../core/errors.ts'
import { mirrorPanel, readPanel } from '../store/runs/find-agent.ts'
import { openScriptTrust } from '../store/script-trust.ts'
import { workflowOf } from '../store/tables/workflows.ts'
import { type PipelineFile, readPipeline } from './files.ts'
import type { PipelineParts } from './pipelines.ts'

/** Whether a person has looked at exactly this text. */
export function isTrusted({ directories }: Environment, workspace: string, file: PipelineFile): boolean {
  return openScriptTrust(directories.state, workspace).isTrusted(file)
}

/** All that a person trusts with a pipeline: itself, the ones inside of it, and their panels. */
export interface WholePipeline {
  /** Itself first. */
  readonly files: readonly PipelineFile[]
  readonly panels: readonly Panel[]
  /** Of all of it as it is now; of the file alone, where there is nothing inside. */
  readonly hash: string
}

export function readWhole(workspace: string, name: string): WholePipeline {
  const files = withInside(workspace, name)
  const named = new Set(files.flatMap(({ pipeline }) => panelsOf(pipeline)))
  const panels = [...named].map(panel => readPanel(workspace, panel))
  const [first, ...more] = [...files.map(({ sha256 }) => sha256), ...panels.map(panel => panel.hash)]
  const whole = hash('sha256', canonicalJson([first, ...more]) ?? '')
  return { files, panels, hash: more.length === 0 ? (first ?? '') : whole }
}

type TrustParts = Pick<PipelineParts, 'environment' | 'runtime'> & {
  /** Panels are trusted in the database; a pipeline without any needs none. */
  services(): Promise<Pick<PipelineParts, 'database' | 'runs'>>
}

/**
 * A person's word that the pipeline, the ones inside of it and their panels may run as they are now, through whichever
 * door. `seen`: the hash of the whole as the person has seen it.
 */
export async function trustPipeline(
  { environment, runtime, services }: TrustParts,
  name: string,
  seen?: string,
): Promise<WholePipeline> {
  const { workspace } = runtime
  const whole = readWhole(workspace, name)
  if (seen !== undefined && seen !== whole.hash)
    throw new ToolError(
      'stale',
      'The pipeline, or something inside of it, has changed since it was reviewed.',
    )
  if (whole.panels.length > 0) {
    const { database, runs } = await services()
    const workflow = await workflowOf(database, runs.place.user, workspace)
    for (const panel of whole.panels) await mirrorPanel(database, workflow, panel)
  }
  const trust = openScriptTrust(environment.directories.state, workspace)
  for (const each of whole.files) await trust.trust(each)
  const inside = [
    ...whole.files.slice(1).map(({ pipeline }) => pipeline.name),
    ...whole.panels.map(panel => panel.name),
  ]
  runtime.note('pipeline-trusted', { pipeline: name, hash: whole.hash, inside })
  return whole
}

/** A pipeline and all that it runs, each once, itself first. */
export function withInside(workspace: string, name: string): PipelineFile[] {
  const found = new Map<string, PipelineFile>()
  const open = [name]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue
    const file = readPipeline(workspace, next)
    found.set(next, file)
    open.push(...file.pipeline.steps.flatMap(({ pipeline }) => pipeline ?? []))
  }
  return [...found.values()]
}

function panelsOf({ steps, edges }: Pipeline): string[] {
  const named = [...steps.map(({ panel }) => panel), ...edges.map(({ summarizer }) => summarizer)]
  return [...new Set(named.filter(name => name !== undefined))]
}
