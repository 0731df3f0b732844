import { isAbsolute } from 'node:path'
import {
  findWorkflow,
  insertWorkflow,
  listWorkflows,
  type WorkflowRecord,
} from '../../store/tables/workflows.ts'
import { type Api, body, json, route, z } from '../api.ts'
import { configuredProviders } from '../configured-providers.ts'
import { HttpProblem } from '../problem.ts'
import type { RunParts } from './runs.ts'

const workflow = z
  .object({
    id: z.string(),
    user_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    created_at: z.string(),
  })
  .openapi('Workflow')

/** Workflows, vendors of models, and the one person this is for. */
export function workspaceRoutes(api: Api, parts: RunParts): void {
  workflowRoutes(api, parts)
  providerRoutes(api, parts)
  personRoutes(api, parts)
}

function workflowRoutes(api: Api, { services }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/workflows',
      summary: 'Workflows of this person; each workspace has one',
      request: { query: z.object({ user_id: z.string().max(200).optional() }) },
      responses: { 200: json(z.array(workflow), 'The workflows, sorted by name') },
    }),
    async context => {
      const { database, runs } = await services()
      const { user_id = runs.place.user } = context.req.valid('query')
      if (user_id !== runs.place.user) return context.json([], 200)
      return context.json((await listWorkflows(database, runs.place)).map(toWorkflow), 200)
    },
  )
  api.openapi(
    route('admin', {
      method: 'post',
      path: '/api/workflows',
      summary: 'Make a workflow',
      request: {
        body: body(
          z.object({ name: z.string().min(1).max(500), description: z.string().max(2_000).optional() }),
        ),
      },
      responses: { 201: json(workflow, 'The workflow') },
    }),
    async context => {
      const { name, description = null } = context.req.valid('json')
      const { database, runs } = await services()
      // By its path, a workspace finds the workflow that holds its agents.
      if (isAbsolute(name)) throw new HttpProblem(400, 'invalid_input', 'The name of a workflow is no path.')
      const id = await insertWorkflow(database, { ...runs.place, name, description })
      const made = id === undefined ? undefined : await findWorkflow(database, runs.place, id)
      if (made === undefined) throw new HttpProblem(409, 'conflict', `There is a workflow '${name}' already.`)
      return context.json(toWorkflow(made), 201)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/workflows/{id}',
      summary: 'One workflow',
      request: { params: z.object({ id: z.uuid() }) },
      responses: { 200: json(workflow, 'The workflow') },
    }),
    async context => {
      const { database, runs } = await services()
      const found = await findWorkflow(database, runs.place, context.req.valid('param').id)
      if (found === undefined) throw new HttpProblem(404, 'not_found', 'There is no such workflow.')
      return context.json(toWorkflow(found), 200)
    },
  )
}

function providerRoutes(api: Api, { services, runtime }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/llm-providers',
      summary: 'Vendors of models; never a key',
      responses: {
        200: json(
          z.array(
            z.object({
              id: z.string(),
              name: z.string(),
              display_name: z.string(),
              api_base_url: z.string().nullable(),
              is_enabled: z.boolean(),
              models: z.array(z.string()),
              key: z.string().nullable(),
            }),
          ),
          'The vendors; `key` says where theirs is looked for',
        ),
      },
    }),
    async context => {
      const { database, runs } = await services()
      const configured = runs.models.list()
      const rows = await configuredProviders({ database, runs })
      const shown = rows.map(({ id, name, displayName, baseUrl, enabled }) => {
        const known = configured.find(({ vendor }) => vendor.name === name)
        return {
          id,
          name,
          display_name: displayName,
          // An address can hold a password or a key.
          api_base_url: runtime.redact(known?.vendor.baseUrl ?? baseUrl),
          is_enabled: enabled,
          models: [...(known?.models ?? [])],
          key: known?.vendor.keyPlace ?? null,
        }
      })
      return context.json(shown, 200)
    },
  )
}

const person = z.object({ id: z.string(), name: z.string() }).openapi('User')

/** One local person. There is nothing to log in with and nobody to register: `kogu open` makes a session. */
function personRoutes(api: Api, { services, runtime }: RunParts): void {
  const me = async () => {
    const { user } = (await services()).runs.place
    return { id: user, name: user }
  }
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/users',
      summary: 'The one person this server is for',
      responses: { 200: json(z.array(person), 'One person') },
    }),
    async context => context.json([await me()], 200),
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/auth/session',
      summary: 'Who is asking, and what they may do',
      responses: {
        200: json(
          z.object({ user: person, kind: z.string(), scopes: z.array(z.string()), workspace: z.string() }),
          'You, and where you are',
        ),
      },
    }),
    async context => {
      const caller = context.get('caller')
      return context.json(
        {
          user: await me(),
          kind: caller?.kind ?? '',
          scopes: [...(caller?.scopes ?? [])],
          workspace: runtime.workspace,
        },
        200,
      )
    },
  )
}

function toWorkflow({ id, user, name, description, createdAt }: WorkflowRecord): z.infer<typeof workflow> {
  return { id, user_id: user, name, description, created_at: createdAt.toISOString() }
}
