import { join } from 'node:path'
import { parse, stringify } from 'smol-toml'
import { PANEL_KINDS, type Panel, parsePanel, variablesOf } from '../../agents/panel.ts'
import { ToolError, toToolError } from '../../core/errors.ts'
import { summarizeDiff } from '../../core/unified-diff.ts'
import { filesOf, listFolder } from '../../pipelines/folders.ts'
import { listPanels, mirrorPanel } from '../../store/runs/find-agent.ts'
import { readText, removeText, replaceText } from '../../store/saved-text.ts'
import { findAgent, listAgents, retireAgent } from '../../store/tables/agents.ts'
import { findVersion, insertVersion, listVersions } from '../../store/tables/saved-versions.ts'
import { listRuns } from '../../store/tables/workflow-runs.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { callerName, mayApprove } from '../door.ts'
import { HttpProblem } from '../problem.ts'
import type { Services } from '../services.ts'
import { runShape, showRun } from '../show-run.ts'
import { workflowFor } from '../workflow-for.ts'
import type { RunParts } from './runs.ts'

const NAME = /^[\w-]{1,100}$/
const panelParams = z.object({ name: z.string().regex(NAME, 'Letters, digits, _ and - only.') })

const panel = z
  .looseObject({
    name: z.string(),
    /** Null when it cannot be read. */
    kind: z.enum(PANEL_KINDS).nullable(),
    /** `trusted`: a person has looked at exactly this text, so it may run. */
    state: z.enum(['trusted', 'new', 'changed', 'broken']),
    hash: z.string(),
    /** What the file says, as JSON. Null when it cannot be read. */
    settings: z.record(z.string(), z.unknown()).nullable(),
    /** Names that its prompt wants values for. */
    variables: z.array(z.string()),
    error: z.string().nullable(),
    agent_id: z.string().nullable(),
    last_run: runShape.nullable(),
  })
  .openapi('Panel')

export const versionShape = z
  .object({ version: z.int(), hash: z.string(), author: z.string(), at: z.string() })
  .openapi('SavedVersion')

export const wholeVersion = versionShape
  .extend({
    text: z.string(),
    /** From the file as it is now to this version. Null: they are too different to compare. */
    diff: z.string().nullable(),
  })
  .openapi('WholeVersion')

/** The panels of the workspace: files in `.kogu/panels`. */
export function panelRoutes(api: Api, parts: RunParts): void {
  lookRoutes(api, parts)
  saveRoutes(api, parts)
  folderRoute(api, parts)
  trustRoute(api, parts)
  versionRoutes(api, parts)
}

function lookRoutes(api: Api, { services, runtime }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/panels',
      summary: 'The panels in .kogu/panels, and whether a person has looked at them as they are now',
      responses: { 200: json(z.array(panel), 'The panels, sorted by name') },
    }),
    async context => {
      const opened = await services()
      const all = listPanels(runtime.workspace).map(name => look(opened, runtime.workspace, name))
      return answer(context, await Promise.all(all))
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/panels/{name}',
      summary: 'One panel with the text of its file',
      request: { params: panelParams },
      responses: { 200: json(panel.extend({ text: z.string() }), 'The panel') },
    }),
    async context => {
      const { name } = context.req.valid('param')
      return answer(context, await show(await services(), runtime.workspace, name))
    },
  )
  api.openapi(
    route('read', {
      method: 'post',
      path: '/api/panels/{name}/check',
      summary: 'Whether a panel could be saved; writes nothing',
      request: {
        params: panelParams,
        body: body(
          z.union([
            z.strictObject({ text: z.string().max(500_000) }),
            z.strictObject({ settings: z.record(z.string(), z.unknown()) }),
          ]),
        ),
      },
      responses: {
        200: json(
          z.object({
            ok: z.boolean(),
            errors: z.array(z.string()),
            settings: z.record(z.string(), z.unknown()).nullable(),
            text: z.string(),
          }),
          'What it contains, and what is wrong with it',
        ),
      },
    }),
    context => {
      const { name } = context.req.valid('param')
      const given = context.req.valid('json')
      const text = 'text' in given ? given.text : stringify(given.settings)
      const { settings, error } = understand(name, text)
      const unknown = unknownTools(settings, tool => runtime.registry.candidates(tool).length > 0)
      const errors = error === null ? unknown : [error]
      return answer(context, { ok: errors.length === 0, errors, settings, text })
    },
  )
}

