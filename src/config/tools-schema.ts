import * as z from 'zod'
import { READING_COMMANDS } from '../core/authority.ts'
import { duration, size, table } from './values.ts'

/** `[tools]`: which providers there are, custom tools, and one open table per tool. */
export function toolsSchema() {
  return z
    .object({
      providers: z
        .array(
          z.enum(['builtin', 'cli'], {
            error: 'The providers that can be named here are "builtin" and "cli".',
          }),
        )
        .optional()
        .describe('Which of "builtin" and "cli" are on; defaults to both'),
      suggest_enhanced_tools: z
        .boolean()
        .default(true)
        .describe('Suggest faster programs when they could be used'),
      budget: z
        .int()
        .min(0)
        .default(20_000)
        .describe(
          'Token budget for tool definitions; beyond it, tools of MCP servers are listed with one line each',
        ),
      builtin: table({ enabled: z.boolean().default(true) }),
      cli: table({
        enabled: z.boolean().default(true),
        aliases: z.record(z.string(), z.string()).default({}).describe('Tool name → program'),
      }),
      custom: z.record(z.string(), z.lazy(customToolSchema)).default({}),
      scripts: table({
        enabled: z.boolean().default(true),
        folders: z
          .array(z.string().min(1))
          .default([])
          .describe('Folders with scripts beside .kogu/scripts, relative to the workspace'),
      }),
      web_search: table({
        enabled: z.boolean().optional(),
        engine: z
          .union([searchEngine(), z.array(searchEngine()).min(1)], {
            error: 'Write "brave", "searxng" or "duckduckgo", or a list of them.',
          })
          .optional()
          .describe('Search engines in the order in which they are asked; defaults to those that are set up'),
        searxng_url: z
          .url({ protocol: /^https?$/ })
          .optional()
          .describe('Address of a SearXNG instance'),
        max_results: z.int().min(1).max(20).optional().describe('Number of results when a call names none'),
      }),
      dynamic: table({
        enabled: z.boolean().default(true).describe('Tools that models make'),
        max_tools: z.int().min(1).max(1000).default(100),
        timeout: duration().prefault('30s').describe('Time limit of a dynamic tool, at most 60 s'),
        memory: size()
          .prefault('128MB')
          .describe('Memory limit of a dynamic tool, buffers and strings included'),
        strict: z
          .boolean()
          .default(false)
          .describe('Findings count 1.5 times, and a score of 0.8 is required'),
        failures: z
          .int()
          .min(1)
          .default(3)
          .describe('Failed attempts after which tool_reflection recommends a tool'),
      }),
      self_eval: table({
        enabled: z.boolean().optional(),
        build: checkCommand(),
        lint: checkCommand(),
        type_check: checkCommand(),
        test: checkCommand(),
      }),
      run_command: table({
        enabled: z.boolean().optional(),
        profile: z
          .enum(['shell', 'restricted'])
          .default('shell')
          .describe('restricted: one simple command of allowed_commands, without a shell'),
        allowed_commands: z
          .array(z.string().regex(/^\S+$/, 'Write names of programs.'))
          .default([...READING_COMMANDS])
          .describe('Programs of the restricted profile'),
        timeout: duration().prefault('10m').describe('Time limit of one command'),
        max_output: size().prefault(30_000).describe('Bytes of each stream that a result shows'),
      }),
      mcp: table({
        enabled: z.boolean().default(true),
        servers: z.array(z.lazy(mcpServerSchema)).default([]),
      }),
    })
    .catchall(
      z.looseObject(
        { enabled: z.boolean().optional() },
        { error: 'Settings of a tool are a table: [tools.<name>].' },
      ),
    )
    .prefault({})
}

function searchEngine() {
  return z.enum(['brave', 'duckduckgo', 'searxng', 'searx'])
}

function checkCommand() {
  return z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('The program and its arguments; defaults to what the files of the project suggest')
}

