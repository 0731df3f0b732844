import { toToolError } from '../../core/errors.ts'
import type { Panel } from '../panel.ts'
import { type Graph, loopMates, toGraph } from './graph.ts'
import type { Pipeline, Step } from './pipeline.ts'
import { referencesIn } from './values.ts'

/** What is known of a tool or a panel that a step uses. */
export interface WorkerFacts {
  /** What it says may come from outside. */
  readonly isUntrustedSource: boolean
  readonly isHighRisk: boolean
}

export interface PipelineFacts {
  tool(name: string): (WorkerFacts & { checkArgs(args: Step['args']): string | undefined }) | undefined
  panel(
    name: string,
  ): (WorkerFacts & Pick<Panel, 'kind'> & { readonly variables: readonly string[] }) | undefined
  /** What is wrong inside of it is said by whoever knows it. */
  pipeline(name: string): (WorkerFacts & { readonly input: Pipeline['input'] }) | undefined
}

/** Everything that is wrong with a pipeline, one sentence each, before anything of it runs. */
export function checkPipeline(pipeline: Pipeline, facts: PipelineFacts): string[] {
  const ids = pipeline.steps.map(({ id }) => id)
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index)
  const ends = pipeline.edges.flatMap(({ from, to }) => [from, to]).filter(id => !ids.includes(id))
  const problems = [
    ...[...new Set(twice)].map(id => `Two steps have the id '${id}'.`),
    ...[...new Set(ends)].map(id => `An edge or a condition names the step '${id}', which does not exist.`),
  ]
  if (problems.length > 0) return problems
  const graph = toGraph(pipeline)
  if (graph.cyclic.length > 0) {
    return [
      `The steps ${graph.cyclic.join(', ')} form a cycle without a limit. Set max_retries on the edge that leads back.`,
    ]
  }
  const loops = [...graph.loops.values()].flat().length
  if (loops > MOST_LOOPS)
    return [`There are ${loops} edges back to earlier steps; ${MOST_LOOPS} are allowed.`]
  const matesOf = loopMates(graph)
  return [
    ...pipeline.steps.flatMap(step => {
      const earlier = before([step.id], graph)
      const mates = matesOf(step.id)
      // In a loop, what stands behind it has spoken when it runs again.
      const spoken = new Set([...earlier, ...mates, ...before([...mates], graph)])
      return [
        ...checkKind(step, facts, earlier.size > 0),
        ...checkReferences(step, pipeline, new Set([...earlier, ...mates])),
        ...checkFlow(step, pipeline, spoken, facts),
      ]
    }),
    ...pipeline.edges.flatMap(({ from, to, summarize, summarizer }) =>
      summarize && summarizer !== undefined && facts.panel(summarizer)?.kind !== 'ai'
        ? [`The edge from '${from}' to '${to}': there is no panel '${summarizer}' with a model.`]
        : [],
    ),
  ]
}

const MOST_LOOPS = 50

function checkKind(step: Step, facts: PipelineFacts, hasEarlier: boolean): string[] {
  const { id, tool, panel, pipeline, args, vars, prompt } = step
  if (pipeline !== undefined) return checkInput(step, pipeline, facts)
  if (tool !== undefined) {
    const found = facts.tool(tool)
    if (found === undefined) return [`Step '${id}': there is no tool '${tool}'.`]
    const problem = found.checkArgs(args)
    return problem === undefined ? [] : [`Step '${id}': ${problem}`]
  }
  if (panel === undefined) return []
  const found = facts.panel(panel)
  if (found === undefined) return [`Step '${id}': there is no panel '${panel}'.`]
  // Without vars and prompt the outputs of the steps before it are its input.
  const hasInput = prompt !== undefined || (hasEarlier && Object.keys(vars).length === 0)
  const given = new Set([...Object.keys(vars), ...(hasInput ? ['input'] : [])])
  const missing = found.variables.filter(name => !given.has(name))
  const known = new Set([...found.variables, ...(prompt === undefined ? [] : usedVars(prompt))])
  const unused = Object.keys(vars).filter(name => !known.has(name))
  return [
    ...missing.map(name => `Step '${id}': the panel '${panel}' needs the variable '${name}'.`),
    ...unused.map(name => `Step '${id}': the panel '${panel}' has no variable '${name}'.`),
    ...(prompt !== undefined && found.kind !== 'ai' && !found.variables.includes('input')
      ? [`Step '${id}': the panel '${panel}' does not use {{input}}, so a prompt does nothing.`]
      : []),
  ]
}

