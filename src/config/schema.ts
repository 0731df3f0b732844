import * as z from 'zod'
import { MODES, type OrderedRules, permissionsSchema, type Rule } from './rule-schema.ts'
import { mcpSchema, secretReference, toolsSchema } from './tools-schema.ts'
import { duration, oneOrMore, size, table } from './values.ts'

/** What a file may say, with every default filled in and every unit converted. */
export type ParsedConfig = { [Name in SectionName]: z.output<ReturnType<(typeof SECTIONS)[Name]>> }

export type SectionName = keyof typeof SECTIONS

/** The whole configuration. Durations are in milliseconds, sizes in bytes. */
export type Config = Omit<ParsedConfig, 'permissions'> & {
  permissions: Omit<ParsedConfig['permissions'], 'rules' | 'rule' | 'default_action'> & {
    /** From all layers; the strictest match wins, whatever its layer. */
    rules: Rule[]
    /** One list per file that uses the ordered form. */
    ordered: OrderedRules[]
  }
}

/** The settings of one tool. Own properties only: a tool called `toString` has none. */
export function toolSettings(config: Config, tool: string): Readonly<Record<string, unknown>> {
  const settings: unknown = Object.hasOwn(config.tools, tool) ? config.tools[tool] : undefined
  return typeof settings === 'object' && settings !== null ? { ...settings } : {}
}

const built = new Map<string, z.ZodType>()

/** Undefined when there is no such section. */
export function sectionSchema(name: string): z.ZodType | undefined {
  const known = built.get(name)
  if (known !== undefined || !isSectionName(name)) return known
  const schema = SECTIONS[name]()
  built.set(name, schema)
  return schema
}

/** All sections as one schema; for editors. */
export function wholeSchema(): z.ZodType {
  return z.strictObject(Object.fromEntries(sectionNames().map(name => [name, SECTIONS[name]()])))
}

export function sectionNames(): SectionName[] {
  return Object.keys(SECTIONS).filter(isSectionName)
}

function isSectionName(name: string): name is SectionName {
  return Object.hasOwn(SECTIONS, name)
}

/**
 * One schema per section, each built when it is first needed: building all of them takes 10 ms, `kogu call` starts a
 * process each time, and most files use little of it. For the same reason, what may occur any number of times is `lazy`.
 */
const SECTIONS = {
  version: () => z.literal(1, { error: 'This Kogu reads version 1 of the configuration.' }).default(1),
  language: () => z.enum(['auto', 'en', 'ja', 'ko']).default('auto'),
  mode: () => z.enum(MODES).default('ask').describe('What runs without asking'),
  defaults: () =>
    table({
      provider: z.string().optional(),
      model: z.string().optional(),
      temperature: z.number().min(0).max(2).optional(),
      max_tokens: z.int().min(1).optional(),
      orchestration: z
        .enum(['none', 'auto', 'automatic', 'approval'])
        .default('none')
        .transform(value => (value === 'auto' ? 'automatic' : value)),
    }),
  limits: limitsSchema,
  providers: () => z.record(z.string(), z.lazy(providerSchema)).default({}),
  mcp: mcpSchema,
  tools: toolsSchema,
  read: () => z.looseObject({}).default({}).describe('Settings of the file-reading tools'),
  permissions: permissionsSchema,
  hooks: () => z.array(z.lazy(hookSchema)).default([]),
  quorum: quorumSchema,
  reviewers: reviewersSchema,
  agents: () =>
    table({
      max_depth: z.int().min(0).default(3),
      max_parallel: z.int().min(1).default(4),
      inherit: z.literal('narrow').default('narrow').describe('A child never has more than its parent'),
    }),
  sandbox: sandboxSchema,
  undo: () =>
    table({
      budget: size().prefault('1GB').describe('Disk space for undo; the oldest records are deleted first'),
      max_file_size: size().prefault('100MB').describe('Changes to larger files cannot be undone'),
    }),
  audit: () =>
    table({
      segment_size: size().prefault('16MB'),
      sync: z.enum(['batch', 'always']).default('batch').describe('When events are flushed to disk'),
    }),
  server: () =>
    table({
      host: z.string().min(1).default('127.0.0.1'),
      port: z.int().min(0).max(65_535).default(0).describe('0 picks a free port'),
      allowed_hosts: z.array(z.string()).default(['localhost', '127.0.0.1']),
      max_runs: z
        .int()
        .min(1)
        .max(1_000)
        .default(16)
        .describe('Runs that one worker works on at the same time'),
      max_runs_per_agent: z
        .int()
        .min(1)
        .max(1_000)
        .default(8)
        .describe('Runs of one agent at the same time, over all workers'),
      otlp_endpoint: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe('A collector of OpenTelemetry, such as http://127.0.0.1:4318, that gets spans of runs'),
    }),
  retention: () =>
    table({
      runs: duration().prefault('90d'),
      audit: duration().prefault('365d'),
      outputs_max_bytes: size().prefault(262_144),
    }),
  redaction: () =>
    table({
      patterns: z.array(z.string().min(1)).default([]).describe('Regular expressions (RE2)'),
    }),
  notify: () =>
    table({
      desktop: z.boolean().default(false),
      sound: z.boolean().default(false),
      command: z.array(z.string()).default([]).describe('Run when a question waits'),
      webhook: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe('Called when a question waits'),
    }),
  ui: () =>
    table({
      theme: z.enum(['system', 'light', 'dark']).default('system'),
      density: z.enum(['comfortable', 'compact']).default('comfortable'),
      enter_sends: z.boolean().default(false),
      shortcuts: z.boolean().default(true),
    }),
}

