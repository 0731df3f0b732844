import type { LanguageModelV4 } from '@ai-sdk/provider'
import { ToolError } from '../../core/errors.ts'
import { closest } from '../../core/suggest.ts'
import type { Model, Price } from '../model.ts'
import { ModelError } from '../model.ts'
import { createAiSdkModel } from './ai-sdk-model.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { DEFAULT_MODELS, knownModel, listKnown } from './known-models.ts'

export type VendorKind = 'anthropic' | 'openai' | 'google' | 'openai-compatible'

/** Where requests go and which key goes with them: `[providers.NAME]`. */
export interface Vendor {
  readonly name: string
  readonly kind: VendorKind
  readonly baseUrl?: string
  /** Where the key is, for people: `env ANTHROPIC_API_KEY`. Never the key. */
  readonly keyPlace: string | null
  /** Whether a key is at hand, or none is needed; the first vendor with one is taken when nothing was chosen. */
  readonly hasKey: boolean
  /** Undefined when there is none. A local server needs none. */
  readKey(): Promise<string | undefined>
  /** Overrides what is known of its models. */
  readonly models: Readonly<Record<string, VendorModel>>
}

interface VendorModel {
  readonly context?: number
  readonly maxOutput?: number
  readonly price: Price | null
}

export interface ModelsOptions {
  readonly vendors: readonly Vendor[]
  readonly default?: { readonly provider?: string; readonly model?: string }
  /** Makes a rehearsal from `rehearsal:FILE`. */
  openRehearsal(file: string): Model
}

export interface Models {
  /** `provider/model`, a model's own name, or `rehearsal:FILE`; without an argument the default. */
  find(id?: string): Model
  /** The id that `find()` would use, or undefined when there is neither a default nor a key. */
  defaultId(): string | undefined
  /** `standard`: the model that is used when only the vendor is named, if there is one. */
  list(): readonly { vendor: Vendor; models: readonly string[]; standard: string | undefined }[]
}

/** Models by name, as the registry has tools by name. */
export function createModels(options: ModelsOptions): Models {
  const { vendors } = options
  const byName = new Map(vendors.map(vendor => [vendor.name, vendor]))
  const defaultId = (): string | undefined => {
    const { provider, model } = options.default ?? {}
    if (model !== undefined)
      return model.includes('/') || provider === undefined ? model : `${provider}/${model}`
    const vendor = vendors.find(candidate =>
      provider === undefined ? candidate.hasKey : candidate.name === provider,
    )
    const name = vendor === undefined ? undefined : defaultModel(vendor)
    return vendor === undefined || name === undefined ? undefined : `${vendor.name}/${name}`
  }
  return {
    defaultId,
    list: () =>
      vendors.map(vendor => ({
        vendor,
        models: [...new Set([...Object.keys(vendor.models), ...listKnown(vendor.kind)])],
        standard: defaultModel(vendor),
      })),
    find(id = defaultId()) {
      if (id === undefined) throw noModel()
      if (id.startsWith('rehearsal:')) return options.openRehearsal(id.slice('rehearsal:'.length))
      const slash = id.indexOf('/')
      const vendor = slash === -1 ? guessVendor(id, byName) : byName.get(id.slice(0, slash))
      if (vendor === undefined) throw unknownModel(id, [...byName.keys()])
      return createModel(vendor, slash === -1 ? id : id.slice(slash + 1))
    },
  }
}

function defaultModel(vendor: Vendor): string | undefined {
  return vendor.kind === 'openai-compatible' ? Object.keys(vendor.models)[0] : DEFAULT_MODELS[vendor.kind]
}

export function noModel(): ToolError {
  return new ToolError('invalid_input', 'No model is set up.', {
    hint: [
      'Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, or add [providers.NAME] to your configuration',
      '(kogu config path). Without a key: kogu run --model rehearsal:FILE plays a script; see docs/agents.md.',
    ].join(' '),
  })
}

function unknownModel(id: string, names: readonly string[]): ToolError {
  const near = closest(id.split('/')[0] ?? '', names)
  return new ToolError('invalid_input', `No provider is known for the model '${id}'.`, {
    hint:
      near === undefined
        ? `Name one: ${names.map(name => `${name}/…`).join(', ')}, or rehearsal:FILE.`
        : `Did you mean '${near}/…'?`,
  })
}

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^claude/, 'anthropic'],
  [/^(gpt|o\d|codex)/, 'openai'],
  [/^gemini/, 'google'],
]

function guessVendor(model: string, vendors: ReadonlyMap<string, Vendor>): Vendor | undefined {
  for (const vendor of vendors.values()) if (Object.hasOwn(vendor.models, model)) return vendor
  const name = NAMES.find(([pattern]) => pattern.test(model))?.[1]
  return name === undefined ? undefined : vendors.get(name)
}

function createModel(vendor: Vendor, name: string): Model {
  const known = knownModel(vendor.kind, name)
  const own = Object.hasOwn(vendor.models, name) ? vendor.models[name] : undefined
  return createAiSdkModel({
    id: `${vendor.name}/${name}`,
    provider: vendor.name,
    capabilities: {
      ...known.capabilities,
      context: own?.context ?? known.capabilities.context,
      maxOutput: own?.maxOutput ?? known.capabilities.maxOutput,
    },
    price: own?.price ?? known.price,
    load: () => loadModel(vendor, name),
  })
}

async function loadModel(vendor: Vendor, name: string): Promise<{ model: LanguageModelV4; secret: string }> {
  const key = await vendor.readKey()
  if (key === undefined && vendor.kind !== 'openai-compatible') {
    throw new ModelError('credentials', `No API key was found for ${vendor.name}.`, {
      hint: `Kogu looks for it in: ${vendor.keyPlace ?? 'api_key'}. See: kogu models list`,
    })
  }
  // An empty text instead of undefined: the packages would look for a key in the environment by themselves.
  const secret = key ?? ''
  return { model: await importModel(vendor, name, secret), secret }
}

/** Each package is loaded when its vendor is used. */
async function importModel(vendor: Vendor, name: string, apiKey: string): Promise<LanguageModelV4> {
  const address = vendor.baseUrl === undefined ? {} : { baseURL: vendor.baseUrl }
  switch (vendor.kind) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ apiKey, fetch: boundedFetch, ...address })(name)
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ apiKey, fetch: boundedFetch, ...address }).responses(name)
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      return createGoogle({ apiKey, fetch: boundedFetch, ...address })(name)
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const baseURL = vendor.baseUrl ?? 'http://127.0.0.1:11434/v1'
      const key = apiKey === '' ? {} : { apiKey }
      const common = { name: vendor.name, baseURL, includeUsage: true, fetch: boundedFetch }
      return createOpenAICompatible({ ...common, ...key })(name)
    }
  }
}
