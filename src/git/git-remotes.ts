import { join, resolve } from 'node:path'
import { readBounded, repositoryAbove } from './repository.ts'

/**
 * Addresses of the remotes and submodules that the repository at or above a folder is configured with, read without
 * starting git. Undefined when there is no repository. What the configuration includes from elsewhere is not looked for.
 */
export function remoteAddresses(folder: string): string[] | undefined {
  const found = repositoryAbove(folder)
  if (found === undefined) return undefined
  // A worktree has no configuration of its own: it names the repository that it belongs to.
  const shared = readBounded(join(found.repository, 'commondir'))?.toString().trim()
  const repository = shared === undefined ? found.repository : resolve(found.repository, shared)
  const files = [join(repository, 'config'), join(found.root, '.gitmodules')]
  return files.flatMap(path => addressesIn(readBounded(path)?.toString() ?? ''))
}

/** `url.<base>.insteadOf` puts the base, which stands in the section's name, in the place of an address. */
function addressesIn(config: string): string[] {
  const values = config.matchAll(/^\s*(?:push)?url\s*=\s*"?([^"\s#;]+)/gim)
  const bases = config.matchAll(/^\s*\[url "([^"]+)"\]/gim)
  return [...values, ...bases].flatMap(([, address = '']) => toUrl(address))
}

/** A path on this machine is none; `host:path` is ssh. */
function toUrl(address: string): string[] {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return [withoutUser(address)]
  const host = /^(?:[^@/:]+@)?([^@/:]+):/.exec(address)?.[1]
  return host === undefined ? [] : [`ssh://${host}`]
}

function withoutUser(url: string): string {
  return url.replace(/^([^/]*\/\/)[^/@]*@/, '$1')
}