function customToolSchema() {
  return z.strictObject({
    description: z.string(),
    command: z.string().min(1).describe('The command, with {parameter} where a value goes'),
    risk_level: z.enum(['low', 'high']).default('high'),
    overrides: z.string().optional().describe('The tool that this one replaces'),
    timeout: duration().optional(),
    working_dir: z.string().min(1).optional().describe('A folder in the workspace'),
    max_output: size().optional().describe('Bytes of each stream that a result shows'),
    env: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()).default({}),
    parameters: z
      .record(
        z.string().regex(/^[A-Za-z_]\w*$/, 'A parameter name has letters, digits and _.'),
        z.lazy(customParameterSchema),
      )
      .default({}),
  })
}

function customParameterSchema() {
  return z.strictObject({
    type: z.enum(['string', 'integer', 'number', 'boolean']).default('string'),
    description: z.string().default(''),
    required: z.boolean().default(true),
    default: z.union([z.string(), z.number(), z.boolean()]).optional(),
    enum: z
      .array(z.union([z.string(), z.number()]))
      .min(1)
      .optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
  })
}

/** `[[tools.mcp.servers]]` */
function mcpServerSchema() {
  return z.strictObject({
    name: z.string().min(1),
    command: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
  })
}

/** `[mcp.<name>]`. Command and url may come from different files, so that neither is required here. */
export function mcpSchema() {
  return z.record(z.string(), z.lazy(namedServerSchema)).default({})
}

function namedServerSchema() {
  return z.strictObject({
    enabled: z.boolean().default(true),
    command: z
      .union([z.string().min(1), z.array(z.string()).min(1)], {
        error: 'Write the program, or a list of the program and its arguments.',
      })
      .optional()
      .describe('The program of a server that Kogu starts'),
    args: z.array(z.string()).default([]).describe('Further arguments of the program'),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('Address of a server that runs elsewhere'),
    env: environmentValues(),
    headers: environmentValues(),
    cwd: z.string().min(1).optional().describe('Where it is started; defaults to the workspace'),
    start_timeout: duration().prefault('30s').describe('Time limit for starting'),
    timeout: duration().prefault('60s').describe('Time limit of a call without progress'),
    era: z
      .enum(['auto', 'legacy', 'modern'])
      .default('auto')
      .describe('Which protocol it speaks: 2026-07-28 (modern), or an older one'),
    sandbox: z.boolean().default(true).describe('Whether it is started in the sandbox'),
    workspace: z
      .enum(['read-only', 'layer'])
      .default('read-only')
      .describe('layer: each call may change the workspace, in a process of its own on a layer'),
    hosts: z.array(z.string().min(1)).default([]).describe('Hosts that it may contact from the sandbox'),
    write: z
      .array(z.string().min(1))
      .default([])
      .describe('Folders that it may change from the sandbox, without a record'),
    tools: table({
      on: z.array(z.string()).default([]).describe('Globs of the tools that are on; defaults to all'),
      off: z.array(z.string()).default([]).describe('Globs of tools that are off'),
    }),
    pin: z.string().optional().describe('Hash of the approved tool list; a change asks again'),
  })
}

function environmentValues() {
  return z
    .record(
      z.string(),
      z.union([z.string(), secretReference()], { error: 'Write a string or { env = "NAME" }.' }),
    )
    .default({})
}

/** Where a secret is; never the secret itself, which would end up in backups, screenshots and repositories. */
export function secretReference() {
  return z
    .strictObject(
      {
        env: z.string().min(1).optional(),
        file: z.string().min(1).optional(),
        keychain: z.string().min(1).optional(),
        command: z.array(z.string()).min(1).optional(),
      },
      { error: 'Say where the secret is instead of writing it here: { env = "NAME" } or { file = "PATH" }.' },
    )
    .refine(value => Object.values(value).filter(item => item !== undefined).length === 1, {
      error: 'Give exactly one of env, file, keychain and command.',
    })
}
