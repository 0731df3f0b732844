import * as z from 'zod'
import { ToolError } from '../../core/errors.ts'
import { type Condition, parseCondition } from './condition.ts'

// A pipeline as its file says it (`.kogu/pipelines/NAME.toml`), checked in shape. Whether its graph makes sense is
// check-pipeline.ts's question.

export interface Pipeline {
  readonly name: string
  readonly description: string
  readonly input: Readonly<Record<string, InputField>>
  readonly steps: readonly Step[]
  readonly edges: readonly Edge[]
}

type InputField = z.output<typeof inputField>
export type Step = z.output<typeof step>

export interface Edge {
  readonly from: string
  readonly to: string
  readonly when?: Condition
  /** On the way back to an earlier step: how often the loop may run. Otherwise: tries of `to` after it failed. */
  readonly maxRetries: number
  readonly retryDelayMs: number
  /** Summarise what `from` hands over instead of passing it on whole. */
  readonly summarize: boolean
  /** The panel whose model and prompt summarise. Defaults to the configured model. */
  readonly summarizer?: string
  /** `to` follows by itself when `from` is run alone and everything before it has an output. */
  readonly autoChain: boolean
}

const id = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{0,63}$/,
    'An id has lower-case letters, digits, - and _, and begins with a letter.',
  )

const inputField = z.strictObject({
  type: z.enum(['string', 'number', 'boolean']).default('string'),
  required: z.boolean().default(false),
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
  description: z.string().default(''),
})

const step = z
  .strictObject({
    id,
    title: z.string().optional(),
    tool: z.string().min(1).optional(),
    args: z.record(z.string(), z.unknown()).default({}),
    panel: z.string().min(1).optional(),
    prompt: z.string().optional(),
    vars: z.record(z.string(), z.unknown()).default({}),
    text: z.string().optional(),
    folder: z.string().min(1).optional(),
    retry: z.int().min(0).max(20).default(0),
    on_error: z.enum(['stop', 'continue']).default('stop'),
    gate: z.literal('approval').optional(),
  })
  .refine(
    value =>
      [value.tool, value.panel, value.text, value.folder].filter(kind => kind !== undefined).length === 1,
    {
      error: 'A step has exactly one of tool, panel, text and folder.',
    },
  )

const edge = z.strictObject({
  from: id,
  to: id,
  when: z.string().optional(),
  max_retries: z.int().min(0).max(20).default(0),
  retry_delay: z.int().min(1_000).default(1_000),
  summarize: z.boolean().default(false),
  summarizer: z.string().min(1).optional(),
  auto_chain: z.boolean().default(false),
})

const file = z.strictObject({
  name: id,
  description: z.string().default(''),
  input: z.record(z.string().regex(/^[A-Za-z_]\w*$/), inputField).default({}),
  step: z.array(step).min(1, 'A pipeline has at least one [[step]].').max(500),
  edge: z.array(edge).max(2_000).default([]),
})

/** Reads a parsed pipeline file. Durations come as milliseconds. */
export function toPipeline(value: unknown): Pipeline {
  const parsed = file.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const place = issue?.path.map(String).join('.') ?? ''
    throw new ToolError(
      'invalid_input',
      `The pipeline is not valid: ${place === '' ? '' : `${place}: `}${issue?.message ?? ''}`,
    )
  }
  const { name, description, input, step: steps, edge: edges } = parsed.data
  return {
    name,
    description,
    input,
    steps,
    edges: edges.length === 0 ? inFileOrder(steps) : edges.map(toEdge),
  }
}

function toEdge({ from, to, when, ...rest }: z.output<typeof edge>): Edge {
  return {
    from,
    to,
    ...(when === undefined ? {} : { when: parseCondition(when) }),
    maxRetries: rest.max_retries,
    retryDelayMs: rest.retry_delay,
    summarize: rest.summarize,
    ...(rest.summarizer === undefined ? {} : { summarizer: rest.summarizer }),
    autoChain: rest.auto_chain,
  }
}

function inFileOrder(steps: readonly Step[]): Edge[] {
  return steps.slice(1).map((to, index) => ({
    from: steps[index]?.id ?? '',
    to: to.id,
    maxRetries: 0,
    retryDelayMs: 1_000,
    summarize: false,
    autoChain: false,
  }))
}
