import { userText } from '../../agents/messages.ts'
import { costOf, ModelError, totalTokens } from '../../agents/model.ts'
import { knownModel, PRICES_OF } from '../../agents/models/known-models.ts'
import type { Vendor } from '../../agents/models/models.ts'
import type { Environment } from '../../config/environment.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { openModels } from '../../models.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'

export interface ModelParts {
  readonly loaded: LoadedConfig
  readonly environment: Environment
}

const price = z
  .object({ input: z.number(), cached: z.number(), cacheWrite: z.number(), output: z.number() })
  .nullable()

const model = z
  .object({
    id: z.string(),
    name: z.string(),
    context: z.int().nullable(),
    max_output: z.int().nullable(),
    tools: z.boolean(),
    images: z.boolean(),
    /** Whether it takes a temperature. */
    temperature: z.boolean(),
    /** USD per million tokens; null: unknown, which is not the same as free. */
    price,
    price_source: z.enum(['configuration', 'built-in', 'unknown']),
  })
  .openapi('Model')

const provider = z
  .object({
    name: z.string(),
    kind: z.string(),
    base_url: z.string().nullable(),
    /** Where the key is looked for, such as `env ANTHROPIC_API_KEY`; never the key. */
    key_place: z.string().nullable(),
    has_key: z.boolean(),
    is_default: z.boolean(),
    models: z.array(model),
  })
  .openapi('Provider')

/** Vendors and their models, as the configuration has them. */
export function modelRoutes(api: Api, { loaded, environment }: ModelParts): void {
  const models = openModels(loaded, environment)
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/models',
      summary: 'Providers with their models, prices and where their key is; never a key',
      responses: {
        200: json(
          z.object({ default: z.string().nullable(), prices_of: z.string(), providers: z.array(provider) }),
          'The providers',
        ),
      },
    }),
    async context => {
      const chosen = models.defaultId() ?? null
      const providers = await Promise.all(
        models.list().map(async ({ vendor, models: names }) => ({
          name: vendor.name,
          kind: vendor.kind,
          base_url: vendor.baseUrl ?? null,
          key_place: vendor.keyPlace,
          has_key: (await vendor.readKey().catch(() => undefined)) !== undefined,
          is_default: chosen?.startsWith(`${vendor.name}/`) === true,
          models: names.map(name => toModel(vendor, name)),
        })),
      )
      return context.json({ default: chosen, prices_of: PRICES_OF, providers }, 200)
    },
  )
  api.openapi(
    route('admin', {
      method: 'post',
      path: '/api/models/test',
      summary: 'Send one short request to a model; it costs a few tokens',
      request: { body: body(z.object({ model: z.string().max(500).optional() })) },
      responses: {
        200: json(
          z.object({
            ok: z.boolean(),
            model: z.string(),
            ms: z.int(),
            tokens: z.int().nullable(),
            cost_usd: z.number().nullable(),
            error: z
              .object({ code: z.string(), message: z.string(), hint: z.string().nullable() })
              .nullable(),
          }),
          'Whether it answered',
        ),
      },
    }),
    async context => {
      const found = models.find(context.req.valid('json').model)
      const started = performance.now()
      const ms = (): number => Math.round(performance.now() - started)
      try {
        const { usage } = await found.respond({
          system: '',
          messages: [userText('Answer with the word: ready')],
          tools: [],
          maxTokens: 16,
          signal: AbortSignal.any([context.req.raw.signal, AbortSignal.timeout(TEST_MS)]),
        })
        const cost = costOf(usage, found.price)
        const done = { ok: true, model: found.id, ms: ms(), tokens: totalTokens(usage), cost_usd: cost }
        return context.json({ ...done, error: null }, 200)
      } catch (error) {
        if (!(error instanceof ModelError)) throw error
        const { kind, message, hint = null } = error
        const failed = { ok: false, model: found.id, ms: ms(), tokens: null, cost_usd: null }
        return answer(context, { ...failed, error: { code: kind, message, hint } })
      }
    },
  )
}

const TEST_MS = 30_000

function toModel(vendor: Vendor, name: string): z.infer<typeof model> {
  const { price: known, capabilities } = knownModel(vendor.kind, name)
  const own = Object.hasOwn(vendor.models, name) ? vendor.models[name] : undefined
  const found = own?.price ?? known
  return {
    id: `${vendor.name}/${name}`,
    name,
    context: own?.context ?? capabilities.context ?? null,
    max_output: own?.maxOutput ?? capabilities.maxOutput ?? null,
    tools: capabilities.tools,
    images: capabilities.images,
    temperature: capabilities.temperature,
    price: found,
    price_source: found === null ? 'unknown' : own?.price == null ? 'built-in' : 'configuration',
  }
}
