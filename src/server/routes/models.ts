import { userText } from '../../agents/messages.ts'
import { costOf, ModelError, totalTokens } from '../../agents/model.ts'
import { knownModel, PRICES_OF } from '../../agents/models/known-models.ts'
import type { Vendor } from '../../agents/models/models.ts'
import type { Environment } from '../../config/environment.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { openModels } from '../../models.ts'
import type { Runtime } from '../../runtime.ts'
import { type ListFile, openListFile } from '../../store/list-file.ts'
import { modelFailures } from '../../store/tables/model-failures.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { requestedModel } from '../requested-model.ts'
import type { Services } from '../services.ts'

export interface ModelParts {
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly runtime: Pick<Runtime, 'places' | 'redact' | 'workspace' | 'cwd' | 'explain'>
  readonly services: () => Promise<Services>
  readonly now: () => number
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

const test = z.object({
  ok: z.boolean(),
  model: z.string(),
  ms: z.int(),
  tokens: z.int().nullable(),
  cost_usd: z.number().nullable(),
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().nullable() }).nullable(),
})

const keptTest = test.extend({ at: z.string() })
/** The last test of a provider, whose name is its id. */
const storedTest = keptTest.extend({ id: z.string() })
type Tests = ListFile<z.infer<typeof storedTest>>

/** Vendors and their models, as the configuration has them. */
export function modelRoutes(api: Api, parts: ModelParts): void {
  const isTest = (value: unknown): value is z.infer<typeof storedTest> => storedTest.safeParse(value).success
  const tests: Tests = openListFile(parts.runtime.places.providerTests, 'tests', isTest)
  listRoutes(api, parts)
  healthRoute(api, parts, tests)
  testRoute(api, parts, tests)
}

function listRoutes(api: Api, { loaded, environment, runtime }: ModelParts): void {
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
          // An address can hold a password or a key.
          base_url: vendor.baseUrl === undefined ? null : runtime.redact(vendor.baseUrl),
          key_place: vendor.keyPlace,
          has_key: (await vendor.readKey().catch(() => undefined)) !== undefined,
          is_default: chosen?.startsWith(`${vendor.name}/`) === true,
          models: names.map(name => toModel(vendor, name)),
        })),
      )
      return context.json({ default: chosen, prices_of: PRICES_OF, providers }, 200)
    },
  )
}

function healthRoute(api: Api, { services, now }: ModelParts, tests: Tests): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/models/health',
      summary: 'How providers are doing: the last test, and requests of the last 24 hours that failed',
      responses: {
        200: json(
          z.array(
            z.object({
              provider: z.string(),
              last_test: keptTest.nullable(),
              failures: z.int(),
              rate_limited: z.int(),
              last_error: z.object({ at: z.string(), message: z.string() }).nullable(),
              /** Until when it asked to wait; null when it did not, or the time is over. */
              limited_until: z.string().nullable(),
            }),
          ),
          'Providers of which there is something to say',
        ),
      },
    }),
    async context => {
      const { database, runs } = await services()
      const found = await modelFailures(database, runs.place, new Date(now() - DAY_MS))
      const tested = tests.list()
      const names = new Set([...found.map(({ provider }) => provider), ...tested.map(({ id }) => id)])
      return context.json(
        [...names].sort().map(name => {
          const last = tested.find(({ id }) => id === name)
          const failed = found.find(each => each.provider === name)
          const until = failed?.limitedUntil ?? null
          return {
            provider: name,
            last_test: last === undefined ? null : keptTest.parse(last),
            failures: failed?.failures ?? 0,
            rate_limited: failed?.rateLimited ?? 0,
            last_error:
              failed === undefined ? null : { at: failed.lastAt.toISOString(), message: failed.lastMessage },
            limited_until: until !== null && until.getTime() > now() ? until.toISOString() : null,
          }
        }),
        200,
      )
    },
  )
}

const DAY_MS = 86_400_000

function testRoute(api: Api, { loaded, environment, runtime, now }: ModelParts, tests: Tests): void {
  const models = openModels(loaded, environment)
  api.openapi(
    route('admin', {
      method: 'post',
      path: '/api/models/test',
      summary: 'Send one short request to a model; it costs a few tokens',
      request: { body: body(z.object({ model: z.string().max(500).optional() })) },
      responses: {
        200: json(test, 'Whether it answered'),
      },
    }),
    async context => {
      const found = models.find(await requestedModel(runtime, context.req.valid('json').model))
      const started = performance.now()
      const ms = (): number => Math.round(performance.now() - started)
      const keep = async (done: z.infer<typeof test>): Promise<z.infer<typeof test>> => {
        await tests.remove(found.provider)
        await tests.add({ ...done, id: found.provider, at: new Date(now()).toISOString() })
        return done
      }
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
        return context.json(await keep({ ...done, error: null }), 200)
      } catch (error) {
        if (!(error instanceof ModelError)) throw error
        const { kind, message, hint = null } = error
        const failed = { ok: false, model: found.id, ms: ms(), tokens: null, cost_usd: null }
        const told = runtime.redact({ code: kind, message, hint })
        return answer(context, await keep({ ...failed, error: told }))
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
