import { ToolError } from '../core/errors.ts'
import { listProviders, type ProviderRecord } from '../store/tables/llm-providers.ts'
import type { Services } from './services.ts'

type Parts = Pick<Services, 'database' | 'runs'>

/** A script that plays a model; every configuration has it. */
const REHEARSAL = 'rehearsal'

/** The vendors of the configuration, with the ids that agents name them by. */
export function configuredProviders({ database, runs }: Parts): Promise<ProviderRecord[]> {
  const names = runs.models.list().map(({ vendor }) => vendor.name)
  return listProviders(database, [...new Set([...names, REHEARSAL])])
}

/** The model that a request names: by itself, by its vendor and its name, or the standard one of a vendor. */
export async function modelOfProvider(
  parts: Parts,
  id: string | undefined,
  model: string | undefined,
): Promise<string | undefined> {
  if (id === undefined) return model
  const name = (await configuredProviders(parts)).find(provider => provider.id === id)?.name
  if (name === undefined) {
    throw new ToolError('invalid_input', `No configured provider has the id ${id}.`, {
      hint: 'GET /api/llm-providers lists them.',
    })
  }
  const all = parts.runs.models.list()
  const named = model ?? all.find(({ vendor }) => vendor.name === name)?.standard
  if (named === undefined)
    throw new ToolError('invalid_input', `Say which model of '${name}' it uses, as 'model'.`)
  const isRehearsal = named.startsWith(`${REHEARSAL}:`)
  const other = all.find(({ vendor }) => vendor.name !== name && named.startsWith(`${vendor.name}/`))
  if (isRehearsal !== (name === REHEARSAL) || other !== undefined)
    throw new ToolError(
      'invalid_input',
      `'${named}' is not a model of '${name}', which llm_provider_id names.`,
    )
  return isRehearsal || named.startsWith(`${name}/`) ? named : `${name}/${named}`
}
