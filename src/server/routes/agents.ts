import { agentAuthority, type ToolSetting } from '../../agents/agent-authority.ts'
import type { AgentRecord } from '../../agents/agent-record.ts'
import { ToolError } from '../../core/errors.ts'
import { listToolPermissions, saveToolPermissions } from '../../store/tables/agent-tool-permissions.ts'
import {
  findAgentById,
  insertAgent,
  listAgents,
  retireAgent,
  updateAgent,
} from '../../store/tables/agents.ts'
import { providerRow } from '../../store/tables/llm-providers.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { modelOfProvider } from '../configured-providers.ts'
import { HttpProblem } from '../problem.ts'
import { requestedModel } from '../requested-model.ts'
import type { Services } from '../services.ts'
import { workflowFor } from '../workflow-for.ts'
import type { RunParts } from './runs.ts'

const agent = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    system_prompt: z.string().nullable(),
    provider: z.string(),
    llm_provider_id: z.string(),
    model: z.string(),
    temperature: z.number(),
    max_tokens: z.int(),
    panel: z.string().nullable(),
    created_at: z.string(),
  })
  .openapi('Agent')

const settings = {
  description: z.string().max(2_000).optional(),
  system_prompt: z.string().max(100_000).optional(),
  /** `provider/model`, as `kogu run --model` takes it; with `llm_provider_id`, also the vendor's name of it. */
  model: z.string().max(500).optional(),
  /** Of `GET /api/llm-providers`. Without `model`, its standard one is used. */
  llm_provider_id: z.uuid().optional(),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().min(1).max(1_000_000).optional(),
}

const params = z.object({ id: z.uuid() })
const toolSetting = z.object({
  tool_name: z.string().min(1).max(100),
  is_enabled: z.boolean(),
  config: z.record(z.string(), z.unknown()).nullish(),
})

/** Agents and their tools. */
export function agentRoutes(api: Api, parts: RunParts): void {
  lookRoutes(api, parts)
  changeRoutes(api, parts)
  toolSettingRoutes(api, parts)
}

function lookRoutes(api: Api, { services }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/agents',
      summary: 'Agents of a workflow, by default of this workspace',
      request: { query: z.object({ workflow_id: z.uuid().optional() }) },
      responses: { 200: json(z.array(agent), 'The agents, sorted by name') },
    }),
    async context => {
      const opened = await services()
      const workflow = await workflowFor(opened, context.req.valid('query').workflow_id)
      return context.json((await listAgents(opened.database, workflow)).map(toAgent), 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/agents/{id}',
      summary: 'One agent',
      request: { params },
      responses: { 200: json(agent, 'The agent') },
    }),
    async context => {
      const found = await requireAgent(await services(), context.req.valid('param').id)
      return context.json(toAgent(found), 200)
    },
  )
}

function changeRoutes(api: Api, { services, runtime }: RunParts): void {
  api.openapi(
    route('admin', {
      method: 'post',
      path: '/api/agents',
      summary: 'Make an agent; every tool is off',
      request: {
        body: body(
          z.object({
            name: z.string().regex(/^[\w-]{1,100}$/, 'Letters, digits, _ and - only.'),
            workflow_id: z.uuid().optional(),
            ...settings,
          }),
        ),
      },
      responses: { 201: json(agent, 'The agent') },
    }),
    async context => {
      const given = context.req.valid('json')
      const opened = await services()
      const workflow = await workflowFor(opened, given.workflow_id)
      const wanted = await toSettings(opened, runtime, given)
      const provider = wanted.provider ?? (await providerRow(opened.database, 'anthropic'))
      const id = await insertAgent(opened.database, workflow, { ...wanted, provider, name: given.name })
      if (id === undefined)
        throw new HttpProblem(409, 'conflict', `There is an agent '${given.name}' already.`)
      return context.json(toAgent(await requireAgent(opened, id)), 201)
    },
  )
  api.openapi(
    route('admin', {
      method: 'post',
      path: '/api/agents/{id}',
      summary: 'Change an agent; what is left out stays as it is',
      request: { params, body: body(z.object(settings)) },
      responses: { 200: json(agent, 'The agent') },
    }),
    async context => {
      const opened = await services()
      const found = await requireAgent(opened, context.req.valid('param').id)
      refusePanel(found)
      const wanted = await toSettings(opened, runtime, context.req.valid('json'))
      await updateAgent(opened.database, found.id, wanted)
      return context.json(toAgent(await requireAgent(opened, found.id)), 200)
    },
  )
  api.openapi(
    route('admin', {
      method: 'delete',
      path: '/api/agents/{id}',
      summary: 'Delete an agent; its runs stay',
      request: { params },
      responses: { 204: { description: 'It is deleted' } },
    }),
    async context => {
      const opened = await services()
      const found = await requireAgent(opened, context.req.valid('param').id)
      await retireAgent(opened.database, found.id)
      return context.body(null, 204)
    },
  )
}

