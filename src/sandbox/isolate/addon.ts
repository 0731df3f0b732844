import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ToolError } from '../../core/errors.ts'

/**
 * The binary of isolated-vm for this Node. In the users' bundle it lies beside the program, so that nobody needs the
 * package's install script; in a clone it is in the package, where it comes prebuilt too.
 */
export function findAddon(): string {
  const platform = `${process.platform}-${process.arch}`
  const names = addonNames(process.versions.modules)
  const candidates = addonFolders().flatMap(folder => names.map(name => join(folder, platform, name)))
  const found = candidates.find(path => existsSync(path))
  if (found !== undefined) return found
  throw new ToolError(
    'failed',
    `Dynamic tools cannot run here: no isolate for ${platform} and Node ${process.version}.`,
    {
      hint: 'Kogu brings isolates for Node 24 on Linux, macOS (arm64) and Windows (x64).',
    },
  )
}

function addonNames(abi: string): string[] {
  if (process.platform !== 'linux') return [`isolated-vm.abi${abi}.node`]
  return [`isolated-vm.abi${abi}.${usesMusl() ? 'musl' : 'glibc'}.node`]
}

function addonFolders(): string[] {
  const beside = ['./isolate', '../isolate'].map(path => fileURLToPath(new URL(path, import.meta.url)))
  try {
    const manifest = createRequire(import.meta.url).resolve('isolated-vm/package.json')
    return [...beside, join(dirname(manifest), 'prebuilds')]
  } catch {
    // Not installed: the bundle brings what it needs.
    return beside
  }
}

function usesMusl(): boolean {
  return mappedLibraries().some(path => path.includes('ld-musl'))
}

/** The shared libraries of this process; an isolate's process needs the same ones. */
export function mappedLibraries(): string[] {
  const lines = readFileSync('/proc/self/maps', 'utf8').split('\n')
  const paths = lines.map(line => line.slice(line.indexOf('/')))
  return [...new Set(paths.filter(path => /^\/.*\.so(\.[\d.]+)?$/.test(path)))]
}
