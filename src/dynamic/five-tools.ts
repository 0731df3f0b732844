import * as z from 'zod'
import { type AnyTool, defineTool, type ToolContext } from '../core/tool.ts'
import { createdText, improvements, listText, recommendations } from './catalogue/layouts.ts'
import { accessOf } from './code-access.ts'
import type { NewTool } from './create.ts'
import {
  type Capabilities,
  type DynamicTool,
  describeWishes,
  PARAMETER_TYPES,
  type ToolParameterDefinition,
} from './definition.ts'
import { type DynamicParts, MOST_TIMEOUT_MS } from './parts.ts'
import { refusal } from './refusal.ts'
import { metricsOf, type StoredTool } from './store.ts'

export function dynamicTools(parts: DynamicParts): AnyTool[] {
  return [createTool(parts), runTool(parts), listTools(parts), deleteTool(parts), reflectionTool(parts)]
}

const parameterSchema = () =>
  z.strictObject({
    type: z.enum(PARAMETER_TYPES).describe('Type of the value.'),
    description: z.string().default('').describe('What it is for.'),
    default: z.unknown().optional().describe('Used when none is given.'),
    enum: z.array(z.unknown()).optional().describe('Allowed values.'),
    minimum: z.number().optional().describe('For numbers.'),
    maximum: z.number().optional().describe('For numbers.'),
    required: z.boolean().default(false),
  })

type ParameterInput = z.output<ReturnType<typeof parameterSchema>>

const createInput = () =>
  z.object({
    name: z.string().describe('Starts with a letter; letters, digits, underscores and hyphens only.'),
    description: z.string().describe('What the tool does.'),
    code: z
      .string()
      .describe(
        'TypeScript or JavaScript that defines execute(params). It runs in an isolate: no files, no processes, no modules; fetch asks for each host that `network` does not name.',
      ),
    parameters: z.record(z.string(), parameterSchema()).optional().describe('Parameter definitions by name.'),
    tags: z.array(z.string().max(64)).max(20).optional().describe('Tags for finding it.'),
    generated_from: z.string().optional().describe('Where it comes from, such as a task description.'),
    network: z
      .array(z.string().min(1))
      .max(50)
      .optional()
      .describe('Hosts that fetch may contact: example.com, *.example.com.'),
    read: z
      .array(z.string().min(1))
      .max(50)
      .optional()
      .describe('Globs of workspace files that kogu.readFile may read.'),
    tools: z
      .array(z.string().min(1))
      .max(50)
      .optional()
      .describe('Tools that kogu.callTool may call; each call is still judged by itself.'),
    examples: z
      .array(z.strictObject({ parameters: z.record(z.string(), z.unknown()), result: z.unknown() }))
      .max(50)
      .optional()
      .describe('Calls and the results they must give; they are run as tests.'),
  })

type CreateInput = z.output<ReturnType<typeof createInput>>

/** As `summaryOf` makes it. */
const ABOUT_TOOL = {
  id: { type: 'string' },
  name: { type: 'string' },
  description: { type: 'string' },
  parameters: { type: 'array', items: { type: 'object' } },
  verificationStatus: { type: 'string' },
  confidenceScore: { type: 'number' },
  safety: { type: 'object' },
  quality: { type: 'object' },
}

const HIGH_STAKES = /delete|production|security|migration|permission|deploy|billing|force/gi

function createTool(parts: DynamicParts): AnyTool {
  return defineTool({
    name: 'create_tool',
    title: 'Make a tool',
    description:
      'Make a new tool from TypeScript or JavaScript code. It is analysed, runs only in an isolate, and can be called at once under its own name or with run_dynamic_tool.',
    category: 'Execution',
    risk: 'high',
    input: createInput,
    output: ABOUT_TOOL,
    // What cannot be made is refused before anybody is asked. Nothing is on record yet.
    async access(input) {
      const { buildTool } = await import('./create.ts')
      await buildTool({ ...toNewTool(input), createdBy: 'user' }, { ...parts, note: () => undefined })
      const details = describeWishes(input.name, capabilitiesOf(input))
      return [{ kind: 'custom', name: 'create_tool', details }]
    },
    preview: input => `${describeWishes(input.name, capabilitiesOf(input))}\n\n${input.code}`,
    async run(input, context) {
      // The parser is loaded with the first tool that is made.
      const { buildTool } = await import('./create.ts')
      const createdBy = context.run.authority.agent ?? 'user'
      const built = await buildTool({ ...toNewTool(input), createdBy, createdIn: context.run.id }, parts)
      return await saveCreated(built, context, parts)
    },
  })
}

function toNewTool(input: CreateInput): Omit<NewTool, 'createdBy'> {
  return {
    name: input.name,
    description: input.description,
    code: input.code,
    parameters: toParameters(input.parameters ?? {}),
    tags: input.tags ?? [],
    ...(input.generated_from === undefined ? {} : { generatedFrom: input.generated_from }),
    capabilities: capabilitiesOf(input),
    examples: input.examples ?? [],
  }
}

