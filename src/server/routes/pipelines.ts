import { parse, stringify } from 'smol-toml'
import type { Environment } from '../../config/environment.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { toToolError } from '../../core/errors.ts'
import { problemsOf, warningsOf } from '../../pipelines/checks.ts'
import { listPipelines, PIPELINE_NAME, parsePipeline, pipelinePath } from '../../pipelines/files.ts'
import { describeTemplates, writeTemplate } from '../../pipelines/templates.ts'
import { readWhole, trustPipeline } from '../../pipelines/trust.ts'
import type { Runtime } from '../../runtime.ts'
import { readText, removeText, replaceText } from '../../store/saved-text.ts'
import { openScriptTrust } from '../../store/script-trust.ts'
import { findVersion, insertVersion, listVersions } from '../../store/tables/saved-versions.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { callerName, mayApprove } from '../door.ts'
import { HttpProblem } from '../problem.ts'
import type { Services } from '../services.ts'
import { toVersion, toWholeVersion, versionShape, wholeVersion } from './panels.ts'

export interface PipelineParts {
  readonly runtime: Runtime
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly services: () => Promise<Services>
}

const params = z.object({
  name: z.string().max(100).regex(PIPELINE_NAME, 'Lower-case letters, digits, _ and -, a letter first.'),
})

const pipeline = z
  .object({
    name: z.string(),
    /** `trusted`: a person has looked at exactly this text, so it may run. */
    state: z.enum(['trusted', 'untrusted', 'broken']),
    hash: z.string(),
    /** What is trusted with it: the pipelines and panels inside of it, by name; `hash` is of all as it is now. */
    whole: z
      .object({ hash: z.string(), pipelines: z.array(z.string()), panels: z.array(z.string()) })
      .nullable(),
    /** What the file says, as JSON: name, description, input, step, edge. Null when it cannot be read. */
    definition: z.record(z.string(), z.unknown()).nullable(),
    /** The edges that count: those of the file, or from each step to the next. */
    edges: z.array(z.object({ from: z.string(), to: z.string() })),
    /** What is wrong with it; with any of these it does not run. */
    problems: z.array(z.string()),
    /** It runs with these, and somebody should know of them. */
    warnings: z.array(z.string()),
    text: z.string(),
  })
  .openapi('Pipeline')

const text = z.string().max(1_000_000)
const base = z.string().max(100).nullable()
const change = z.union([
  z.strictObject({ text, base }),
  z.strictObject({ definition: z.record(z.string(), z.unknown()), base }),
])

/** The pipelines of the workspace: files in `.kogu/pipelines`. */
export function pipelineRoutes(api: Api, parts: PipelineParts): void {
  lookRoutes(api, parts)
  templateRoutes(api, parts)
  saveRoutes(api, parts)
  trustRoute(api, parts)
  versionRoutes(api, parts)
}

function lookRoutes(api: Api, parts: PipelineParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/pipelines',
      summary: 'The pipelines in .kogu/pipelines',
      responses: { 200: json(z.array(pipeline), 'The pipelines, sorted by name') },
    }),
    async context => {
      const all = listPipelines(parts.runtime.workspace).map(name => look(parts, name))
      return answer(context, await Promise.all(all))
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/pipelines/{name}',
      summary: 'One pipeline with the text of its file',
      request: { params },
      responses: { 200: json(pipeline, 'The pipeline') },
    }),
    async context => answer(context, await look(parts, context.req.valid('param').name)),
  )
  api.openapi(
    route('read', {
      method: 'post',
      path: '/api/pipelines/{name}/check',
      summary: 'What is wrong with a pipeline; writes nothing',
      request: {
        params,
        body: body(
          z.union([
            z.strictObject({ text }),
            z.strictObject({ definition: z.record(z.string(), z.unknown()) }),
          ]),
        ),
      },
      responses: {
        200: json(
          pipeline.pick({ definition: true, edges: true, problems: true, warnings: true, text: true }),
          'What it contains, and what is wrong with it',
        ),
      },
    }),
    async context => {
      const given = context.req.valid('json')
      const wanted = 'text' in given ? given.text : stringify(given.definition)
      const understood = await understand(parts, context.req.valid('param').name, wanted)
      return answer(context, { ...understood, text: wanted })
    },
  )
}

function templateRoutes(api: Api, parts: PipelineParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/pipeline-templates',
      summary: 'Pipelines to start from',
      responses: {
        200: json(z.array(z.object({ name: z.string(), description: z.string() })), 'The templates'),
      },
    }),
    async context => context.json(await describeTemplates(), 200),
  )
  api.openapi(
    route('admin', {
      method: 'post',
      path: '/api/pipelines',
      summary:
        'Write a pipeline from a template, with its panels and rehearsals; nobody has looked at it yet',
      request: {
        body: body(z.object({ name: params.shape.name, template: z.string().max(100).default('todo') })),
      },
      responses: { 201: json(pipeline, 'The pipeline') },
    }),
    async context => {
      const { name, template } = context.req.valid('json')
      await writeTemplate(parts.runtime.workspace, name, template)
      parts.runtime.note('pipeline-saved', { pipeline: name, template, author: callerName(context) })
      return answer(context, await look(parts, name), 201)
    },
  )
}

