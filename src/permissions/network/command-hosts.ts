import { resolve } from 'node:path'
import { remoteAddresses } from '../../git/git-remotes.ts'
import { entriesFor } from '../commands/args.ts'
import { hostsOf } from '../commands/hosts.ts'
import type { CommandAnalysis, FoundCommand, Word } from '../commands/types.ts'
import { analyzeUrl, type UrlFacts } from './network.ts'

/** The machines that a line contacts, as far as its words tell. */
export interface LineHosts {
  readonly hosts: readonly NamedHost[]
  /** A program in it contacts others and does not say which. */
  readonly any: boolean
}

/** Port 0: any port of that host. */
export type NamedHost = Pick<UrlFacts, 'host' | 'port'>

/** Undefined when nothing in the line is known to contact another machine. */
export function hostsOfLine({ commands }: CommandAnalysis, cwd: string): LineHosts | undefined {
  const contacting = commands.filter(({ effects }) => effects.some(effect => CONTACTS.has(effect)))
  if (contacting.length === 0) return undefined
  const found = contacting.map(command => hostsOfCommand(command, cwd))
  return {
    hosts: found.flatMap(hosts => hosts ?? []),
    any: found.some(hosts => hosts === undefined),
  }
}

/** Whether a line can contact others at all: a program that only changes files needs no way out. */
export function mayContact({ effects, level, unresolved }: CommandAnalysis): boolean {
  return (
    unresolved ||
    level === 'unknown' ||
    effects.some(effect => effect === 'runs-code' || CONTACTS.has(effect))
  )
}

const CONTACTS: ReadonlySet<string> = new Set([
  'network',
  'sends-data',
  'publishes',
  'package-scripts',
  'remote-shell',
])

/**
 * Undefined: it cannot be told. What is missing here is refused by the proxy and explained, so a list that is too short
 * costs a question, never an approval for more than was shown.
 */
function hostsOfCommand({ program, argv }: FoundCommand, cwd: string): NamedHost[] | undefined {
  if (program === null) return undefined
  const words = argv.slice(1).map(toText)
  const named = hostsOf(program, words).flatMap(toNamed)
  const defaults = DEFAULT_HOSTS.get(program)?.map(host => ({ host, port: 443 }))
  if (defaults !== undefined) return [...named, ...defaults]
  if (named.length > 0) return named
  return program === 'git' ? remoteAddresses(gitFolder(words, cwd))?.flatMap(toNamed) : undefined
}

/**
 * Empty where it is only known when the line runs; of `"https://a.example/$ID"` the part that cannot become another host.
 * A pattern is passed on as it stands when no file matches.
 */
function toText({ text, glob, raw }: Word): string {
  if (text !== null) return text
  if (glob !== undefined) return glob.replaceAll(/\\(.)/g, '$1')
  return /^["']?([a-z][a-z0-9+.-]*:\/\/[\w.:-]+[/?#])/i.exec(raw)?.[1] ?? ''
}

function toNamed(url: string): NamedHost[] {
  const facts = analyzeUrl(url)
  return facts === undefined || facts.host === '' ? [] : [{ host: facts.host, port: facts.port }]
}

function gitFolder(words: readonly string[], cwd: string): string {
  const at = words.indexOf('-C')
  return at === -1 ? cwd : resolve(cwd, words[at + 1] ?? '.')
}

/** Where programs go that name no host: the registries that they come configured with. */
const DEFAULT_HOSTS: ReadonlyMap<string, readonly string[]> = new Map([
  ...entriesFor('npm npx pnpm pnpx bun bunx', ['registry.npmjs.org']),
  ...entriesFor('yarn', ['registry.yarnpkg.com', 'registry.npmjs.org', 'repo.yarnpkg.com']),
  ...entriesFor('pip pip3 pipx uv uvx poetry flit hatch', ['pypi.org', 'files.pythonhosted.org']),
  ...entriesFor('twine', ['upload.pypi.org']),
  ...entriesFor('cargo', ['index.crates.io', 'static.crates.io', 'crates.io']),
  ...entriesFor('rustup', ['static.rust-lang.org']),
  ...entriesFor('go', ['proxy.golang.org', 'sum.golang.org']),
  ...entriesFor('gem bundle', ['rubygems.org', 'index.rubygems.org']),
  ...entriesFor('composer', ['repo.packagist.org', 'packagist.org', 'api.github.com', 'codeload.github.com']),
  ...entriesFor('conda mamba', ['repo.anaconda.com', 'conda.anaconda.org']),
  ...entriesFor('gh hub', ['api.github.com', 'github.com', 'uploads.github.com']),
  ...entriesFor('glab', ['gitlab.com']),
])
