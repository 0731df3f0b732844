import type { ParseArgsOptionsConfig } from 'node:util'
import type { Environment } from '../../config/environment.ts'
import { GLOBAL_OPTIONS } from '../command.ts'
import { COMMANDS } from '../commands.ts'
import { namesFor } from './names.ts'

export interface Candidate {
  readonly value: string
  readonly meaning?: string
}

/** What could stand in the place of the last word. */
export async function complete(
  words: readonly string[],
  place: { readonly environment: Environment; readonly cwd: string },
): Promise<Candidate[]> {
  const [name = '', ...rest] = words
  const begun = words.at(-1) ?? ''
  const found = words.length < 2 ? commands() : await afterCommand(name, rest, begun, place)
  // What a file is called is typed by whoever made it: nothing that a shell would read as more than a word.
  return found.filter(({ value }) => value.startsWith(begun) && /^[\w@%+=:,./-]+$/.test(value))
}

function commands(): Candidate[] {
  return [
    ...Object.entries(COMMANDS).map(([value, { summary }]) => ({ value, meaning: summary })),
    { value: 'help', meaning: 'about a command' },
    { value: 'version', meaning: '' },
  ]
}

async function afterCommand(
  name: string,
  rest: readonly string[],
  begun: string,
  place: { readonly environment: Environment; readonly cwd: string },
): Promise<Candidate[]> {
  if (name === 'help') return rest.length === 1 ? commands() : []
  const listed = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (listed === undefined) return []
  const { verbs = [] } = listed
  const before = rest.slice(0, -1)
  const needsOptions = begun.startsWith('-') || before.some(word => word.startsWith('-'))
  const options: ParseArgsOptionsConfig = needsOptions
    ? { ...GLOBAL_OPTIONS, ...(await listed.load()).options }
    : {}
  if (begun.startsWith('-')) return Object.keys(options).map(option => ({ value: `--${option}` }))
  const takesValue = (word: string): boolean =>
    word.startsWith('--') && options[word.slice(2)]?.type === 'string'
  const last = before.at(-1)
  if (last !== undefined && takesValue(last))
    return [...(await namesFor(`${name} ${last}`, place)), ...(await namesFor(last, place))]
  const positionals = before.filter(
    (word, index) => !word.startsWith('-') && !takesValue(before[index - 1] ?? ''),
  )
  const [verb] = positionals
  if (verb === undefined && verbs.length > 0) return verbs.map(value => ({ value }))
  const isFirst = positionals.length === (verbs.length > 0 ? 1 : 0)
  return isFirst ? namesFor([name, ...(verbs.length > 0 ? [verb] : [])].join(' '), place) : []
}
