import { randomUUID } from 'node:crypto'
import { ToolError } from '../../core/errors.ts'
import { summarizeDiff } from '../../core/unified-diff.ts'
import type { Runtime } from '../../runtime.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { callerName, type DoorContext, refuseBound } from '../door.ts'
import { HttpProblem } from '../problem.ts'

type LifeCycle = NonNullable<Runtime['dynamic']>
type Stored = ReturnType<LifeCycle['find']>
type CodeContext = Parameters<LifeCycle['verify']>[1]

const params = z.object({ name: z.string().max(100) })

/** Of the definition that a person has seen. */
const looked = z.object({ hash: z.string().max(100) })

const summary = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    version: z.int(),
    scope: z.enum(['project', 'user']),
    status: z.enum(['unverified', 'pending', 'passed', 'failed', 'deprecated', 'quarantined']),
    quarantined: z.string().nullable(),
    /** 0 to 1. */
    safety: z.number(),
    /** Null: nothing in the code speaks for or against it. */
    quality: z.number().nullable(),
    confidence: z.number(),
    uses: z.int(),
    /** Of the last 30 days, as far as runs are kept (100). */
    uses_30d: z.int(),
    /** Its examples, when they were run last; null: nothing was tried. */
    verified: z.object({ at: z.string(), passed: z.int(), total: z.int() }).nullable(),
    created_by: z.string(),
    created_in: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    last_used_at: z.string().nullable(),
    metrics: z.object({
      runs: z.int(),
      successRate: z.number().nullable(),
      medianMs: z.number().nullable(),
      p95Ms: z.number().nullable(),
      errors: z.record(z.string(), z.int()),
    }),
  })
  .openapi('DynamicTool')

const detail = summary.extend({
  code: z.string(),
  parameters: z.array(z.looseObject({ name: z.string() })),
  capabilities: z.object({
    network: z.array(z.string()),
    read: z.array(z.string()),
    tools: z.array(z.string()),
  }),
  examples: z.array(z.looseObject({})),
  /** Of the definition. */
  hash: z.string(),
  /** Whether calls run exactly this code now. */
  is_running: z.boolean(),
  evidence: z.object({ safety: z.array(z.looseObject({})), quality: z.array(z.looseObject({})) }),
  safety_analysis: z.looseObject({ score: z.number() }),
  quality_assessment: z.looseObject({ score: z.number() }),
  runs: z.array(z.looseObject({ at: z.string(), ok: z.boolean(), ms: z.number() })),
  /** Earlier ones, the newest first, each with the difference to the one after it. */
  versions: z.array(z.looseObject({ version: z.int(), code: z.string(), diff: z.string() })),
})

const verification = z.object({
  tool: detail,
  passed: z.int(),
  total: z.int(),
  failures: z.array(z.string()),
})

/** Tools that models wrote: what they are, what was found in them, and what a person does with them. */
export function dynamicToolRoutes(api: Api, runtime: Runtime): void {
  lookRoutes(api, runtime)
  steerRoutes(api, runtime)
  editRoutes(api, runtime)
}

function lookRoutes(api: Api, runtime: Runtime): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/dynamic-tools',
      summary: 'Tools that models wrote; none when they are off',
      responses: {
        200: json(
          z.object({ enabled: z.boolean(), items: z.array(summary), problems: z.array(z.string()) }),
          'The tools',
        ),
      },
    }),
    context => {
      const life = runtime.dynamic
      if (life === undefined) return context.json({ enabled: false, items: [], problems: [] }, 200)
      const items = life.list().map(stored => toSummary(life, stored))
      return answer(context, { enabled: true, items, problems: life.problems() })
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/dynamic-tools/{name}',
      summary: 'One of them: code, analysis, versions, use',
      request: { params, query: z.object({ language: z.enum(['en', 'ja', 'ko']).default('en') }) },
      responses: { 200: json(detail, 'The tool') },
    }),
    async context => {
      const found = requireLife(runtime).find(context.req.valid('param').name)
      return answer(context, await toDetail(runtime, found, context.req.valid('query').language))
    },
  )
}

function steerRoutes(api: Api, runtime: Runtime): void {
  const steer = (
    verb: string,
    sentence: string,
    act: (life: LifeCycle, name: string) => Promise<unknown>,
  ): void => {
    api.openapi(
      route('approve', {
        method: 'post',
        path: `/api/dynamic-tools/{name}/${verb}`,
        summary: sentence,
        request: { params, body: body(looked) },
        responses: { 200: json(detail, 'The tool') },
      }),
      async context => {
        const { name } = context.req.valid('param')
        const life = requireLooked(runtime, context, { name, hash: context.req.valid('json').hash })
        if (verb === 'promote') refuseBound(context)
        await act(life, name)
        return answer(context, await toDetail(runtime, life.find(name)))
      },
    )
  }
  steer('promote', "Make it a tool of all the person's workspaces", (life, name) => life.promote(name))
  steer('release', 'Let a quarantined tool run again', (life, name) => life.quarantine(name, undefined))
  steer('retire', 'Mark it as deprecated', (life, name) => life.deprecate(name))
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/dynamic-tools/{name}/quarantine',
      summary: 'Quarantine a tool, so that it does not run',
      request: { params, body: body(z.object({ reason: z.string().max(500).default('by hand') })) },
      responses: { 200: json(detail, 'The tool') },
    }),
    async context => {
      const life = requireLife(runtime)
      const { name } = context.req.valid('param')
      await life.quarantine(name, context.req.valid('json').reason)
      return answer(context, await toDetail(runtime, life.find(name)))
    },
  )
}

