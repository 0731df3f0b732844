import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const CHECKS = ['build', 'lint', 'type_check', 'test'] as const
export type Check = (typeof CHECKS)[number]

/** Which program with which arguments makes each check. */
export type CheckCommands = { [Name in Check]?: readonly string[] | undefined }

/** What the files of a project say: scripts of its package first, then the usual commands of its language, then make. */
export function findChecks(workspace: string, configured: CheckCommands = {}): CheckCommands {
  const sources = [configured, fromPackage, fromCargo, fromGo, fromPython, fromMake]
  const found: CheckCommands = {}
  for (const source of sources) {
    const commands = typeof source === 'function' ? source(workspace) : source
    for (const check of CHECKS) if (commands[check] !== undefined) found[check] ??= commands[check]
  }
  return found
}

const MOST_BYTES = 1024 * 1024

/** Empty: not there, not a file, or far too large. */
function read(path: string): string {
  let file: number
  try {
    // A pipe in its place would be waited for.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    // Most projects have only one of these files.
    return ''
  }
  try {
    const stat = fstatSync(file)
    return stat.isFile() && stat.size <= MOST_BYTES ? readFileSync(file, 'utf8') : ''
  } finally {
    closeSync(file)
  }
}

// Names that scripts go by, the most usual first.
const SCRIPTS: Readonly<Record<Check, readonly string[]>> = {
  build: ['build', 'compile'],
  lint: ['lint', 'lint:check'],
  type_check: ['type_check', 'typecheck', 'type-check', 'check-types', 'check:types', 'tsc', 'check'],
  test: ['test', 'test:unit'],
}

function fromPackage(workspace: string): CheckCommands {
  const manifest = parseManifest(read(join(workspace, 'package.json')))
  if (manifest === undefined) return {}
  const manager = packageManager(workspace, manifest.packageManager)
  const found: CheckCommands = {}
  for (const check of CHECKS) {
    const script = SCRIPTS[check].find(name => isRealScript(manifest.scripts[name]))
    if (script !== undefined) found[check] = [manager, 'run', script]
  }
  const compiler = join('node_modules', '.bin', 'tsc')
  const hasTypes = existsSync(join(workspace, 'tsconfig.json')) && existsSync(join(workspace, compiler))
  if (hasTypes) found.type_check ??= [compiler, '--noEmit']
  return found
}

interface Manifest {
  readonly scripts: Readonly<Record<string, unknown>>
  readonly packageManager: unknown
}

function parseManifest(text: string): Manifest | undefined {
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch {
    // No package, or one that npm could not read either.
    return undefined
  }
  if (typeof manifest !== 'object' || manifest === null) return undefined
  const { scripts, packageManager: named } = manifest as { scripts?: unknown; packageManager?: unknown }
  const isTable = typeof scripts === 'object' && scripts !== null
  // Own properties only: a script called `constructor` is none.
  return { scripts: Object.assign(Object.create(null), isTable ? scripts : {}), packageManager: named }
}

/** `npm init` writes a test that always fails. */
function isRealScript(script: unknown): boolean {
  return typeof script === 'string' && script.trim() !== '' && !script.includes('no test specified')
}

function packageManager(workspace: string, named: unknown): string {
  const wanted = typeof named === 'string' ? /^(npm|pnpm|yarn|bun)(@|$)/.exec(named)?.[1] : undefined
  if (wanted !== undefined) return wanted
  const has = (name: string): boolean => existsSync(join(workspace, name))
  if (has('bun.lock') || has('bun.lockb')) return 'bun'
  if (has('pnpm-lock.yaml')) return 'pnpm'
  return has('yarn.lock') ? 'yarn' : 'npm'
}

function fromCargo(workspace: string): CheckCommands {
  if (!existsSync(join(workspace, 'Cargo.toml'))) return {}
  return {
    build: ['cargo', 'build'],
    lint: ['cargo', 'clippy'],
    type_check: ['cargo', 'check'],
    test: ['cargo', 'test'],
  }
}

function fromGo(workspace: string): CheckCommands {
  if (!existsSync(join(workspace, 'go.mod'))) return {}
  return {
    build: ['go', 'build', './...'],
    lint: ['go', 'vet', './...'],
    type_check: ['go', 'build', './...'],
    test: ['go', 'test', './...'],
  }
}

function fromPython(workspace: string): CheckCommands {
  const project = read(join(workspace, 'pyproject.toml'))
  if (project === '') return {}
  const uses = (tool: string): boolean => project.includes(`[tool.${tool}`)
  return {
    ...(uses('ruff') ? { lint: ['ruff', 'check', '.'] } : uses('flake8') ? { lint: ['flake8'] } : {}),
    ...(uses('mypy') ? { type_check: ['mypy', '.'] } : uses('pyright') ? { type_check: ['pyright'] } : {}),
    ...(uses('pytest') || existsSync(join(workspace, 'tests')) ? { test: ['python3', '-m', 'pytest'] } : {}),
  }
}

function fromMake(workspace: string): CheckCommands {
  const text = read(join(workspace, 'Makefile')) || read(join(workspace, 'makefile'))
  const found: CheckCommands = {}
  for (const check of CHECKS) {
    const target = SCRIPTS[check].find(name => new RegExp(`^${name}\\s*:(?!=)`, 'm').test(text))
    if (target !== undefined) found[check] = ['make', target]
  }
  return found
}
