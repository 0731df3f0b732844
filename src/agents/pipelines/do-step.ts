import { ToolError, toToolError } from '../../core/errors.ts'
import { fenceUntrusted } from '../../core/fence.ts'
import { holds, parseCondition } from './condition.ts'
import { type Graph, loopMates } from './graph.ts'
import { panelText } from './panel-text.ts'
import type { Step } from './pipeline.ts'
import type { StepOutcome } from './progress.ts'
import type { Memory, PipelineRun, PipelineWorkers } from './run-pipeline.ts'
import { transform } from './transform.ts'
import { fillIn, referencesIn, type Scope, type StepValue, toText, untrustedIn } from './values.ts'

// What one step of a pipeline does: its values are filled in, its gate is passed, and whoever does the work is told to.

export interface StepContext {
  readonly run: PipelineRun
  readonly graph: Graph
  readonly workers: PipelineWorkers
  /** Which try of which round it is. */
  readonly attempt: string
  readonly memory: Readonly<Memory>
  /** Written down before anything else happens. */
  remember(more: Partial<Memory>): Promise<void>
}

/** Undefined when it waits for somebody. */
export async function doStep(step: Step, context: StepContext): Promise<StepOutcome | undefined> {
  try {
    const scope = await scopeOf(step, context)
    return step.for_each === undefined
      ? await doOnce(step, scope, context)
      : await doForEach(step, step.for_each, scope, context)
  } catch (error) {
    return { ok: false, error: toToolError(error).message, retryable: false }
  }
}

async function doOnce(step: Step, scope: Scope, context: StepContext): Promise<StepOutcome | undefined> {
  const { workers, attempt, memory, remember } = context
  const fill = (values: Record<string, unknown>) => fillIn(values, scope) as Record<string, unknown>
  const order = { step, run: memory.run, begun: (run: string) => remember({ run }) }
  const behindGate = (input: Record<string, unknown>, work: () => Promise<StepOutcome | undefined>) =>
    pass(step, input, context, work)
  const { rehearse } = workers
  if (step.rehearsal !== undefined && rehearse !== undefined) {
    const said = transform({}, fillIn(step.rehearsal, scope))
    return behindGate(asked(step, scope, workers), () => rehearse(step, said))
  }
  if (step.tool !== undefined)
    return workers.runTool(
      step,
      workers.fillArgs(step, (value, file) => fillIn(value, scope, { file })),
      attempt,
    )
  if (step.panel !== undefined) {
    const content = await workers.panelContent(step.panel)
    if (content?.kind === 'folder') {
      const { folder } = content
      return behindGate({ panel: step.panel, folder }, () => workers.readFolder({ ...step, folder }))
    }
    if (content !== undefined) {
      const value = panelText(step, content, scope, context.graph)
      return behindGate({ panel: step.panel, text: value.text }, async () => ({ ok: true, ...value }))
    }
    const vars = fillIn(step.vars, scope, { forModel: true }) as Record<string, unknown>
    const said =
      step.prompt === undefined ? '' : toText(fillIn(step.prompt, { ...scope, vars }, { forModel: true }))
    const prompt = [said, injected(step, scope, context.graph)].filter(part => part !== '').join('\n\n')
    return behindGate({ panel: step.panel, prompt, vars }, () => workers.runPanel({ ...order, prompt, vars }))
  }
  if (step.pipeline !== undefined) {
    const input = fill(step.input)
    const inputFrom = untrustedIn(step.input, scope)
    return behindGate({ pipeline: step.pipeline, input }, () =>
      workers.runPipeline({ ...order, input, inputFrom }),
    )
  }
  if (step.folder !== undefined) {
    const folder = String(fillIn(step.folder, scope))
    return behindGate({ folder }, () => workers.readFolder({ ...step, folder }))
  }
  const value = compute(step, scope, context.graph)
  const shown = { text: value.text }
  const untrusted = untrustedOf(step, scope, context.graph)
  const objection = step.quorum ? await workers.review?.(value.text) : undefined
  if (objection !== undefined) return { ok: false, error: objection, retryable: false }
  return behindGate(shown, async () => ({
    ok: true,
    ...value,
    ...(untrusted === undefined ? {} : { untrusted }),
  }))
}

