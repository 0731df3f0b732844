import { agentAuthority } from '../../agents/agent-authority.ts'
import { ConfigError } from '../../config/config-error.ts'
import type { Environment } from '../../config/environment.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { describeGrant, type Grant } from '../../permissions/grants.ts'
import { dryRun } from '../../permissions/rules/dry-run.ts'
import { lintRules } from '../../permissions/rules/lint.ts'
import type { Runtime } from '../../runtime.ts'
import { readCalls } from '../../store/audit/calls.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { configPath, describeDraft, openWithText } from '../config-files.ts'
import { type DoorContext, doorUser, refuseBound } from '../door.ts'
import { HttpProblem } from '../problem.ts'

const LAYERS = ['user', 'project', 'local'] as const

const rule = z
  .object({
    id: z.string(),
    decision: z.string(),
    text: z.string(),
    source: z.string(),
    line: z.int().nullable(),
    /** Whose file it stands in, when that is one that can be edited here. */
    layer: z.enum(LAYERS).nullable(),
    reason: z.string().nullable(),
    /** What it says, as it is written in the file; null for a line of an ordered list. */
    definition: z.record(z.string(), z.unknown()).nullable(),
  })
  .openapi('Rule')

const grant = z
  .object({
    id: z.string(),
    decision: z.string(),
    covers: z.string(),
    workspace: z.string(),
    user: z.string(),
    /** `session`: until its run ends. */
    scope: z.enum(['session', 'permanent']),
    run: z.string().nullable(),
    /** The agent it was given to; null holds for every one. */
    agent: z.string().nullable(),
    tool: z.string().nullable(),
    /** It holds in other workspaces too. */
    everywhere: z.boolean(),
    /** The call whose question was answered so; null for answers of earlier versions. */
    call: z.string().nullable(),
    created_at: z.string(),
    expires_at: z.string().nullable(),
  })
  .openapi('Grant')

export interface RuleParts {
  readonly runtime: Runtime
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly now: () => number
}

/** Rules and remembered answers: what they are, what they say, what others would have said. */
export function ruleRoutes(api: Api, parts: RuleParts): void {
  lookRoutes(api, parts)
  tryRoutes(api, parts)
  grantRoutes(api, parts)
}

function lookRoutes(api: Api, { runtime, loaded, environment, now }: RuleParts): void {
  const layerOf = (source: string) =>
    LAYERS.find(layer => configPath(loaded, environment, layer) === source) ?? null
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/rules',
      summary: 'The permission rules in force, with their files and lines',
      responses: { 200: json(z.array(rule), 'The rules') },
    }),
    context => {
      const rules = runtime.rules.map(({ decision, ref, reason, definition }) => ({
        id: ref.id,
        decision,
        text: ref.text,
        source: ref.source,
        line: ref.line ?? null,
        layer: layerOf(ref.source),
        reason: reason ?? null,
        definition: definition.argument === undefined ? withoutOrigin(definition) : null,
      }))
      return answer(context, rules)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/rules/lint',
      summary: 'Rules that can never decide anything',
      responses: { 200: json(z.array(z.record(z.string(), z.unknown())), 'The findings') },
    }),
    context => {
      const names = runtime.registry.list().flatMap(({ tool }) => [tool.name, ...tool.aliases])
      const known = [...names.map(name => name.toLowerCase()), 'http', 'shell', '*']
      return answer(context, lintRules(runtime.rules, known, now()))
    },
  )
}

