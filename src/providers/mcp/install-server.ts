import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import type { Processes } from '../../core/processes.ts'
import type { McpRecord } from './record.ts'
import type { McpServerConfig } from './server-config.ts'

const INSTALL_MS = 5 * 60_000

/** They fetch, too, and Kogu does not install for them. */
const OTHER_FETCHERS = /^(uvx|pipx|uv tool run|(pnpm|yarn) dlx|npm (exec|x)|bun x)( |$)/

/** The package that a command would fetch with every start, or undefined when it starts what is already there. */
export function fetchedPackage({
  command = [],
}: McpServerConfig): { spec: string; rest: readonly string[] } | undefined {
  const [program = '', ...words] = command
  const name = basename(program)
  const [refused] = OTHER_FETCHERS.exec([name, ...words].join(' ')) ?? []
  if (refused !== undefined) {
    throw new ToolError(
      'failed',
      `${refused.trim()} fetches a program with every start, which may be another one each time.`,
      {
        hint: /^(uv|pipx)/.test(refused)
          ? 'Install it yourself (uv tool install …), and name the installed program as the command.'
          : 'Write npx -y PACKAGE[@VERSION] ARGUMENTS: Kogu then installs it once, when it is trusted.',
      },
    )
  }
  if (!/^(npx|bunx|pnpx)$/.test(name)) return undefined
  const at = words.findIndex(word => !/^(-y|--yes|-q|--quiet)$/.test(word))
  const spec = words[at] ?? ''
  if (at === -1 || spec.startsWith('-')) {
    throw new ToolError('failed', `This form of ${name} is not understood: ${command.join(' ')}`, {
      hint: `Write ${name} [-y] PACKAGE[@VERSION] ARGUMENTS.`,
    })
  }
  return { spec, rest: words.slice(at + 1) }
}

/** What is really started: the installed copy of a package, or the command as it stands. */
export function argumentsOf(server: McpServerConfig, { installed }: McpRecord): readonly string[] {
  const fetched = fetchedPackage(server)
  if (fetched === undefined) return server.command ?? []
  if (installed === undefined) throw new Error(`it is not installed: kogu mcp trust ${server.name}`)
  return [process.execPath, installed.program, ...fetched.rest]
}

export interface InstallParts {
  readonly processes: Processes
  /** Where copies are kept; commands in the sandbox cannot change it. */
  readonly folder: string
  readonly npm: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Fetches a package once, at the version that it has now, without running its install scripts. Every start uses this
 * copy, so that what was trusted is what runs.
 */
export async function installServer(
  { processes, folder, npm, env }: InstallParts,
  name: string,
  spec: string,
): Promise<NonNullable<McpRecord['installed']>> {
  const place = join(folder, name)
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true, mode: 0o700 })
  writeFileSync(join(place, 'package.json'), '{"private":true}\n')
  let errors = ''
  const result = await processes.run({
    file: npm,
    args: ['install', '--ignore-scripts', '--save-exact', '--no-audit', '--no-fund', '--', spec],
    cwd: place,
    env,
    timeoutMs: INSTALL_MS,
    signal: new AbortController().signal,
    onStderr(chunk) {
      errors = (errors + Buffer.from(chunk).toString('utf8')).slice(-2000)
      return undefined
    },
  })
  if (result.exitCode !== 0) {
    throw new ToolError(
      'failed',
      `npm could not install ${spec}: ${errors.trim() || `exit code ${result.exitCode}`}`,
    )
  }
  return findInstalled(place, spec)
}

function findInstalled(place: string, spec: string): NonNullable<McpRecord['installed']> {
  const { dependencies = {} } = readJson(join(place, 'package.json'))
  const [name] = Object.keys(isTable(dependencies) ? dependencies : {})
  if (name === undefined) throw new ToolError('failed', `npm installed nothing for ${spec}.`)
  const folder = join(place, 'node_modules', name)
  const { version, bin } = readJson(join(folder, 'package.json'))
  const programs = typeof bin === 'string' ? [bin] : isTable(bin) ? Object.values(bin) : []
  const own = isTable(bin) ? bin[name.split('/').at(-1) ?? ''] : undefined
  const program = typeof own === 'string' ? own : programs[0]
  if (typeof program !== 'string') throw new ToolError('failed', `The package ${name} brings no program.`)
  return { package: name, version: String(version), program: join(folder, program) }
}

function readJson(path: string): Record<string, unknown> {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
  return isTable(value) ? value : {}
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
