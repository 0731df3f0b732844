import * as z from 'zod'
import { ToolError, toToolError } from '../core/errors.ts'
import { Pending } from '../core/obtain-approval.ts'
import type { JsonSchema } from '../core/schema.ts'
import { type AnyTool, defineTool, type Label, type ToolContext, type ToolOutput } from '../core/tool.ts'

/** What the three tools do. `context` says for which run, and by which call. */
export interface SubAgents {
  create(settings: SubAgentSettings, context: ToolContext): Promise<{ agent_id: string; name: string }>
  execute(order: ExecuteOrder, context: ToolContext): Promise<Executed>
  result(execution: string, context: ToolContext): Promise<ExecutionResult>
}

export interface ExecuteOrder {
  readonly agent: string
  readonly input: string
  /** It only reads, and hands back nothing but data of this shape. */
  readonly outputSchema?: JsonSchema
}

export interface SubAgentSettings {
  readonly name: string
  readonly description: string
  readonly system_prompt: string
}

export interface Executed {
  readonly execution_id: string
  readonly status: string
  readonly output: string
  /** Of what the child has seen, the least trusted: its words are no better than what it read. */
  readonly label: Label
}

export interface ExecutionResult {
  readonly execution_id: string
  readonly agent_id: string
  readonly status: string
  readonly output: string | null
  readonly error: string | null
  readonly duration_ms: number | null
}

export const SUB_AGENT_TOOLS: ReadonlySet<string> = new Set([
  'create_sub_agent',
  'execute_sub_agent',
  'get_sub_agent_result',
])

/** What an orchestrator is told besides its own prompt. */
export const ORCHESTRATION_PROMPT = [
  'You can have parts of the task done by sub-agents. Split the task where parts are independent, give each part to a sub-agent with everything it needs to know, and merge the results into one answer. Do small things yourself.',
  '- create_sub_agent: describes a new sub-agent by name, description and system prompt.',
  '- execute_sub_agent: runs it with an input and waits for its answer. Several calls in one answer run side by side.',
  '- get_sub_agent_result: looks an earlier execution up again.',
  'A sub-agent sees nothing of this conversation, and it may do at most what you may do.',
  'Read pages and other foreign text through a sub-agent with output_schema: it can only read, and you get data of that shape instead of the text.',
].join('\n')

const MOST_INPUT_BYTES = 200_000

const OURS: Label = { origin: 'kogu', trusted: true }
const text = () => z.string().min(1)

/** They change nothing themselves: whatever a sub-agent does is a call of its own, judged like any other. */
export function subAgentTools(subAgents: SubAgents): AnyTool[] {
  const create = defineTool({
    name: 'create_sub_agent',
    title: 'Create a sub-agent',
    description:
      'Create a sub-agent for one part of the task. It uses the same model. Returns its agent_id for execute_sub_agent.',
    category: 'Composite',
    risk: 'low',
    input: () =>
      z.object({
        name: text().max(100).describe('A short name'),
        description: text().max(2000).describe('What it is for'),
        system_prompt: text().max(100_000).describe('Instructions for its part of the task'),
      }),
    access: () => [],
    async run(input, context) {
      const created = await explained('Failed to create sub-agent', () => subAgents.create(input, context))
      return toOutput({ ...created, status: 'created' }, OURS)
    },
  })
  const execute = defineTool({
    name: 'execute_sub_agent',
    title: 'Run a sub-agent',
    description:
      'Run a sub-agent with an input and wait for its answer. Calls of one answer run side by side, as many as the configuration allows.',
    category: 'Composite',
    risk: 'low',
    parallel: true,
    input: () =>
      z.object({
        agent_id: text().describe('As create_sub_agent returned it'),
        input: text().describe('The task, with everything it needs to know'),
        output_schema: z
          .record(z.string(), z.unknown())
          .optional()
          .describe(
            'A JSON Schema of an object. The sub-agent then only reads, and its answer is this data or an error. With numbers, booleans and enums only, nothing of what it read comes back.',
          ),
      }),
    access: () => [],
    async run({ agent_id, input, output_schema }, context) {
      requireUuid('agent_id', agent_id)
      const { label, ...executed } = await explained('Execution failed', () => {
        const bytes = Buffer.byteLength(input)
        if (bytes > MOST_INPUT_BYTES)
          throw new ToolError(
            'invalid_input',
            `Input text too long (${bytes} bytes). Maximum is ${MOST_INPUT_BYTES} bytes.`,
          )
        const schema = output_schema === undefined ? {} : { outputSchema: output_schema }
        return subAgents.execute({ agent: agent_id, input, ...schema }, context)
      })
      return toOutput(executed, label)
    },
  })
  const result = defineTool({
    name: 'get_sub_agent_result',
    title: 'Look at a sub-agent’s result',
    description: 'Look up an earlier execution of one of your sub-agents.',
    category: 'ReadOnly',
    risk: 'low',
    parallel: true,
    input: () => z.object({ execution_id: text().describe('As execute_sub_agent returned it') }),
    access: () => [],
    async run({ execution_id }, context) {
      requireUuid('execution_id', execution_id)
      // Whatever it read entered this run too, when it was executed.
      return toOutput(
        await explained('Failed to get result', () => subAgents.result(execution_id, context)),
        OURS,
      )
    },
  })
  return [create, execute, result].map(tool => ({ ...tool, isPartOfKogu: true as const }))
}

function toOutput(data: object, label: Label): ToolOutput {
  return { text: JSON.stringify(data), data, label }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function requireUuid(name: string, value: string): void {
  if (!UUID.test(value)) throw new ToolError('invalid_input', `Invalid ${name}: ${value.slice(0, 100)}`)
}

async function explained<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // A call of the sub-agent waits for an answer, and so does this one.
    if (error instanceof Pending) throw error
    const { code, message, hint } = toToolError(error)
    throw new ToolError(code, `${what}: ${message}`, hint === undefined ? {} : { hint })
  }
}