function limitsSchema() {
  return table({
    max_turns: z.int().min(1).default(30),
    max_time: duration().prefault('15m'),
    max_cost: z.number().min(0).optional().describe('USD per run'),
    max_tokens: z.int().min(1).optional(),
    max_calls: z.int().min(1).optional().describe('tool calls per run'),
    on_limit: z.enum(['stop', 'ask']).default('ask'),
    budget: table({
      day: z.number().min(0).optional().describe('USD'),
      month: z.number().min(0).optional().describe('USD'),
      warn_at: z.number().min(0).max(1).default(0.8),
    }),
  })
}

function providerSchema() {
  const price = z.strictObject({
    input: z.number().min(0),
    cached: z.number().min(0).optional(),
    output: z.number().min(0),
  })
  const model = z.strictObject({
    context: z.int().min(1).optional(),
    max_output: z.int().min(1).optional(),
    price: z
      .union([z.literal('unknown'), price], { error: 'Write "unknown" or { input = 0.0, output = 0.0 }.' })
      .default('unknown')
      .describe('USD per million tokens'),
  })
  return z.strictObject({
    kind: z.enum(['anthropic', 'openai', 'google', 'openai-compatible']).optional(),
    api_key: secretReference().optional(),
    base_url: z.url({ protocol: /^https?$/ }).optional(),
    models: z.record(z.string(), model).default({}),
  })
}

function hookSchema() {
  return z.strictObject({
    event: z.enum(['pre_tool_call', 'post_tool_call']),
    command: oneOrMore(z.string().min(1), 'Write the program and its arguments as a list of strings.').refine(
      words => words.length > 1 || !/\s/.test(words[0] ?? ''),
      {
        // No shell reads it, so that text with spaces would be the name of a program that does not exist.
        error: 'Write the program and its arguments as a list: ["program", "argument"].',
      },
    ),
    timeout: duration().prefault('10s'),
  })
}

function quorumSchema() {
  return table({
    rule: z
      .string()
      .regex(/^(?:majority|unanimous|at_?least:[1-9]\d{0,2}|percentage:\d{1,3}|\d{1,3}%)$/i, QUORUM_RULES)
      .default('majority'),
    min_models: z.int().min(1).default(2).describe('Minimum number of votes'),
    review: z
      .enum(['all', 'asked'])
      .default('all')
      .describe('all: every call of high risk; asked: only those that a person was asked about'),
    hil: z
      .enum(['interactive', 'auto_reject', 'auto_approve'])
      .default('interactive')
      .describe('What happens when too few reviewers voted; auto_approve never applies to high-risk calls'),
    approves: z
      .boolean()
      .default(false)
      .describe('What the rules ask about is put to the reviewers first; their approval is an answer'),
    veto: z.array(z.string()).default([]).describe('Reviewers whose rejection decides alone'),
    veto_for: z
      .array(z.string())
      .default([])
      .describe('Kinds of calls that one rejection stops: dangerous, a kind of access, a named effect'),
    ordinary: z
      .enum(['all', 'one'])
      .default('all')
      .describe(
        'one: a call that can be taken back needs one approval; where it is not given, all are asked',
      ),
    max_time: duration().prefault('60s').describe('Time limit for one verdict of all reviewers'),
    max_cost: z.number().min(0).optional().describe('Cost limit in USD for one verdict of all reviewers'),
    max_action_revisions: z.int().min(0).max(10).default(2),
    plan_review: z.boolean().default(true).describe('Review the plans of orchestrators before they run'),
    max_plan_revisions: z.int().min(0).max(10).default(3),
    final_review: z.boolean().default(false).describe('Review what a run reports when it ends'),
    level: z
      .enum(['solo', 'ensemble'])
      .default('solo')
      .describe('ensemble: every reviewer makes a plan first'),
    strategy: z
      .enum(['quorum', 'debate'])
      .default('quorum')
      .describe('debate: a second vote after a split one'),
    scope: z.enum(['full', 'fast', 'plan-only']).default('full'),
  })
}

