import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import type { Processes } from '../../core/processes.ts'
import { type FetchedPackage, fetchedPackage } from './fetched-package.ts'
import type { McpRecord } from './record.ts'
import type { McpServerConfig } from './server-config.ts'

const INSTALL_MS = 5 * 60_000

type Installed = NonNullable<McpRecord['installed']>

/** What is really started: the installed copy of a package, or the command as it stands. */
export function argumentsOf(server: McpServerConfig, { installed }: McpRecord): readonly string[] {
  const fetched = fetchedPackage(server)
  if (fetched === undefined) return server.command ?? []
  if (installed === undefined) throw new Error(`it is not installed: kogu mcp trust ${server.name}`)
  const start = fetched.from === 'npm' ? [process.execPath, installed.program] : [installed.program]
  return [...start, ...fetched.rest]
}

/** Where the copy lies with everything it needs. */
export function installedFolder({ program }: Installed): string {
  const [place = '', inside] = program.split('/node_modules/')
  return inside === undefined ? dirname(dirname(program)) : place
}

export interface InstallParts {
  readonly processes: Processes
  /** Where copies are kept; commands in the sandbox cannot change it. */
  readonly folder: string
  /** The full path of a program of this machine. Throws when there is none. */
  findProgram(name: string): string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Fetches a package once, at the version that it has now, without running code of it: no install scripts, and of Python
 * packages only those that are built already. Every start uses this copy, so that what was trusted is what runs.
 */
export async function installServer(
  parts: InstallParts,
  key: string,
  fetched: FetchedPackage,
): Promise<Installed> {
  const place = join(parts.folder, key)
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true, mode: 0o700 })
  return fetched.from === 'npm'
    ? installFromNpm(parts, place, fetched.spec)
    : installFromPython(parts, place, fetched)
}

async function installFromNpm(parts: InstallParts, place: string, spec: string): Promise<Installed> {
  writeFileSync(join(place, 'package.json'), '{"private":true}\n')
  const flags = ['--ignore-scripts', '--save-exact', '--no-audit', '--no-fund']
  await run(parts, place, spec, [parts.findProgram('npm'), 'install', ...flags, '--', spec])
  const { dependencies = {} } = readJson(join(place, 'package.json'))
  const [name] = Object.keys(isTable(dependencies) ? dependencies : {})
  if (name === undefined) throw new ToolError('failed', `npm installed nothing for ${spec}.`)
  const folder = join(place, 'node_modules', name)
  const { version, bin } = readJson(join(folder, 'package.json'))
  const programs = typeof bin === 'string' ? [bin] : isTable(bin) ? Object.values(bin) : []
  const own = isTable(bin) ? bin[name.split('/').at(-1) ?? ''] : undefined
  const program = typeof own === 'string' ? own : programs[0]
  if (typeof program !== 'string') throw new ToolError('failed', `The package ${name} contains no program.`)
  return { package: name, version: String(version), program: join(folder, program) }
}

/** An environment of its own, made by uv where it is installed and by Python itself otherwise. */
async function installFromPython(
  parts: InstallParts,
  place: string,
  { spec, program: wanted = '' }: FetchedPackage,
): Promise<Installed> {
  const python = join(place, 'bin', 'python')
  const uv = findOptional(parts, 'uv')
  if (uv === undefined) await run(parts, place, spec, [parts.findProgram('python3'), '-m', 'venv', place])
  else await run(parts, place, spec, [uv, 'venv', '--clear', place])
  const installs =
    uv === undefined ? [python, '-m', 'pip', 'install'] : [uv, 'pip', 'install', '--python', python]
  await run(parts, place, spec, [...installs, '--only-binary', ':all:', '--', spec])
  const program = join(place, 'bin', wanted)
  if (statSync(program, { throwIfNoEntry: false })?.isFile() !== true)
    throw new ToolError('failed', `The package ${spec} contains no program '${wanted}'.`)
  return { ...findDistribution(place, wanted), program }
}

/** Which distribution a program belongs to, as its list of entry points says. */
function findDistribution(place: string, program: string): Pick<Installed, 'package' | 'version'> {
  for (const lib of readdirSync(join(place, 'lib'))) {
    const folder = join(place, 'lib', lib, 'site-packages')
    for (const name of readdirSync(folder).filter(each => each.endsWith('.dist-info'))) {
      const [distribution = '', version = ''] = name.slice(0, -'.dist-info'.length).split('-')
      if (entryPoints(join(folder, name)).includes(program)) return { package: distribution, version }
    }
  }
  return { package: program, version: 'unknown' }
}

function entryPoints(folder: string): string[] {
  try {
    const lines = readFileSync(join(folder, 'entry_points.txt'), 'utf8').split('\n')
    return lines.flatMap(line => /^\s*([\w.-]+)\s*=/.exec(line)?.[1] ?? [])
  } catch {
    // It contains no programs.
    return []
  }
}

function findOptional({ findProgram }: InstallParts, name: string): string | undefined {
  try {
    return findProgram(name)
  } catch {
    return undefined
  }
}

async function run(
  { processes, env }: InstallParts,
  cwd: string,
  spec: string,
  [file = '', ...args]: readonly string[],
): Promise<void> {
  let said = ''
  const keep = (chunk: Uint8Array): undefined => {
    said = (said + Buffer.from(chunk).toString('utf8')).slice(-2000)
  }
  const result = await processes.run({
    file,
    args,
    cwd,
    env,
    timeoutMs: INSTALL_MS,
    signal: new AbortController().signal,
    onStderr: keep,
  })
  if (result.exitCode === 0) return
  throw new ToolError(
    'failed',
    `${spec} could not be installed: ${said.trim() || `exit code ${result.exitCode}`}`,
  )
}

function readJson(path: string): Record<string, unknown> {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
  return isTable(value) ? value : {}
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