function checkInput({ id, input }: Step, name: string, facts: PipelineFacts): string[] {
  const found = facts.pipeline(name)
  if (found === undefined) return [`Step '${id}': there is no pipeline '${name}'.`]
  const needed = Object.entries(found.input).filter(
    ([, field]) => field.required && field.default === undefined,
  )
  return [
    ...needed
      .filter(([key]) => !Object.hasOwn(input, key))
      .map(([key]) => `Step '${id}': the pipeline '${name}' needs '${key}'.`),
    ...Object.keys(input)
      .filter(key => !Object.hasOwn(found.input, key))
      .map(key => `Step '${id}': the pipeline '${name}' has no input '${key}'.`),
  ]
}

/** What `{{run.…}}` can name. */
const RUN_VALUES: ReadonlySet<string> = new Set(['id', 'date', 'month', 'week'])

function usedVars(prompt: string): string[] {
  return referencesIn(prompt).flatMap(([root, name]) => (root === 'vars' && name !== undefined ? [name] : []))
}

function checkReferences(step: Step, { input }: Pipeline, known: ReadonlySet<string>): string[] {
  try {
    const own = referencesIn([step.args, step.vars, step.prompt, step.input])
    const isAboutItems = own.some(([root]) => root === 'item' || root === 'index')
    if (step.for_each !== undefined && !isAboutItems)
      return [`Step '${step.id}' runs for each item but does not use {{item}}.`]
    const rest = referencesIn([
      ...[step.text, step.folder, step.value, step.transform, step.for_each, step.rehearsal],
    ])
    return [...own, ...rest].flatMap(([root, name = '']) => {
      if ((root === 'item' || root === 'index') && step.for_each === undefined)
        return [`Step '${step.id}': there is no ${root} without for_each.`]
      if (root === 'input' && !Object.hasOwn(input, name))
        return [`Step '${step.id}': there is no input '${name}'.`]
      if (root === 'steps' && !known.has(name))
        return [`Step '${step.id}': '${name}' does not run before it, so its output is not there.`]
      if (root === 'run' && !RUN_VALUES.has(name))
        return [`Step '${step.id}': of a run there are ${[...RUN_VALUES].join(', ')}, not '${name}'.`]
      return []
    })
  } catch (error) {
    return [`Step '${step.id}': ${toToolError(error).message}`]
  }
}

/** What a page says must not decide what a risky tool does without anybody looking. */
function checkFlow(
  step: Step,
  { steps }: Pipeline,
  spoken: ReadonlySet<string>,
  facts: PipelineFacts,
): string[] {
  const factsOf = (each: Step): WorkerFacts | undefined => workerOf(each, facts)
  if (step.gate !== undefined || factsOf(step)?.isHighRisk !== true) return []
  const source = steps.find(
    each => each.id !== step.id && spoken.has(each.id) && factsOf(each)?.isUntrustedSource === true,
  )
  if (source === undefined) return []
  return [
    `Step '${step.id}' acts on what '${source.id}' brings in from outside. Add gate = "approval" to it.`,
  ]
}

export function workerOf({ tool, panel, pipeline }: Step, facts: PipelineFacts): WorkerFacts | undefined {
  if (tool !== undefined) return facts.tool(tool)
  if (panel !== undefined) return facts.panel(panel)
  return pipeline === undefined ? undefined : facts.pipeline(pipeline)
}

function before(ids: readonly string[], { incoming }: Graph): Set<string> {
  const found = new Set<string>()
  const add = (step: string): void => {
    for (const { from } of incoming.get(step) ?? []) found.add(from)
  }
  ids.forEach(add)
  for (const each of found) add(each)
  return found
}