const QUORUM_RULES = 'Write majority, unanimous, at_least:N, or a percentage such as "60%".'

function reviewersSchema() {
  return z
    .object({
      needed: z
        .int()
        .min(1)
        .optional()
        .describe('Approvals needed: the same as [quorum] rule = "at_least:N"'),
      on_deny: z
        .enum(['deny', 'human'])
        .default('deny')
        .describe('What a rejection means: the call is refused, or a person decides'),
      on_error: z
        .enum(['deny', 'abstain'])
        .default('abstain')
        .describe('How a reviewer that fails, times out or answers nonsense is counted'),
    })
    .catchall(z.lazy(reviewerSchema))
    .prefault({})
}

function reviewerSchema() {
  return z.strictObject(
    {
      kind: z.enum(['model', 'command']).default('model'),
      model: z.string().optional(),
      command: z.array(z.string()).min(1).optional(),
      timeout: duration().prefault('20s'),
      lookups: z
        .int()
        .min(0)
        .max(20)
        .default(0)
        .describe('How often a model may look at files before it votes'),
    },
    { error: 'A reviewer is a table: [reviewers.<name>].' },
  )
}

const HOSTS_WANTED = 'A host is a name such as "registry.npmjs.org" or "*.example.com".'

/** As in rules. An address with `https://` would never match a host, and nobody would notice. */
function hostPattern() {
  return z.string().regex(/^(?:\*|(?:\*\.)?[\w-]+(?:\.[\w-]+)*\.?)(?::\d+)?$/, HOSTS_WANTED)
}

/** Links and protected names are looked for when a command starts. */
function folderInside() {
  return z
    .string()
    .refine(
      path => path.split('/').every(name => !['', '.', '..', '~'].includes(name)) && !/[\\\0]/.test(path),
      'Write a folder inside the workspace, such as "dist" or "node_modules/.vite".',
    )
}

function sandboxSchema() {
  return table({
    required: z.boolean().default(false).describe('Refuse commands when no sandbox is available'),
    network: z
      .union([z.boolean(), z.array(hostPattern())], {
        error: `Write true, false or a list of hosts. ${HOSTS_WANTED}`,
      })
      .default(false)
      .describe('More hosts for approved commands; true: every public host'),
    memory: size().prefault('4GiB'),
    processes: z.int().min(1).default(512),
    cpu: duration().prefault('15m').describe('CPU time limit of one command'),
    file_size: size().prefault('4GiB').describe('Size limit of one file that a command writes'),
    writable_caches: z.array(z.string()).default(['~/.npm', '~/.cache']).describe('For approved commands'),
    background_write: z
      .array(folderInside())
      .default([])
      .describe('Folders of the workspace that background commands may change, without record and undo'),
    build_output: z
      .enum(['drop', 'keep', 'ask'])
      .default('drop')
      .describe(
        'What commands leave in build and cache folders that git ignores, where it would be asked about',
      ),
    env: z
      .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'Write names of variables.'))
      .default([
        'LANG',
        'LC_ALL',
        'LC_CTYPE',
        'TZ',
        'TERM',
        'COLORTERM',
        'NO_COLOR',
        'FORCE_COLOR',
        'CI',
        'USER',
      ])
      .describe('Variables that commands may see'),
  })
}
