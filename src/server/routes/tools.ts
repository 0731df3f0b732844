import { toolSettingsSchema } from '../../agents/tool-settings-schema.ts'
import { toToolError } from '../../core/errors.ts'
import type { Entry } from '../../core/registry.ts'
import type { Runtime } from '../../runtime.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { HttpProblem } from '../problem.ts'
import { sampleInput } from '../sample-input.ts'

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

/** By the same function that judges real calls. What cannot be judged counts as a question. */
async function judgeTypical(runtime: Runtime, { tool: each }: Entry): Promise<z.infer<typeof verdict>> {
  const sample = sampleInput(each.input.json)
  try {
    const { decision, by, reasons, ref } = await runtime.explain({ tool: each.name, input: sample })
    return { tool: each.name, outcome: decision, by, reasons: [...reasons], rule: ref, sample }
  } catch (error) {
    const reasons = [toToolError(error).message]
    return { tool: each.name, outcome: 'ask', by: 'validation', reasons, rule: null, sample }
  }
}
