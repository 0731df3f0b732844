import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { InvalidPipeline, type Pipeline, toPipeline } from '../agents/pipelines/pipeline.ts'
import { parseDuration } from '../core/duration.ts'
import { ToolError } from '../core/errors.ts'
import { readText } from '../store/saved-text.ts'

export interface PipelineFile {
  readonly pipeline: Pipeline
  readonly path: string
  /** Of the whole text: a person trusts what is there, not a name. */
  readonly sha256: string
}

export function listPipelines(workspace: string): string[] {
  const folder = join(workspace, '.kogu/pipelines')
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter(name => /^[a-z][a-z0-9_-]*\.toml$/.test(name))
    .map(name => name.slice(0, -'.toml'.length))
    .sort()
}

export function readPipeline(workspace: string, name: string): PipelineFile {
  const path = pipelinePath(workspace, name)
  const found = PIPELINE_NAME.test(name) ? readText(path) : undefined
  if (found === undefined) {
    throw new ToolError('not_found', `There is no pipeline '${name}' in .kogu/pipelines.`, {
      hint: 'See: kogu pipeline list, or make one: kogu pipeline new NAME',
    })
  }
  return { pipeline: parsePipeline(found.text, name), path, sha256: found.sha256 }
}

export const PIPELINE_NAME = /^[a-z][a-z0-9_-]*$/

export function pipelinePath(workspace: string, name: string): string {
  return join(workspace, '.kogu/pipelines', `${name}.toml`)
}

/** The pipeline that a text says; its name is that of its file. */
export function parsePipeline(text: string, name: string): Pipeline {
  const pipeline = toPipeline(withDurations(parseToml(text, name)))
  if (pipeline.name !== name)
    throw new InvalidPipeline(`The pipeline in ${name}.toml is called '${pipeline.name}'.`)
  return pipeline
}

function parseToml(text: string, name: string): Record<string, unknown> {
  try {
    return parse(text, { unsafeKeyBehaviour: 'throw', maxDepth: 32 })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new InvalidPipeline(
      `${name}.toml:${error.line}:${error.column}: ${error.message.split('\n')[0] ?? ''}`,
    )
  }
}

/** `retry_delay = "5s"` in milliseconds; what is no duration is left for the schema to refuse. */
function withDurations(data: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(data.edge)) return data
  const edges = data.edge.map((edge: unknown) => {
    if (typeof edge !== 'object' || edge === null || !('retry_delay' in edge)) return edge
    const { retry_delay: delay } = edge
    return { ...edge, retry_delay: typeof delay === 'string' ? (parseDuration(delay) ?? delay) : delay }
  })
  return { ...data, edge: edges }
}