/** What a rehearsed step would have done, for whoever stands at its gate. */
function asked(step: Step, scope: Scope, { fillArgs }: PipelineWorkers): Record<string, unknown> {
  const { tool, panel } = step
  if (tool === undefined) return { panel, vars: fillIn(step.vars, scope) }
  return { tool, args: fillArgs(step, (value, file) => fillIn(value, scope, { file })) }
}

/** A step that is asked about begins when somebody has said yes; what has begun is not asked about again. */
async function pass(
  step: Step,
  input: Record<string, unknown>,
  { workers, attempt, memory, remember }: StepContext,
  work: () => Promise<StepOutcome | undefined>,
): Promise<StepOutcome | undefined> {
  if (step.gate === undefined || memory.opened === true || memory.run !== undefined) return work()
  const answer = await workers.passGate(step, input, attempt)
  if (answer.kind === 'waits') return undefined
  if (answer.kind === 'closed') return { ok: false, error: answer.reason, retryable: false }
  await remember({ opened: true })
  return work()
}

const MOST_ITEMS = 100

/** One item after another. Each is written down when it is done, so that none is done twice. */
async function doForEach(
  step: Step,
  list: string,
  scope: Scope,
  context: StepContext,
): Promise<StepOutcome | undefined> {
  const { memory, remember, attempt, workers } = context
  const items = toItems(fillIn(list, scope))
  if (items.length > MOST_ITEMS)
    throw new ToolError('invalid_input', `There are ${items.length} items; a step takes ${MOST_ITEMS}.`)
  const { gate: _, ...alone } = step
  return pass(step, { for_each: items, each: shown(step, items, scope, workers) }, context, async () => {
    for (let index = memory.items?.length ?? 0; index < items.length; index += 1) {
      if (workers.signal.aborted) return undefined
      const each = { ...scope, each: { item: items[index], index, untrusted: untrustedIn(list, scope) } }
      const outcome = await doOnce(alone, each, { ...context, attempt: `${attempt}.${index}` })
      if (outcome === undefined) return undefined
      if (!outcome.ok) return { ...outcome, error: `Item ${index + 1} of ${items.length}: ${outcome.error}` }
      const { text, data, untrusted } = outcome
      const value = { text, data, ...(untrusted === undefined ? {} : { untrusted }) }
      await remember({ items: [...(memory.items ?? []), value], run: undefined })
    }
    const done = memory.items ?? []
    const foreign = done.find(({ untrusted }) => untrusted !== undefined)?.untrusted
    return {
      ok: true,
      text: done.map(({ text }) => text).join('\n\n'),
      data: { items: done },
      ...(foreign === undefined ? {} : { untrusted: foreign }),
    }
  })
}

const MOST_SHOWN = 200_000

/** What would be done with each item, as far as a person can read it. */
function shown(
  step: Step,
  items: readonly unknown[],
  scope: Scope,
  { fillArgs }: Pick<PipelineWorkers, 'fillArgs'>,
): unknown[] {
  const { tool, args, panel, prompt, pipeline, input } = step
  const what =
    tool !== undefined
      ? { tool, args }
      : panel === undefined
        ? { pipeline, input }
        : { panel, vars: step.vars }
  const filled = items.map((item, index) => {
    const each = { ...scope, each: { item, index } }
    if (tool !== undefined)
      return { tool, args: fillArgs(step, (value, file) => fillIn(value, each, { file })) }
    const values = fillIn(what, each) as Record<string, unknown>
    const vars = fillIn(step.vars, each) as Record<string, unknown>
    return prompt === undefined ? values : { ...values, prompt: fillIn(prompt, { ...each, vars }) }
  })
  return JSON.stringify(filled).length > MOST_SHOWN ? [what] : filled
}

