import { resolve } from 'node:path'
import type { Model, Price } from './agents/model.ts'
import { createModels, type Models, type Vendor, type VendorKind } from './agents/models/models.ts'
import { createRehearsal, parseRehearsal } from './agents/rehearsal.ts'
import type { Environment } from './config/environment.ts'
import type { LoadedConfig } from './config/load.ts'
import { describeSecret, readSecret, type SecretReference } from './config/read-secret.ts'
import { ToolError } from './core/errors.ts'
import { outsideContext, prepareOutside } from './sandbox/outside-program.ts'
import { createProcesses } from './sandbox/processes/processes.ts'
import { readPlainFile } from './store/saved-text.ts'

type ProviderConfig = LoadedConfig['config']['providers'][string]

/** The vendors everybody knows, with the variables their own tools read. */
const KNOWN: Readonly<Record<string, { kind: VendorKind; variables: readonly string[] }>> = {
  anthropic: { kind: 'anthropic', variables: ['ANTHROPIC_API_KEY'] },
  openai: { kind: 'openai', variables: ['OPENAI_API_KEY'] },
  google: { kind: 'google', variables: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'] },
}

/** The models of a configuration: the known vendors and those of `[providers]`. */
export function openModels(loaded: LoadedConfig, environment: Environment): Models {
  const { providers, defaults } = loaded.config
  const names = [...new Set([...Object.keys(KNOWN), ...Object.keys(providers)])]
  const vendors = names.map(name => toVendor(name, loaded, environment))
  const { provider, model } = defaults
  return createModels({
    vendors,
    default: {
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
    },
    openRehearsal: file => openRehearsal(file, loaded.workspace.cwd),
  })
}

/** The id with the file made absolute: a run may be continued from another folder. */
export function lastingId(id: string, cwd: string): string {
  return id.startsWith('rehearsal:') ? `rehearsal:${resolve(cwd, id.slice('rehearsal:'.length))}` : id
}

function openRehearsal(file: string, cwd: string): Model {
  const path = resolve(cwd, file)
  const text = readPlainFile(path)
  if (text === undefined)
    throw new ToolError('invalid_input', `There is no file ${path}.`, {
      hint: 'Name the file of a rehearsal script.',
    })
  return createRehearsal(parseRehearsal(text, file), `rehearsal:${path}`)
}

function toVendor(name: string, { config: all, workspace }: LoadedConfig, environment: Environment): Vendor {
  const config = all.providers[name]
  const reference = keyReference(name, config, environment)
  return {
    name,
    kind: config?.kind ?? KNOWN[name]?.kind ?? 'openai-compatible',
    ...(config?.base_url === undefined ? {} : { baseUrl: config.base_url }),
    keyPlace: reference === undefined ? null : describeSecret(reference),
    hasKey: hasKey(reference, config, environment),
    async readKey() {
      if (reference === undefined) return undefined
      const processes = createProcesses({ spawner: 'direct' })
      const prepare = (command: readonly string[]) =>
        prepareOutside(command, outsideContext(workspace.root, environment))
      return readSecret(reference, environment, { processes, prepare }).finally(() => processes.close())
    },
    models: Object.fromEntries(
      Object.entries(config?.models ?? {}).map(([model, { context, max_output, price }]) => [
        model,
        {
          ...(context === undefined ? {} : { context }),
          ...(max_output === undefined ? {} : { maxOutput: max_output }),
          price: toPrice(price),
        },
      ]),
    ),
  }
}

function toPrice(price: ProviderConfig['models'][string]['price']): Price | null {
  if (price === 'unknown') return null
  const { input, output, cached = input } = price
  return { input, output, cached, cacheWrite: input }
}

function keyReference(
  name: string,
  config: ProviderConfig | undefined,
  environment: Environment,
): SecretReference | undefined {
  if (config?.api_key !== undefined) return config.api_key
  const variables = KNOWN[name]?.variables ?? []
  const env = variables.find(variable => filled(environment, variable)) ?? variables[0]
  return env === undefined ? undefined : { env }
}

function hasKey(
  reference: SecretReference | undefined,
  config: ProviderConfig | undefined,
  environment: Environment,
): boolean {
  if (reference?.env !== undefined) return filled(environment, reference.env)
  // A file, a keychain or a command was named on purpose; a server of one's own needs no key.
  return reference !== undefined || Object.keys(config?.models ?? {}).length > 0
}

function filled({ variables }: Environment, name: string): boolean {
  return (variables[name] ?? '') !== ''
}