const change = z.union([
  z.strictObject({ text: z.string().max(500_000), base: z.string().max(100).nullable() }),
  z.strictObject({ settings: z.record(z.string(), z.unknown()), base: z.string().max(100).nullable() }),
])

function saveRoutes(api: Api, { services, runtime }: RunParts): void {
  api.openapi(
    route('admin', {
      method: 'put',
      path: '/api/panels/{name}',
      summary:
        'Save a panel, as TOML or as JSON; `base` is the hash it was loaded with, null for a new one. Saving it with the scope approve counts as reviewing it.',
      request: { params: panelParams, body: body(change) },
      responses: { 200: json(panel.extend({ text: z.string() }), 'The panel') },
    }),
    async context => {
      const { name } = context.req.valid('param')
      const wanted = context.req.valid('json')
      const opened = await services()
      const text = 'text' in wanted ? wanted.text : stringify(wanted.settings)
      const parsed = parsePanel(text, name, `.kogu/panels/${name}.toml`)
      const saved = replaceText(pathOf(runtime.workspace, name), text, wanted.base)
      const author = callerName(context)
      await insertVersion(opened.database, keyOf(runtime.workspace, name), { ...saved, author })
      runtime.note('panel-saved', { panel: name, hash: saved.sha256, author })
      if (mayApprove(context)) {
        await mirrorPanel(opened.database, await workflowFor(opened, undefined), parsed)
        runtime.note('panel-trusted', { panel: name, hash: saved.sha256 })
      }
      return answer(context, await show(opened, runtime.workspace, name))
    },
  )
  api.openapi(
    route('admin', {
      method: 'delete',
      path: '/api/panels/{name}',
      summary: 'Delete a panel; its runs and versions stay',
      request: { params: panelParams, query: z.object({ base: z.string().max(100) }) },
      responses: { 204: { description: 'It is deleted' } },
    }),
    async context => {
      const { name } = context.req.valid('param')
      const opened = await services()
      removeText(pathOf(runtime.workspace, name), context.req.valid('query').base)
      const agent = await findAgent(opened.database, await workflowFor(opened, undefined), name)
      if (agent !== undefined && agent.sourcePath !== null) await retireAgent(opened.database, agent.id)
      runtime.note('panel-deleted', { panel: name, author: callerName(context) })
      return context.body(null, 204)
    },
  )
}

/** A call like every other: what the rules hide stays hidden, and the record says who looked. */
function folderRoute(api: Api, { runtime }: RunParts): void {
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/panels/{name}/files',
      summary: 'The files that a panel of the kind folder hands over, as far as the rules let them be seen',
      request: { params: panelParams, body: body(z.object({})) },
      responses: { 200: json(z.object({ files: z.array(z.string()) }), 'Their paths, sorted') },
    }),
    async context => {
      const { name } = context.req.valid('param')
      const { text } = requireText(runtime.workspace, name)
      const found = parsePanel(text, name, `.kogu/panels/${name}.toml`)
      if (found.kind !== 'folder')
        throw new HttpProblem(400, 'invalid_input', `The panel '${name}' is no folder.`)
      const { signal } = context.req.raw
      const listed = await listFolder(found.folder, (tool, input) =>
        runtime.call({ tool, input, caller: callerName(context), signal }),
      )
      if (listed.error !== null) throw new ToolError(listed.error.code, listed.error.message)
      return context.json({ files: filesOf(listed, found.folder) }, 200)
    },
  )
}

