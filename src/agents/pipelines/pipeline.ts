import * as z from 'zod'
import { ToolError, toToolError } from '../../core/errors.ts'
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
  /** The pause before a try of `to`, or before a loop goes back to it. */
  readonly retryDelayMs?: number
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

/** What a step can be; it is exactly one of these. */
const KINDS = ['tool', 'panel', 'pipeline', 'folder', 'text', 'condition', 'transform'] as const

const step = z
  .strictObject({
    id,
    title: z.string().optional(),
    tool: z.string().min(1).optional(),
    args: z.record(z.string(), z.unknown()).default({}),
    /** What it says in a rehearsal, where nothing is called and no model asked: a text, or data. */
    rehearsal: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
    panel: z.string().min(1).optional(),
    prompt: z.string().optional(),
    vars: z.record(z.string(), z.unknown()).default({}),
    /** Another pipeline of the workspace, with values of its `[input]`. */
    pipeline: z.string().min(1).optional(),
    input: z.record(z.string(), z.unknown()).default({}),
    text: z.string().optional(),
    folder: z.string().min(1).optional(),
    /** Says `true` or `false` about `value`, or about what the steps right before it said. */
    condition: z.string().optional(),
    value: z.string().optional(),
    if_true: id.optional(),
    if_false: id.optional(),
    /** A value with references. `parse` reads a text, `where` keeps items of a list, `join` makes a text of it. */
    transform: z.unknown().optional(),
    parse: z.enum(['json', 'lines']).optional(),
    where: z.string().optional(),
    join: z.string().optional(),
    /** Once for each item of a list; `{{item}}` and `{{index}}` are what it is about. */
    for_each: z.string().optional(),
    retry: z.int().min(0).max(20).default(0),
    on_error: z.enum(['stop', 'continue']).default('stop'),
    /** What it says after it has failed for good, with `on_error = "continue"`: a text, or data. */
    default: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
    gate: z.literal('approval').optional(),
    /** The reviewers of the configuration, where there are any, look at its text before its gate; a no fails it. */
    quorum: z.boolean().default(false),
    /** How the dashboard shows what it hands over; what is handed over stays the same. */
    show: z.enum(['table', 'chart', 'diagram']).optional(),
  })
  .refine(value => KINDS.filter(kind => value[kind] !== undefined).length === 1, {
    error: `A step has exactly one of ${KINDS.slice(0, -1).join(', ')} and ${KINDS.at(-1)}.`,
  })
  .superRefine((value, context) => {
    if (value.default !== undefined && value.on_error !== 'continue')
      context.addIssue({ code: 'custom', path: ['default'], message: 'It goes with on_error = "continue".' })
    for (const [key, kinds] of Object.entries(BELONGS_TO)) {
      if (isGiven(Reflect.get(value, key)) && kinds.every(kind => value[kind] === undefined))
        context.addIssue({ code: 'custom', path: [key], message: `It goes with ${kinds.join(', ')}.` })
    }
  })

/** A key that does nothing is a mistake. */
const BELONGS_TO: Readonly<Record<string, readonly (typeof KINDS)[number][]>> = {
  args: ['tool'],
  rehearsal: ['tool', 'panel'],
  prompt: ['panel'],
  vars: ['panel'],
  input: ['pipeline'],
  value: ['condition'],
  quorum: ['text'],
  if_true: ['condition'],
  if_false: ['condition'],
  parse: ['transform'],
  where: ['transform'],
  join: ['transform'],
  for_each: ['tool', 'panel', 'pipeline'],
}

function isGiven(value: unknown): boolean {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return value !== undefined && value !== false && !isEmpty
}

/** A day. Also the longest that anything is waited for: a clock that was set back must not make years of it. */
export const LONGEST_DELAY_MS = 24 * 60 * 60_000