async function saveCreated(built: DynamicTool, context: ToolContext, parts: DynamicParts) {
  const { texts } = parts
  const { verifyTool } = await import('./verify.ts')
  const { tool, passed, total, failures } = await verifyTool(built, context, parts)
  // Whoever is told of the tool can call it.
  await parts.store.save(tool)
  const stakes = `${tool.name} ${tool.description}`.match(HIGH_STAKES)
  parts.note('tool.create', {
    toolId: tool.id,
    toolName: tool.name,
    actor: tool.createdBy,
    success: true,
    safety: tool.safety.score,
    quality: tool.quality.score,
    capabilities: tool.capabilities,
    ...(stakes === null ? {} : { warning: `high stakes: ${[...new Set(stakes)].join(', ')}` }),
  })
  const notes = [
    ...(total === 0 ? [] : [texts.examples(passed, total), ...failures.map(line => `- ${line}`)]),
    ...(tool.safety.isSafe ? [] : [texts.lowScore]),
    ...(parts.missingWall() === null ? [] : [texts.missingWall]),
  ]
  const isVerified = tool.verificationStatus === 'passed'
  return {
    text: createdText(tool, texts, isVerified, notes),
    data: {
      ...summaryOf(tool, texts),
      examples: { passed, total, failures },
    },
    label: { origin: 'kogu' as const, trusted: true },
  }
}

function capabilitiesOf({ network = [], read = [], tools = [] }: CreateInput): Capabilities {
  return { network: network.map(host => host.toLowerCase()), read, tools }
}

function toParameters(parameters: Readonly<Record<string, ParameterInput>>): ToolParameterDefinition[] {
  return Object.entries(parameters).map(([name, each]) => ({
    name,
    type: each.type,
    required: each.required,
    description: each.description,
    ...(each.default === undefined ? {} : { default: each.default }),
    ...(each.enum === undefined ? {} : { allowedValues: each.enum }),
    ...(each.minimum === undefined ? {} : { minimum: each.minimum }),
    ...(each.maximum === undefined ? {} : { maximum: each.maximum }),
  }))
}

interface Target {
  readonly tool_id?: string | undefined
  readonly tool_name?: string | undefined
}

const target = {
  tool_id: z.string().optional().describe('Id of the tool, such as dt_abc123def456.'),
  tool_name: z.string().optional().describe('Name of the tool, instead of tool_id.'),
}

function find({ tool_id, tool_name }: Target, parts: DynamicParts): StoredTool {
  const { errors } = parts.texts
  if (!tool_id && !tool_name) throw refusal(parts, errors.noTarget)
  const found = lookUp({ tool_id, tool_name }, parts)
  if (found === undefined)
    throw refusal(parts, errors.notFound(tool_id || tool_name || ''), {
      code: 'not_found',
      remedy: 'notFound',
    })
  return found
}

function lookUp({ tool_id, tool_name }: Target, parts: DynamicParts): StoredTool | undefined {
  const stored = parts.store.list()
  if (tool_id) return stored.find(({ tool }) => tool.id === tool_id)
  return stored.find(({ tool }) => tool.name.toLowerCase() === tool_name?.toLowerCase())
}

function runTool(parts: DynamicParts): AnyTool {
  const tool = defineTool({
    name: 'run_dynamic_tool',
    title: 'Run a dynamic tool',
    description: 'Run a tool that was made with create_tool, by its id or name.',
    category: 'Execution',
    risk: 'high',
    input: () =>
      z.object({
        ...target,
        parameters: z.record(z.string(), z.unknown()).describe('Values for its parameters.'),
        timeout_ms: z
          .int()
          .min(1)
          .max(MOST_TIMEOUT_MS)
          .optional()
          .describe('Time limit in milliseconds. Defaults to 30000, at most 60000.'),
      }),
    output: {
      tool_id: { type: 'string' },
      tool_name: { type: 'string' },
      value: {},
      logs: { type: 'array', items: { type: 'string' } },
      ms: { type: 'integer' },
    },
    // What does not exist touches nothing; the call says so.
    access: input => {
      const found = lookUp(input, parts)
      return found === undefined
        ? [{ kind: 'custom', name: 'isolated_code', details: 'no tool' }]
        : accessOf(found.tool, parts)
    },
    async run({ parameters, timeout_ms, ...wanted }, context) {
      const found = find(wanted, parts)
      const [{ missingParameters }, { runByName }] = await Promise.all([
        import('./parameters.ts'),
        import('./created-tool.ts'),
      ])
      const missing = missingParameters(found.tool.parameters, parameters)
      if (missing.length > 0)
        throw refusal(parts, parts.texts.errors.missing(missing.join(', ')), { remedy: 'missing' })
      return await runByName(found, parameters, context, parts, timeout_ms)
    },
  })
  return { ...tool, isIsolated: true }
}

const DEFAULT_LIMIT = 20

