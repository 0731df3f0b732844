import { relative } from 'node:path'
import { agentAuthority } from '../../agents/agent-authority.ts'
import { toolSettingsSchema } from '../../agents/tool-settings-schema.ts'
import { toToolError } from '../../core/errors.ts'
import type { Entry } from '../../core/registry.ts'
import type { Runtime } from '../../runtime.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { HttpProblem } from '../problem.ts'
import { sampleInput, type Typical } from '../sample-input.ts'

const tool = z
  .object({
    name: z.string(),
    aliases: z.array(z.string()),
    title: z.string(),
    category: z.string(),
    risk: z.enum(['low', 'high']),
    provider: z.string(),
    enabled: z.boolean(),
    definition: z.object({
      name: z.string(),
      description: z.string(),
      input_schema: z.record(z.string(), z.unknown()),
      /** Of its data; null where the tool does not say. */
      output_schema: z.record(z.string(), z.unknown()).nullable(),
    }),
    /** What a panel or an agent can set for it. */
    settings_schema: z.record(z.string(), z.unknown()),
  })
  .openapi('Tool')

const verdict = z
  .object({
    tool: z.string(),
    outcome: z.enum(['allow', 'ask', 'deny']),
    by: z.string(),
    reasons: z.array(z.string()),
    rule: z
      .object({ id: z.string(), source: z.string(), line: z.int().optional(), text: z.string() })
      .nullable(),
    /** The call that was judged: another one may be decided otherwise. */
    sample: z.record(z.string(), z.unknown()),
  })
  .openapi('ToolVerdict')

/** As much of a panel's file as decides what its calls meet. */
const panelTools = z.object({
  panel: z.string().max(100),
  mode: z.enum(['ask', 'accept-edits', 'read-only', 'auto']).optional(),
  orchestration: z.enum(['none', 'automatic', 'approval']).optional(),
  tools: z.record(z.string().max(200), z.looseObject({ enabled: z.boolean().default(true) })).default({}),
})

export function toolRoutes(api: Api, runtime: Runtime): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/tools',
      summary: 'Every tool that is registered',
      responses: { 200: json(z.array(tool), 'The tools, sorted by name') },
    }),
    context => context.json(runtime.registry.list().map(toTool), 200),
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/tools/verdicts',
      summary: 'What the rules say about a typical call of every tool; runs nothing',
      responses: { 200: json(z.array(verdict), 'The verdicts, sorted by name') },
    }),
    async context => {
      const verdicts = await Promise.all(runtime.registry.list().map(entry => judgeTypical(runtime, entry)))
      return context.json(verdicts, 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'post',
      path: '/api/tools/verdicts',
      summary: 'The same for the tools of a panel, under its settings; runs nothing',
      request: { body: body(panelTools) },
      responses: { 200: json(z.array(verdict), 'The verdicts, sorted by name') },
    }),
    async context => context.json(await judgeForPanel(runtime, context.req.valid('json')), 200),
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/tools/{name}',
      summary: 'One tool, by any of its names',
      request: { params: z.object({ name: z.string().max(200) }) },
      responses: { 200: json(tool, 'The tool') },
    }),
    context => {
      const { name } = context.req.valid('param')
      const [entry] = runtime.registry.candidates(name)
      if (entry === undefined) throw new HttpProblem(404, 'not_found', `Unknown tool: ${name}`)
      return context.json(toTool(entry), 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'post',
      path: '/api/tools/{name}/explain',
      summary: 'What would be decided about a call, and why; runs nothing',
      request: {
        params: z.object({ name: z.string().max(200) }),
        body: body(z.object({ input: z.record(z.string(), z.unknown()).default({}) })),
      },
      responses: { 200: json(z.record(z.string(), z.unknown()), 'The decision with its reasons') },
    }),
    async context => {
      const { name } = context.req.valid('param')
      const { input } = context.req.valid('json')
      return answer(context, await runtime.explain({ tool: name, input }))
    },
  )

  function toTool(entry: Entry): z.infer<typeof tool> {
    const { tool: each, provider, risk } = entry
    return {
      name: each.name,
      aliases: [...each.aliases],
      title: each.title,
      category: each.category,
      risk,
      provider: provider.id,
      enabled: runtime.isEnabled(entry),
      definition: {
        ...{ name: each.name, description: each.description },
        ...{ input_schema: each.input.json, output_schema: each.output?.json ?? null },
      },
      settings_schema: toolSettingsSchema(each),
    }
  }
}

/** Only the tools that it has: to call another one is refused. */
async function judgeForPanel(
  runtime: Runtime,
  { panel, mode, orchestration, tools }: z.output<typeof panelTools>,
): Promise<z.infer<typeof verdict>[]> {
  const { registry, workspace } = runtime
  const wish = agentAuthority({
    ...{ agent: panel, canonicalTool: name => registry.candidates(name)[0]?.tool.name ?? name },
    tools: Object.entries(tools).map(([tool, { enabled, ...config }]) => ({ tool, enabled, config })),
    ...(mode === undefined ? {} : { mode }),
  })
  const confirm = orchestration === 'approval' ? { confirm: true as const } : {}
  const run = await runtime.openRun({ authority: { ...wish, ...confirm } })
  try {
    const { writeScope, commands, hosts, tools: enabled } = run.authority
    const [folder] = writeScope.map(each => relative(workspace, each))
    const typical: Typical = {
      folder: folder === '' ? undefined : folder,
      program: commands.profile === 'restricted' ? commands.allowed[0] : undefined,
      host: hosts === 'any' ? undefined : hosts[0]?.replace(/^\*+\.?/, 'www.'),
    }
    const entries = registry
      .list()
      .filter(({ tool: { name } }) => enabled === 'all' || enabled.includes(name))
    return await Promise.all(entries.map(entry => judgeTypical(runtime, entry, { typical, run: run.id })))
  } finally {
    await runtime.closeRun(run.id)
  }
}

/** By the same function that judges real calls. What cannot be judged counts as a question. */
async function judgeTypical(
  runtime: Runtime,
  { tool: each }: Entry,
  { typical, run }: { readonly typical?: Typical; readonly run?: string } = {},
): Promise<z.infer<typeof verdict>> {
  const sample = sampleInput(each.input.json, typical)
  try {
    const { decision, by, reasons, ref } = await runtime.explain({
      ...{ tool: each.name, input: sample },
      ...(run === undefined ? {} : { run }),
    })
    return { tool: each.name, outcome: decision, by, reasons: [...reasons], rule: ref, sample }
  } catch (error) {
    const { code, message } = toToolError(error)
    const outcome = code === 'not_enabled' ? 'deny' : 'ask'
    return { tool: each.name, outcome, by: 'validation', reasons: [message], rule: null, sample }
  }
}