const edge = z.strictObject({
  from: id,
  to: id,
  when: z.string().optional(),
  max_retries: z.int().min(0).max(20).default(0),
  retry_delay: z.int().min(1_000, 'It is at least 1s.').max(LONGEST_DELAY_MS).optional(),
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

/** The file itself is wrong, whatever is asked of it. */
export class InvalidPipeline extends ToolError {
  constructor(message: string, hint?: string) {
    super('invalid_input', message, hint === undefined ? {} : { hint })
  }
}

/** Reads a parsed pipeline file. Durations come as milliseconds. */
export function toPipeline(value: unknown): Pipeline {
  const parsed = file.safeParse(value, { reportInput: true })
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, MOST_ISSUES).map(issue => describeIssue(issue, value))
    throw new InvalidPipeline(`The pipeline is not valid: ${issues.join('; ')}`)
  }
  const { name, description, input, step: steps, edge: edges } = parsed.data
  for (const { id: name, condition, where } of steps)
    for (const source of [condition, where]) if (source !== undefined) conditionOf(`step '${name}'`, source)
  const drawn = edges.length === 0 ? inFileOrder(steps) : edges.map(toEdge)
  return { name, description, input, steps, edges: [...drawn, ...branches(steps)] }
}

const MOST_ISSUES = 10

/** A step is named by its id, where it has one. */
function describeIssue(issue: z.core.$ZodIssue, value: unknown): string {
  const [list, index, ...rest] = issue.path.map(String)
  const owner = list === 'step' ? idSchema.safeParse(value).data?.step?.[Number(index)]?.id : undefined
  const keys = owner === undefined ? issue.path.map(String) : rest
  const place = [...(owner === undefined ? [] : [`step '${owner}'`]), keys.join('.')].filter(
    part => part !== '',
  )
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined
  if (isMissing) return `${place.join(': ')} is missing`
  return [...place, issue.message].join(': ')
}

/** As much of a file that is not valid as says which step is which. */
const idSchema = z.looseObject({
  step: z.array(z.looseObject({ id: z.string().optional().catch(undefined) }).catch({})).optional(),
})

function toEdge({ from, to, when, ...rest }: z.output<typeof edge>): Edge {
  return {
    from,
    to,
    ...(when === undefined ? {} : { when: conditionOf(`the edge from '${from}' to '${to}'`, when) }),
    maxRetries: rest.max_retries,
    ...(rest.retry_delay === undefined ? {} : { retryDelayMs: rest.retry_delay }),
    summarize: rest.summarize,
    ...(rest.summarizer === undefined ? {} : { summarizer: rest.summarizer }),
    autoChain: rest.auto_chain,
  }
}

function conditionOf(place: string, source: string): Condition {
  try {
    return parseCondition(source)
  } catch (error) {
    const { message, hint } = toToolError(error)
    throw new InvalidPipeline(`The pipeline is not valid: ${place}: ${message}`, hint)
  }
}

const PLAIN = { maxRetries: 0, summarize: false, autoChain: false }

/** `if_true` and `if_false` of conditions. */
function branches(steps: readonly Step[]): Edge[] {
  return steps.flatMap(({ id: from, if_true: yes, if_false: no }) => [
    ...(yes === undefined ? [] : [{ ...PLAIN, from, to: yes, when: parseCondition('equals:true') }]),
    ...(no === undefined ? [] : [{ ...PLAIN, from, to: no, when: parseCondition('equals:false') }]),
  ])
}

/** Each step follows the one before it. What a condition leads to follows that alone, and behind it the ways join again. */
function inFileOrder(steps: readonly Step[]): Edge[] {
  const edges: Edge[] = []
  const targets = new Map(
    steps.flatMap(({ id: from, if_true: yes, if_false: no }) =>
      [yes, no].flatMap(to => (to === undefined ? [] : [[to, from] as const])),
    ),
  )
  let ends: string[] = []
  for (const { id: to } of steps) {
    const from = targets.get(to)
    if (from === undefined) {
      edges.push(...ends.map(end => ({ ...PLAIN, from: end, to })))
      ends = [to]
    } else {
      const condition = steps.find(each => each.id === from)
      const hasBoth = condition?.if_true !== undefined && condition.if_false !== undefined
      ends = [...ends.filter(end => !(hasBoth && end === from)), to]
    }
  }
  return edges
}
