import { ConfigError } from '../config/config-error.ts'
import type { Environment } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import { toolSettings } from '../config/schema.ts'
import { type Authority, type CommandAuthority, fullAuthority } from '../core/authority.ts'
import type { CallRuntime } from '../core/call.ts'
import { toToolError } from '../core/errors.ts'
import type { Hooks } from '../core/hooks.ts'
import type { Processes } from '../core/processes.ts'
import { realPathOf } from '../core/real-path.ts'
import type { Registry } from '../core/registry.ts'
import type { EngineOptions } from '../permissions/engine.ts'
import { checkRules } from '../permissions/rules/check-rules.ts'
import { compileOrdered } from '../permissions/rules/ordered-rules.ts'
import { compileRule, type Rule } from '../permissions/rules/rules.ts'
import { createHooks } from './hooks.ts'

/** What a configuration says about what may happen. A server replaces it when the files change, and keeps the rest. */
export interface Policy extends Pick<EngineOptions, 'fallback' | 'network' | 'ownHosts' | 'rememberMs'> {
  readonly rules: readonly Rule[]
  /** Of runs that are opened without a parent from now on. */
  readonly authority: Authority
  readonly commands: LoadedConfig['config']['permissions']['commands']
  readonly hooks: Hooks
  readonly isEnabled: CallRuntime['isEnabled']
}

/** Throws a ConfigError when a rule cannot be used or does not do what its examples say. */
export async function createPolicy(
  loaded: LoadedConfig,
  {
    registry,
    environment,
    processes,
  }: { registry: Registry; environment: Environment; processes: Processes },
): Promise<Policy> {
  const { config, workspace } = loaded
  return {
    rules: await compileRules(loaded, registry, realPathOf(environment.home)),
    fallback: config.permissions.default,
    network: config.sandbox.network,
    ownHosts: ownHosts(loaded),
    rememberMs: config.permissions.remember_max,
    authority: { ...fullAuthority(workspace.root, config.mode), commands: commandAuthority(config) },
    commands: config.permissions.commands,
    hooks: createHooks(loaded, environment, processes),
    isEnabled: enabledTools(loaded),
  }
}

/**
 * Hosts that approved commands may contact, and that a file of the person's own names, or one that the person trusts.
 * Where the person allows every public host, an untrusted file may list some, and these must not be private ones.
 */
function ownHosts({ config, files, contributions }: LoadedConfig): string[] {
  const { network } = config.sandbox
  if (typeof network === 'boolean') return []
  const own = (contributions.get('sandbox.network') ?? [])
    .filter(({ source }) => files.some(({ path, status }) => path === source.file && status === 'loaded'))
    .flatMap(({ value }) => value)
  return network.filter(host => own.includes(host))
}

/** What commands of every run may be at most. */
function commandAuthority({ tools }: LoadedConfig['config']): CommandAuthority {
  const { profile, allowed_commands, timeout } = tools.run_command
  return profile === 'restricted'
    ? { profile, allowed: allowed_commands, forTools: true, timeoutMs: timeout }
    : { profile, timeoutMs: timeout }
}

/** Whether the configuration leaves a tool on, under every one of its names. Asked for each call: tools come late. */
function enabledTools({ config }: LoadedConfig): CallRuntime['isEnabled'] {
  const off = Object.keys(config.tools)
    .filter(name => toolSettings(config, name).enabled === false)
    .map(name => name.toLowerCase())
  return ({ names }) => !off.some(name => names.has(name))
}

/** Rules of all files, with their examples checked: a rule that does not do what its author says stops everything. */
async function compileRules(loaded: LoadedConfig, registry: Registry, home: string): Promise<Rule[]> {
  const { permissions } = loaded.config
  const context = { home, workspace: loaded.workspace.root }
  // Our own tools are all there by now. Those that come later have no kind of access that a rule could stand for.
  const canonical = (name: string): string => registry.candidates(name).at(-1)?.tool.name ?? name
  const refuse = ({ file, line }: Rule['definition']['origin'], message: string): never => {
    throw new ConfigError(message, { file, position: line === undefined ? undefined : { line, column: 1 } })
  }
  const compile = <Made>(origin: Rule['definition']['origin'], make: () => Made): Made => {
    try {
      return make()
    } catch (error) {
      // A pattern that nothing can be matched with.
      return refuse(origin, toToolError(error).message)
    }
  }
  const rules = permissions.rules.map((rule, index) =>
    compile(rule.origin, () => compileRule(rule, index, context, canonical, registry.names())),
  )
  const problem = (await checkRules(rules, context))[0]
  if (problem !== undefined)
    refuse(problem.rule.definition.origin, `Rule '${problem.rule.id}': ${problem.message}`)
  const ordered = permissions.ordered.flatMap(list =>
    compile(list.origin, () => compileOrdered(list, context, canonical)),
  )
  return [...rules, ...ordered]
}
