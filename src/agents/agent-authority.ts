import * as z from 'zod'
import {
  type AuthorityWish,
  type CommandAuthority,
  type GitLevel,
  READING_COMMANDS,
} from '../core/authority.ts'
import type { Mode } from '../core/decision.ts'
import { ToolError } from '../core/errors.ts'

/** One row of `agent_tool_permissions`, one `[tools.NAME]` of a panel. */
export interface ToolSetting {
  readonly tool: string
  readonly enabled: boolean
  readonly config?: unknown
}

export interface AgentAuthorityOptions {
  readonly agent: string
  readonly mode?: Mode
  readonly tools: readonly ToolSetting[]
  readonly canonicalTool: (name: string) => string
}

/**
 * What the settings of an agent mean, for a new run and for one that goes on after an approval alike: the one function
 * that says so. What the settings leave out has the safe default of `agentWish`: no tool, `doc` to write in, reading
 * commands, git to look at.
 */
export function agentAuthority({ agent, mode, tools, canonicalTool }: AgentAuthorityOptions): AuthorityWish {
  const enabled = tools.filter(setting => setting.enabled)
  // An empty list means none; only where nothing is said the default holds.
  let folders: string[] | undefined
  let hosts: string[] | undefined
  let commands: CommandAuthority | undefined
  let git: GitLevel | undefined
  for (const { tool, config } of enabled) {
    const settings = parseSettings(tool, config)
    if (settings.allowed_dirs !== undefined) folders = [...(folders ?? []), ...settings.allowed_dirs]
    if (settings.allowed_hosts !== undefined) hosts = [...(hosts ?? []), ...settings.allowed_hosts]
    if (canonicalTool(tool) === 'run_command') commands = toCommands(settings)
    git = settings.git ?? git
  }
  return {
    agent,
    tools: enabled.map(({ tool }) => canonicalTool(tool)),
    ...(mode === undefined ? {} : { mode }),
    ...(folders === undefined ? {} : { writeScope: [...new Set(folders)] }),
    ...(hosts === undefined ? {} : { hosts: [...new Set(hosts)] }),
    ...(commands === undefined ? {} : { commands }),
    ...(git === undefined ? {} : { git }),
  }
}

function toCommands({ allowed_commands, profile, timeout_ms }: Settings): CommandAuthority {
  const timeout = timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }
  if (profile === 'shell') return { profile: 'shell', ...timeout }
  return { profile: 'restricted', allowed: allowed_commands ?? READING_COMMANDS, ...timeout }
}

const GIT_LEVELS: Readonly<Record<string, GitLevel>> = {
  disabled: 'disabled',
  readonly: 'read-only',
  readwrite: 'read-write',
}

const names = () => z.array(z.string().min(1))

/** `Disabled`, `ReadOnly`, `read-write`: as the tables and the configuration spell it. */
const gitLevel = () =>
  z
    .string()
    .transform(text => GIT_LEVELS[text.toLowerCase().replaceAll(/[-_]/g, '')])
    .refine(level => level !== undefined, 'Write Disabled, ReadOnly or ReadWrite.')

const settingsSchema = z.strictObject({
  allowed_dirs: names().optional(),
  allowed_commands: names().optional(),
  allowed_hosts: names().optional(),
  /** `shell`: whole command lines, analysed and asked about; otherwise one simple command of the list. */
  profile: z.enum(['restricted', 'shell']).optional(),
  git: gitLevel().optional(),
  timeout_ms: z.int().min(1).max(600_000).optional(),
})

export type Settings = z.output<typeof settingsSchema>

/** Other spellings of the same settings, as the requirements and older files have them. */
const ALIASES: Readonly<Record<string, string>> = {
  allowed_write_dirs: 'allowed_dirs',
  git_permission: 'git',
  permission: 'git',
  shell_timeout_ms: 'timeout_ms',
}

/** A misspelt setting would leave the agent with another authority than its author thinks. */
export function parseSettings(tool: string, config: unknown): Settings {
  if (config === undefined || config === null) return {}
  const named =
    typeof config === 'object'
      ? Object.fromEntries(Object.entries(config).map(([key, value]) => [ALIASES[key] ?? key, value]))
      : config
  const result = settingsSchema.safeParse(named)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new ToolError(
    'invalid_input',
    `Invalid settings for '${tool}': ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim(),
    { hint: `Known settings: ${Object.keys(settingsSchema.shape).join(', ')}.` },
  )
}
