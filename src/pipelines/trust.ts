import type { Pipeline } from '../agents/pipelines/pipeline.ts'
import type { Environment } from '../config/environment.ts'
import { mirrorPanel, readPanel } from '../store/runs/find-agent.ts'
import { openScriptTrust } from '../store/script-trust.ts'
import { workflowOf } from '../store/tables/workflows.ts'
import { type PipelineFile, readPipeline } from './files.ts'
import type { PipelineParts } from './pipelines.ts'

/** Whether a person has looked at exactly this text. */
export function isTrusted({ directories }: Environment, workspace: string, file: PipelineFile): boolean {
  return openScriptTrust(directories.state, workspace).isTrusted(file)
}

/** A person's word that the pipeline, the ones inside of it and their panels may run as they are now. */
export async function trustPipeline(
  { environment, runtime, database, runs }: PipelineParts,
  name: string,
): Promise<{ file: PipelineFile; inside: string[]; panels: string[] }> {
  const { workspace } = runtime
  const files = withInside(workspace, name)
  const [file = readPipeline(workspace, name), ...inside] = files
  const panels = [...new Set(files.flatMap(({ pipeline }) => panelsOf(pipeline)))]
  const workflow = await workflowOf(database, runs.place.user, workspace)
  for (const panel of panels) await mirrorPanel(database, workflow, readPanel(workspace, panel))
  const trust = openScriptTrust(environment.directories.state, workspace)
  for (const each of files) await trust.trust(each)
  return { file, inside: inside.map(({ pipeline }) => pipeline.name), panels }
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