function listTools(parts: DynamicParts): AnyTool {
  return defineTool({
    name: 'list_dynamic_tools',
    title: 'List dynamic tools',
    description: 'List the tools that were made with create_tool.',
    category: 'ReadOnly',
    risk: 'low',
    input: () =>
      z.object({
        name: z.string().optional().describe('Part of the name.'),
        tags: z.array(z.string()).optional().describe('Only tools with one of these tags.'),
        min_safety_score: z.number().min(0).max(1).optional().describe('Minimum safety score, 0.0 to 1.0.'),
        limit: z
          .int()
          .min(1)
          .default(DEFAULT_LIMIT)
          .describe('Maximum number of tools to list. Defaults to 20.'),
      }),
    output: {
      count: { type: 'integer' },
      total: { type: 'integer' },
      tools: { type: 'array', items: { type: 'object', properties: ABOUT_TOOL } },
    },
    access: () => [],
    async run({ name, tags, min_safety_score: least = 0, limit }) {
      const all = parts.store.list().map(({ tool }) => tool)
      const found = all
        .filter(tool => name === undefined || tool.name.toLowerCase().includes(name.toLowerCase()))
        .filter(tool => tags === undefined || tags.length === 0 || tags.some(tag => tool.tags.includes(tag)))
        .filter(tool => tool.safety.score >= least)
      const shown = found.slice(0, limit)
      return {
        text:
          found.length === 0 && all.length > 0
            ? parts.texts.noMatch
            : listText(shown, found.length - shown.length, parts.texts),
        data: {
          count: shown.length,
          total: found.length,
          tools: shown.map(tool => summaryOf(tool, parts.texts)),
        },
        label: { origin: 'kogu', trusted: false },
      }
    },
  })
}

function deleteTool(parts: DynamicParts): AnyTool {
  return defineTool({
    name: 'delete_dynamic_tool',
    title: 'Delete a dynamic tool',
    description: 'Delete a tool that was made with create_tool.',
    category: 'Execution',
    risk: 'high',
    input: () => z.object({ ...target, confirm: z.boolean().optional().describe('Must be true.') }),
    output: { tool_id: { type: 'string' }, tool_name: { type: 'string' } },
    access({ confirm, ...wanted }) {
      if (confirm !== true) throw refusal(parts, parts.texts.errors.confirm, { remedy: 'confirm' })
      const { id, name } = find(wanted, parts).tool
      return [{ kind: 'custom', name: 'delete_dynamic_tool', details: `the tool '${name}' (${id})` }]
    },
    async run(wanted) {
      const { id, name } = find(wanted, parts).tool
      await parts.store.remove(id)
      parts.note('tool.delete', { toolId: id, toolName: name, success: true })
      return {
        text: parts.texts.deleted(name, id),
        data: { tool_id: id, tool_name: name },
        label: { origin: 'kogu', trusted: true },
      }
    },
  })
}

const REFLECTION = {
  outcome: { type: 'string', enum: ['create', 'improve', 'continue'] },
  reasons: { type: 'array', items: { type: 'string' } },
  failures: { type: 'integer' },
  reusable: { type: 'boolean' },
  existing: { type: 'array', items: { type: 'string' } },
  proposal: { type: 'object' },
}

function reflectionTool(parts: DynamicParts): AnyTool {
  return defineTool({
    name: 'tool_reflection',
    title: 'Reflect on tools',
    description:
      'After a task: says whether a new tool would help, from what this run did and from the task.',
    category: 'ReadOnly',
    risk: 'low',
    input: () =>
      z.object({
        task_description: z.string().describe('The task at hand.'),
        last_tool_result: z.string().describe('Result of the last tool.'),
        failed_attempts: z.int().min(0).optional().describe('How many attempts failed.'),
      }),
    output: REFLECTION,
    access: () => [],
    async run({ task_description: task, last_tool_result: lastResult, failed_attempts }, context) {
      const { reflect, reflectionText } = await import('./reflection.ts')
      const result = reflect(
        {
          task,
          lastResult,
          ...(failed_attempts === undefined ? {} : { failedAttempts: failed_attempts }),
          history: await parts.history(context.run.id),
          tools: parts.store.list().map(({ tool }) => tool),
          threshold: parts.settings.failures,
        },
        parts.texts,
      )
      return {
        text: reflectionText(task, result, parts.texts),
        data: result,
        label: { origin: 'kogu', trusted: true },
      }
    },
  })
}

/** The structured form: everything about a tool but its code's other versions. */
function summaryOf(tool: DynamicTool, texts: DynamicParts['texts']): Record<string, unknown> {
  const { script: _script, previous, runs: _runs, ...rest } = tool
  return {
    ...rest,
    safety: { ...tool.safety, recommendations: recommendations(tool.safety, texts) },
    quality: { ...tool.quality, improvements: improvements(tool.quality, texts) },
    versions: previous.length + 1,
    metrics: metricsOf(tool),
  }
}