function saveRoutes(api: Api, parts: PipelineParts): void {
  const { runtime, services } = parts
  api.openapi(
    route('admin', {
      method: 'put',
      path: '/api/pipelines/{name}',
      summary:
        'Save a pipeline, as TOML or as JSON; `base` is the hash it was loaded with, null for a new one. Saving it with the scope approve counts as reviewing it.',
      request: { params, body: body(change) },
      responses: { 200: json(pipeline, 'The pipeline') },
    }),
    async context => {
      const { name } = context.req.valid('param')
      const wanted = context.req.valid('json')
      const { database } = await services()
      const content = 'text' in wanted ? wanted.text : stringify(wanted.definition)
      parsePipeline(content, name)
      const path = pipelinePath(runtime.workspace, name)
      const saved = replaceText(path, content, wanted.base)
      const author = callerName(context)
      await insertVersion(database, keyOf(parts, name), { ...saved, author })
      runtime.note('pipeline-saved', { pipeline: name, hash: saved.sha256, author })
      // Of what is inside, nobody has said anything yet.
      if (mayApprove(context)) await trustFile(parts, name, saved.sha256)
      return answer(context, await look(parts, name))
    },
  )
  api.openapi(
    route('admin', {
      method: 'delete',
      path: '/api/pipelines/{name}',
      summary: 'Delete a pipeline; its runs and versions stay',
      request: { params, query: z.object({ base: z.string().max(100) }) },
      responses: { 204: { description: 'It is deleted' } },
    }),
    context => {
      const { name } = context.req.valid('param')
      removeText(pipelinePath(runtime.workspace, name), context.req.valid('query').base)
      runtime.note('pipeline-deleted', { pipeline: name, author: callerName(context) })
      return context.body(null, 204)
    },
  )
}

function trustRoute(api: Api, parts: PipelineParts): void {
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/pipelines/{name}/trust',
      summary:
        'Trust a pipeline as it was reviewed, with all that it runs; `hash` is that of `whole`, which names them',
      request: { params, body: body(z.object({ hash: z.string().max(100) })) },
      responses: { 200: json(pipeline, 'The pipeline') },
    }),
    async context => {
      const { name } = context.req.valid('param')
      const { hash } = context.req.valid('json')
      await trustPipeline(parts, name, hash)
      return answer(context, await look(parts, name))
    },
  )
}

function versionRoutes(api: Api, parts: PipelineParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/pipelines/{name}/versions',
      summary: 'What was saved of a pipeline, newest first',
      request: { params },
      responses: { 200: json(z.array(versionShape), 'The versions') },
    }),
    async context => {
      const { database } = await parts.services()
      const found = await listVersions(database, keyOf(parts, context.req.valid('param').name))
      return context.json(found.map(toVersion), 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/pipelines/{name}/versions/{version}',
      summary: 'One version of a pipeline',
      request: { params: params.extend({ version: z.coerce.number().int().min(1) }) },
      responses: { 200: json(wholeVersion, 'The version') },
    }),
    async context => {
      const { name, version } = context.req.valid('param')
      const { database } = await parts.services()
      const found = await findVersion(database, keyOf(parts, name), version)
      if (found === undefined) throw new HttpProblem(404, 'not_found', 'There is no such version.')
      const now = readText(pipelinePath(parts.runtime.workspace, name))?.text ?? ''
      return context.json(toWholeVersion(found, now, `${name}.toml`), 200)
    },
  )
}

function keyOf({ runtime }: PipelineParts, name: string) {
  return { workspace: runtime.workspace, kind: 'pipeline' as const, name }
}

async function trustFile({ runtime, environment }: PipelineParts, name: string, sha256: string) {
  const path = pipelinePath(runtime.workspace, name)
  await openScriptTrust(environment.directories.state, runtime.workspace).trust({ path, sha256 })
  runtime.note('pipeline-trusted', { pipeline: name, hash: sha256 })
}

async function look(parts: PipelineParts, name: string): Promise<z.infer<typeof pipeline>> {
  const { runtime, environment } = parts
  const path = pipelinePath(runtime.workspace, name)
  const found = readText(path)
  if (found === undefined) throw new HttpProblem(404, 'not_found', `There is no pipeline '${name}'.`)
  const read = await understand(parts, name, found.text)
  const whole = read.definition === null ? null : describeWhole(runtime.workspace, name)
  const trust = openScriptTrust(environment.directories.state, runtime.workspace)
  const seen = trust.isTrusted({ path, sha256: found.sha256 }) ? 'trusted' : 'untrusted'
  return {
    name,
    state: read.definition === null ? 'broken' : seen,
    hash: found.sha256,
    whole,
    ...read,
    text: found.text,
  }
}

/** Null when something inside of it is missing or cannot be read, as `problems` says. */
function describeWhole(workspace: string, name: string): z.infer<typeof pipeline>['whole'] {
  try {
    const { hash, files, panels } = readWhole(workspace, name)
    return {
      hash,
      pipelines: files.slice(1).map(each => each.pipeline.name),
      panels: panels.map(panel => panel.name),
    }
  } catch {
    return null
  }
}

async function understand(
  { runtime, loaded }: PipelineParts,
  name: string,
  content: string,
): Promise<Pick<z.infer<typeof pipeline>, 'definition' | 'edges' | 'problems' | 'warnings'>> {
  try {
    const made = parsePipeline(content, name)
    const edges = made.edges.map(({ from, to }) => ({ from, to }))
    const problems = await problemsOf(made, runtime)
    return { definition: parse(content), edges, problems, warnings: warningsOf(made, runtime, loaded) }
  } catch (error) {
    return { definition: null, edges: [], problems: [toToolError(error).message], warnings: [] }
  }
}