function tryRoutes(api: Api, parts: RuleParts): void {
  const { runtime } = parts
  api.openapi(
    route('read', {
      method: 'post',
      path: '/api/rules/test',
      summary: 'What the rules say about a call; runs nothing',
      request: {
        body: body(
          z.object({
            tool: z.string().max(200),
            input: z.record(z.string(), z.unknown()).default({}),
            /** As a panel sets them for this tool: what it may do is narrowed by them. */
            settings: z.record(z.string(), z.unknown()).optional(),
          }),
        ),
      },
      responses: { 200: json(z.record(z.string(), z.unknown()), 'The decision with its reasons') },
    }),
    async context => {
      const { settings, ...call } = context.req.valid('json')
      if (settings === undefined) return answer(context, await runtime.explain(call))
      const authority = agentAuthority({
        agent: 'panel',
        tools: [{ tool: call.tool, enabled: true, config: settings }],
        canonicalTool: name => runtime.registry.candidates(name)[0]?.tool.name ?? name,
      })
      const { id: run } = await runtime.openRun({ authority })
      try {
        return answer(context, await runtime.explain({ ...call, run }))
      } finally {
        await runtime.closeRun(run)
      }
    },
  )
  api.openapi(
    route('admin', {
      method: 'post',
      path: '/api/rules/dry-run',
      summary: 'Decide recorded calls again under the rules in force or under others; runs nothing',
      request: { body: body(trial) },
      responses: { 200: json(z.looseObject({ calls: z.int() }), 'What would change') },
    }),
    async context => {
      const { since, tool, text, layer, only, remove } = context.req.valid('json')
      const calls = readCalls({
        directory: runtime.places.audit,
        ...(since === undefined ? {} : { since: new Date(since) }),
        ...(tool === undefined ? {} : { tool }),
      })
      const isOther = text !== undefined || remove.length > 0
      const other = isOther
        ? await openWithText(parts, { ...(text === undefined ? {} : { text }), layer, only, remove }).catch(
            refuseConfig,
          )
        : runtime
      try {
        const find = (name: string) => other.registry.candidates(name)[0]
        const report = await dryRun(calls, other.permissions, find, other.authority)
        return answer(context, { ...report, changed: report.changed.slice(-MOST_CHANGED).reverse() })
      } finally {
        if (isOther) await other.close()
      }
    },
  )
}

const MOST_CHANGED = 500

const trial = z.object({
  since: z.iso.datetime({ offset: true }).optional(),
  tool: z.string().max(200).optional(),
  /** In the place of a configuration file. */
  text: z.string().max(1_000_000).optional(),
  /** Whose file that is. One of the project counts as if it were trusted. */
  layer: z.enum(LAYERS).default('user'),
  /** No rules but those of `text`. */
  only: z.boolean().default(false),
  /** Ids of rules to leave out. */
  remove: z.array(z.string().max(200)).max(1_000).default([]),
})

function refuseConfig(error: unknown): never {
  if (error instanceof ConfigError) throw new HttpProblem(400, 'invalid_input', describeDraft(error))
  throw error
}

function withoutOrigin({ origin: _origin, ...rest }: object & { origin?: unknown }): Record<string, unknown> {
  return { ...rest }
}

function grantRoutes(api: Api, { runtime }: RuleParts): void {
  /** One file has those of all workspaces. A token of one sees what holds there. */
  const known = (context: DoorContext): readonly Grant[] => {
    const { isBound } = doorUser(context)
    const holdsHere = ({ workspace, everywhere }: Grant): boolean =>
      everywhere === true || workspace === runtime.workspace
    return runtime.grants.list().filter(given => !isBound || holdsHere(given))
  }
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/grants',
      summary: 'Answers that are remembered',
      responses: { 200: json(z.array(grant), 'The grants') },
    }),
    context => {
      const grants = known(context).map(given => ({
        ...{ id: given.id, decision: given.decision, covers: describeGrant(given.spec) },
        ...{ workspace: given.workspace, user: given.user, scope: given.scope },
        ...{ run: given.run ?? null, agent: given.agent ?? null, tool: given.tool?.name ?? null },
        ...{ everywhere: given.everywhere === true, call: given.call ?? null },
        ...{ created_at: given.createdAt, expires_at: given.expiresAt ?? null },
      }))
      return context.json(grants, 200)
    },
  )
  api.openapi(
    route('approve', {
      method: 'delete',
      path: '/api/grants/{id}',
      summary: 'Forget a remembered answer',
      request: { params: z.object({ id: z.string().max(100) }) },
      responses: { 204: { description: 'It is forgotten' } },
    }),
    async context => {
      const { id } = context.req.valid('param')
      const found = known(context).find(given => given.id === id)
      if (found?.everywhere === true) refuseBound(context)
      if (found === undefined || !(await runtime.grants.remove(id)))
        throw new HttpProblem(404, 'not_found', 'There is no such grant.')
      runtime.note('grant-revoked', { grant: id })
      return context.body(null, 204)
    },
  )
}