/** A list as it is; a text is a JSON list, or has one item on each line. */
function toItems(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  if (typeof value !== 'string')
    throw new ToolError('invalid_input', 'for_each takes a list, or a text with one item on each line.')
  if (value.trimStart().startsWith('[')) {
    try {
      const parsed: unknown = JSON.parse(value)
      if (Array.isArray(parsed)) return parsed
    } catch {
      // It only looks like one: a line can begin with a bracket.
    }
  }
  return value.split('\n').flatMap(line => (line.trim() === '' ? [] : [line.trim()]))
}

/** Steps that nobody outside takes part in. */
function compute(step: Step, scope: Scope, graph: Graph): StepValue {
  if (step.condition !== undefined) {
    const before = (graph.incoming.get(step.id) ?? []).map(({ from }) => scope.steps[from]?.text ?? '')
    const text = step.value === undefined ? before.join('\n') : toText(fillIn(step.value, scope))
    const result = holds(parseCondition(step.condition), text)
    return { text: String(result), data: { holds: result } }
  }
  if (step.transform !== undefined) return transform(step, fillIn(step.transform, scope))
  return { text: String(fillIn(step.text ?? '', scope)), data: null }
}

/** Words of somebody else stay theirs when they are put in another form. */
function untrustedOf({ id, text, value, transform, condition }: Step, scope: Scope, graph: Graph) {
  const read = condition !== undefined && value === undefined ? (graph.incoming.get(id) ?? []) : []
  return untrustedIn([text, value, transform, ...read.map(({ from }) => `{{steps.${from}.text}}`)], scope)
}

const MOST_INJECTED = 180_000

/** What the steps right before it said, and in a loop what went wrong, for a panel that does not pick values by name. */
function injected({ id, vars, prompt = '' }: Step, { steps }: Scope, graph: Graph): string {
  const picks = referencesIn(prompt).some(([root]) => root === 'steps' || root === 'item')
  if (Object.keys(vars).length > 0 || picks) return ''
  const back = [...graph.loops.values()].flat().filter(({ to }) => to === id)
  const sources = new Set([...(graph.incoming.get(id) ?? []), ...back].map(({ from }) => from))
  let room = MOST_INJECTED - sources.size * MARKS
  const parts = [...sources].flatMap(from => {
    const { text: whole = '', untrusted } = steps[from] ?? {}
    if (whole === '') return []
    // Before it is marked: a mark that is cut off would leave whatever follows among the words from outside.
    const text = cut(whole, Math.max(0, room))
    room -= Buffer.byteLength(text)
    // Words from outside could otherwise end their part and speak as another step.
    const said = untrusted === undefined ? text : fenceUntrusted(text, `step ${from}`)
    return [`--- Output of step ${from} ---\n${said}\n--- End ---`]
  })
  return parts.join('\n\n')
}

/** More than what stands around the words of one step. */
const MARKS = 400

/** By bytes, and never through the middle of a character. */
function cut(text: string, most: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= most) return text
  let end = most
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return `${bytes.subarray(0, end).toString('utf8')}\n[${bytes.length - end} of ${bytes.length} bytes left out]`
}

/** What a step can name: everything that is done, summarised where an edge says so, and in a loop the round before. */
async function scopeOf({ id }: Step, { run, graph, workers }: StepContext): Promise<Scope> {
  const { input, inputFrom, about: values = {}, progress } = run
  const steps: Record<string, StepValue> = {}
  for (const mate of loopMates(graph)(id)) steps[mate] = progress.before?.[mate] ?? { text: '', data: null }
  for (const [name, step] of Object.entries(progress.steps)) {
    if (step.status === 'done') steps[name] = { text: step.text, data: step.data, untrusted: step.untrusted }
  }
  for (const { id: name, panel } of run.pipeline.steps) {
    const said = steps[name]
    if (panel !== undefined && said !== undefined) steps[name] = { ...said, isAnswer: true }
  }
  for (const edge of graph.incoming.get(id) ?? []) {
    const whole = steps[edge.from]
    if (edge.summarize && whole !== undefined)
      steps[edge.from] = { ...whole, text: await workers.summarize(edge, whole.text) }
  }
  return { input, inputFrom, steps, run: values }
}