function trustRoute(api: Api, { services, runtime }: RunParts): void {
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/panels/{name}/trust',
      summary: 'Trust a panel as it was reviewed',
      request: { params: panelParams, body: body(z.object({ hash: z.string().max(100) })) },
      responses: { 200: json(panel, 'The panel') },
    }),
    async context => {
      const { name } = context.req.valid('param')
      const opened = await services()
      const { text, sha256 } = requireText(runtime.workspace, name)
      if (sha256 !== context.req.valid('json').hash)
        throw new HttpProblem(409, 'stale', 'The panel has changed since it was reviewed.')
      const parsed = parsePanel(text, name, `.kogu/panels/${name}.toml`)
      await mirrorPanel(opened.database, await workflowFor(opened, undefined), parsed)
      runtime.note('panel-trusted', { panel: name, hash: sha256 })
      return answer(context, await look(opened, runtime.workspace, name))
    },
  )
}

function versionRoutes(api: Api, { services, runtime }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/panels/{name}/versions',
      summary: 'What was saved of a panel, newest first',
      request: { params: panelParams },
      responses: { 200: json(z.array(versionShape), 'The versions') },
    }),
    async context => {
      const { database } = await services()
      const found = await listVersions(database, keyOf(runtime.workspace, context.req.valid('param').name))
      return context.json(found.map(toVersion), 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/panels/{name}/versions/{version}',
      summary: 'One version of a panel',
      request: { params: panelParams.extend({ version: z.coerce.number().int().min(1) }) },
      responses: { 200: json(wholeVersion, 'The version') },
    }),
    async context => {
      const { name, version: number } = context.req.valid('param')
      const { database } = await services()
      const found = await findVersion(database, keyOf(runtime.workspace, name), number)
      if (found === undefined) throw new HttpProblem(404, 'not_found', 'There is no such version.')
      const now = readText(pathOf(runtime.workspace, name))?.text ?? ''
      return context.json(toWholeVersion(found, now, `${name}.toml`), 200)
    },
  )
}

export function toVersion(saved: { version: number; sha256: string; author: string; at: Date }) {
  return { version: saved.version, hash: saved.sha256, author: saved.author, at: saved.at.toISOString() }
}

/** With what restoring it would change. */
export function toWholeVersion(
  saved: Parameters<typeof toVersion>[0] & { text: string },
  now: string,
  file: string,
) {
  return { ...toVersion(saved), text: saved.text, diff: summarizeDiff(now, saved.text, file).diff }
}

function pathOf(workspace: string, name: string): string {
  return join(workspace, '.kogu/panels', `${name}.toml`)
}

function keyOf(workspace: string, name: string) {
  return { workspace, kind: 'panel' as const, name }
}

function requireText(workspace: string, name: string) {
  const found = readText(pathOf(workspace, name))
  if (found === undefined) throw new HttpProblem(404, 'not_found', `There is no panel '${name}'.`)
  return found
}

async function show(opened: Services, workspace: string, name: string) {
  const { text } = requireText(workspace, name)
  return { ...(await look(opened, workspace, name)), text }
}

async function look(opened: Services, workspace: string, name: string) {
  const { text, sha256 } = requireText(workspace, name)
  const workflow = await workflowFor(opened, undefined)
  const known = (await listAgents(opened.database, workflow)).find(each => each.name === name)
  const { settings, error, ...understood } = understand(name, text)
  const [last] = await listRuns(opened.database, { place: opened.runs.place, agent: name, limit: 1 })
  const seen = known === undefined ? 'new' : known.sourceHash === sha256 ? 'trusted' : 'changed'
  return {
    name,
    state: error === null ? seen : 'broken',
    hash: sha256,
    settings,
    ...understood,
    error,
    agent_id: known?.id ?? null,
    last_run: last === undefined ? null : showRun(last),
  }
}

function understand(
  name: string,
  text: string,
): {
  settings: Record<string, unknown> | null
  error: string | null
  kind: Panel['kind'] | null
  variables: string[]
} {
  try {
    const found = parsePanel(text, name, `.kogu/panels/${name}.toml`)
    return { settings: parse(text), error: null, kind: found.kind, variables: variablesOf(found) }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    return { settings: null, error: toToolError(error).message, kind: null, variables: [] }
  }
}

function unknownTools(settings: Record<string, unknown> | null, exists: (tool: string) => boolean): string[] {
  const { tools = {} } = settings ?? {}
  return Object.keys(typeof tools === 'object' && tools !== null ? tools : {})
    .filter(tool => !exists(tool))
    .map(tool => `There is no tool '${tool}'.`)
}