/** As the founding front end has it. */
const camelSetting = z
  .object({
    toolName: toolSetting.shape.tool_name,
    isEnabled: toolSetting.shape.is_enabled,
    config: toolSetting.shape.config,
  })
  .transform(({ toolName, isEnabled, config: own }) => ({
    ...{ tool_name: toolName, is_enabled: isEnabled, config: own },
  }))

const config = z.object({
  agent_id: z.uuid(),
  tools: z
    .array(z.union([toolSetting, camelSetting]))
    .min(1)
    .max(500),
})

function toolSettingRoutes(api: Api, { services, runtime }: RunParts): void {
  const save = async (given: z.infer<typeof config>): Promise<void> => {
    const opened = await services()
    const found = await requireAgent(opened, given.agent_id)
    refusePanel(found)
    const wanted = given.tools.map(({ tool_name, is_enabled, config: own }): ToolSetting => {
      const [entry] = runtime.registry.candidates(tool_name)
      if (entry === undefined) throw new ToolError('invalid_input', `There is no tool '${tool_name}'.`)
      return { tool: entry.tool.name, enabled: is_enabled, ...(own == null ? {} : { config: own }) }
    })
    // Refuses settings that cannot be used, before anything is written.
    agentAuthority({ agent: found.name, tools: wanted, canonicalTool: name => name })
    await saveToolPermissions(opened.database, found.id, wanted)
  }
  // Two names for one thing: the founding documents have both.
  for (const path of ['/api/tools/config', '/api/tools/permissions'] as const) {
    api.openapi(
      route('admin', {
        method: 'post',
        path,
        summary:
          'Which tools an agent may use, and their settings; tools that are not named stay as they are',
        request: { body: body(config) },
        responses: { 200: json(z.object({ status: z.literal('ok') }), 'It is saved') },
      }),
      async context => {
        await save(context.req.valid('json'))
        return context.json({ status: 'ok' as const }, 200)
      },
    )
  }
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/tools/permissions/{id}',
      summary: 'Which tools an agent may use',
      request: { params },
      responses: { 200: json(z.array(toolSetting), 'The tools that were ever set') },
    }),
    async context => {
      const opened = await services()
      const found = await requireAgent(opened, context.req.valid('param').id)
      const all = await listToolPermissions(opened.database, found.id)
      const shown = all.map(({ tool, enabled, config: own }) => ({
        tool_name: tool,
        is_enabled: enabled,
        config: own ?? null,
      }))
      return answer(context, shown)
    },
  )
}

async function requireAgent({ database, runs }: Services, id: string) {
  const found = await findAgentById(database, runs.place, id)
  if (found === undefined) throw new HttpProblem(404, 'not_found', 'There is no such agent.')
  return found
}

function refusePanel({ sourcePath }: AgentRecord): void {
  if (sourcePath === null) return
  throw new HttpProblem(409, 'conflict', `This agent is the panel ${sourcePath}.`, {
    hint: 'Edit that file instead.',
  })
}

interface GivenSettings {
  readonly description?: string | undefined
  readonly system_prompt?: string | undefined
  readonly model?: string | undefined
  readonly llm_provider_id?: string | undefined
  readonly temperature?: number | undefined
  readonly max_tokens?: number | undefined
}

async function toSettings({ database, runs }: Services, runtime: RunParts['runtime'], given: GivenSettings) {
  const wanted = await modelOfProvider({ database, runs }, given.llm_provider_id, given.model)
  const named = await requestedModel(runtime, wanted)
  const model = named === undefined ? undefined : runs.models.find(named)
  return {
    description: given.description ?? null,
    system: given.system_prompt ?? null,
    temperature: given.temperature ?? null,
    maxTokens: given.max_tokens ?? null,
    ...(model === undefined
      ? {}
      : { provider: await providerRow(database, model.provider), model: model.name }),
  }
}

function toAgent(record: AgentRecord): z.infer<typeof agent> {
  const { id, name, description, system, provider, providerId, model, temperature, maxTokens, sourcePath } =
    record
  return {
    id,
    name,
    description,
    system_prompt: system,
    provider,
    llm_provider_id: providerId,
    model,
    temperature,
    max_tokens: maxTokens,
    panel: sourcePath,
    created_at: record.createdAt.toISOString(),
  }
}