function editRoutes(api: Api, runtime: Runtime): void {
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/dynamic-tools/{name}/verify',
      summary: 'Run the examples of a tool in its isolate',
      request: { params, body: body(z.object({})) },
      responses: { 200: json(verification, 'How they went') },
    }),
    async context => {
      const life = requireLife(runtime)
      const { name } = context.req.valid('param')
      const code = await codeContext(runtime, context)
      const done = await life.verify(name, code)
      return answer(context, { ...done, tool: await toDetail(runtime, life.find(done.tool.id)) })
    },
  )
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/dynamic-tools/{name}/edit',
      summary: 'Make a new version; it is analysed and verified anew',
      request: {
        params,
        body: body(
          z.object({
            code: z.string().max(200_000).optional(),
            description: z.string().max(10_000).optional(),
            hash: looked.shape.hash,
          }),
        ),
      },
      responses: { 200: json(verification, 'The new version') },
    }),
    async context => {
      const { code, description, hash } = context.req.valid('json')
      const life = requireLooked(runtime, context, { name: context.req.valid('param').name, hash })
      const wanted = {
        ...(code === undefined ? {} : { code }),
        ...(description === undefined ? {} : { description }),
      }
      const made = await life.edit(
        context.req.valid('param').name,
        wanted,
        await codeContext(runtime, context),
        // Who may approve calls sees beside the code what it may reach.
        async () => true,
      )
      return answer(context, { ...made, tool: await toDetail(runtime, life.find(made.tool.id)) })
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/dynamic-tools/{name}/export',
      summary: 'The tool as a file, for another workspace',
      request: { params },
      responses: { 200: json(z.record(z.string(), z.unknown()), 'The file') },
    }),
    context => answer(context, JSON.parse(requireLife(runtime).export(context.req.valid('param').name))),
  )
}

function requireLife({ dynamic }: Runtime): LifeCycle {
  if (dynamic !== undefined) return dynamic
  throw new ToolError('not_enabled', 'Dynamic tools are off.', {
    hint: 'Set [tools.dynamic] enabled = true.',
  })
}

/** Models make new versions at any time: what a person decides is about the one that they have seen. */
function requireLooked(
  runtime: Runtime,
  context: DoorContext,
  { name, hash }: { name: string; hash: string },
): LifeCycle {
  const life = requireLife(runtime)
  const found = life.find(name)
  if (found.scope === 'user') refuseBound(context)
  if (found.hash === hash) return life
  throw new HttpProblem(409, 'stale', `The tool '${name}' has changed since it was reviewed.`)
}

async function codeContext(runtime: Runtime, context: DoorContext): Promise<CodeContext> {
  const run = await runtime.openRun()
  const { workspace, cwd } = runtime
  const { signal } = context.req.raw
  return { callId: `verify_${randomUUID()}`, caller: callerName(context), run, cwd, workspace, signal }
}

function toSummary(life: LifeCycle, { tool, scope }: Stored): z.infer<typeof summary> {
  const { runs, successRate, medianMs, p95Ms, errors } = life.metrics(tool)
  const since = Date.now() - DAYS_30
  return {
    id: tool.id,
    name: tool.name,
    description: tool.description,
    version: tool.version,
    scope,
    status: tool.quarantined === undefined ? tool.verificationStatus : 'quarantined',
    quarantined: tool.quarantined ?? null,
    safety: tool.safety.score,
    quality: life.quality(tool),
    confidence: tool.confidenceScore,
    uses: tool.usageCount,
    uses_30d: tool.runs.filter(({ at }) => Date.parse(at) >= since).length,
    verified: tool.verified ?? null,
    created_by: tool.createdBy,
    created_in: tool.createdIn ?? null,
    created_at: tool.createdAt,
    updated_at: tool.updatedAt,
    last_used_at: tool.lastUsedAt ?? null,
    metrics: { runs, successRate, medianMs, p95Ms, errors: { ...errors } },
  }
}

const DAYS_30 = 30 * 86_400_000

async function toDetail(runtime: Runtime, stored: Stored, language = 'en'): Promise<object> {
  const { tool, hash } = stored
  const life = requireLife(runtime)
  const [entry] = runtime.registry.candidates(tool.name)
  const later = [...tool.previous.slice(1).map(({ code }) => code), tool.code]
  const versions = tool.previous.map((old, index) => ({
    ...old,
    diff: summarizeDiff(old.code, later[index] ?? '', tool.name).diff ?? '',
  }))
  return {
    ...toSummary(life, stored),
    code: tool.code,
    parameters: tool.parameters,
    capabilities: tool.capabilities,
    examples: tool.examples,
    hash,
    // The title of a made tool ends with its id, which is a hash of its code.
    is_running: entry?.provider.id === 'dynamic' && entry.tool.title.endsWith(`(${tool.id})`),
    evidence: await life.evidence(tool, language),
    safety_analysis: tool.safety,
    quality_assessment: tool.quality,
    runs: tool.runs,
    versions: versions.reverse(),
  }
}
