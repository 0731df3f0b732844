import { toToolError } from '../../core/errors.ts'
import { type Graph, toGraph } from './graph.ts'
import type { Pipeline, Step } from './pipeline.ts'
import { referencesIn } from './values.ts'

export interface PipelineFacts {
  hasTool(name: string): boolean
  hasPanel(name: string): boolean
  /** A tool whose results come from outside. */
  isUntrustedSource(tool: string): boolean
  isHighRisk(tool: string): boolean
}

/** Everything that is wrong with a pipeline, one sentence each, before anything of it runs. */
export function checkPipeline(pipeline: Pipeline, facts: PipelineFacts): string[] {
  const ids = pipeline.steps.map(({ id }) => id)
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index)
  const ends = pipeline.edges.flatMap(({ from, to }) => [from, to]).filter(id => !ids.includes(id))
  const problems = [
    ...[...new Set(twice)].map(id => `Two steps have the id '${id}'.`),
    ...[...new Set(ends)].map(id => `An edge names the step '${id}', which does not exist.`),
  ]
  if (problems.length > 0) return problems
  const graph = toGraph(pipeline)
  if (graph.cyclic.length > 0) {
    return [
      `The steps ${graph.cyclic.join(', ')} form a cycle without a limit. Give the edge back a max_retries.`,
    ]
  }
  return pipeline.steps.flatMap(step => [
    ...checkKind(step, facts),
    ...checkReferences(step, pipeline, graph),
    ...checkFlow(step, pipeline, graph, facts),
  ])
}

function checkKind({ id, tool, panel }: Step, { hasTool, hasPanel }: PipelineFacts): string[] {
  if (tool !== undefined && !hasTool(tool)) return [`Step '${id}': there is no tool '${tool}'.`]
  if (panel !== undefined && !hasPanel(panel)) return [`Step '${id}': there is no panel '${panel}'.`]
  return []
}

function checkReferences(step: Step, { input }: Pipeline, graph: Graph): string[] {
  const earlier = before(step.id, graph)
  try {
    return referencesIn([step.args, step.vars, step.prompt, step.text]).flatMap(([root, name = '']) => {
      if (root === 'input' && !Object.hasOwn(input, name))
        return [`Step '${step.id}': there is no input '${name}'.`]
      if (root === 'steps' && !earlier.has(name))
        return [`Step '${step.id}': '${name}' does not run before it, so its output is not there.`]
      return []
    })
  } catch (error) {
    return [`Step '${step.id}': ${toToolError(error).message}`]
  }
}

/** What a page says must not decide what a risky tool does without anybody looking. */
function checkFlow(step: Step, { steps }: Pipeline, graph: Graph, facts: PipelineFacts): string[] {
  if (step.tool === undefined || step.gate !== undefined || !facts.isHighRisk(step.tool)) return []
  const earlier = before(step.id, graph)
  const source = steps.find(
    ({ id, tool }) => earlier.has(id) && tool !== undefined && facts.isUntrustedSource(tool),
  )
  if (source === undefined) return []
  return [
    `Step '${step.id}' acts on what '${source.id}' brings in from outside. Add gate = "approval" to it.`,
  ]
}

function before(id: string, { incoming }: Graph): Set<string> {
  const found = new Set<string>()
  const open = [id]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { from } of incoming.get(next) ?? []) {
      if (found.has(from)) continue
      found.add(from)
      open.push(from)
    }
  }
  return found
}
