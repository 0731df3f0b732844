import { variablesOf } from '../agents/panel.ts'
import {
  checkPipeline,
  type PipelineFacts,
  type WorkerFacts,
  workerOf,
} from '../agents/pipelines/check-pipeline.ts'
import type { Pipeline, Step } from '../agents/pipelines/pipeline.ts'
import { referencesIn } from '../agents/pipelines/values.ts'
import type { LoadedConfig } from '../config/load.ts'
import { toToolError } from '../core/errors.ts'
import { validateInput } from '../core/input.ts'
import type { Entry } from '../core/registry.ts'
import { toLine } from '../core/visible.ts'
import type { Runtime } from '../runtime.ts'
import { listPanels, readPanel } from '../store/runs/find-agent.ts'
import { problemOfLine } from './command-lines.ts'
import { listPipelines, readPipeline } from './files.ts'

/** Everything that is wrong with a pipeline here and now, without running it: its shape, its tools, the rules. */
export async function problemsOf(pipeline: Pipeline, runtime: Runtime): Promise<string[]> {
  return (await findProblems(pipeline, { runtime, within: [], known: new Map() })).problems
}

interface Around {
  readonly runtime: Runtime
  /** The pipelines that it is inside of. */
  readonly within: readonly string[]
  /** Each is looked at once, however often it is named: otherwise a few files could keep Kogu busy for good. */
  readonly known: Map<string, Promise<Found>>
}

interface Found {
  readonly problems: string[]
  /** 1 where it has no other one inside. */
  readonly height: number
}

async function findProblems(pipeline: Pipeline, around: Around): Promise<Found> {
  const { runtime, known } = around
  const within = [...around.within, pipeline.name]
  const circle = pipeline.steps.find(step => step.pipeline !== undefined && within.includes(step.pipeline))
  if (circle !== undefined) {
    const problem = toLine(`Step '${circle.id}': the pipelines ${within.join(', ')} contain each other.`)
    return { problems: [problem], height: 1 }
  }
  const tooDeep = `Pipelines are nested more than ${DEEPEST} deep.`
  if (within.length > DEEPEST) return { problems: [tooDeep], height: 1 }
  const inside: string[] = []
  let height = 1
  for (const { id, pipeline: name } of pipeline.steps) {
    if (name === undefined || !listPipelines(runtime.workspace).includes(name)) continue
    const found =
      known.get(name) ?? findProblems(readPipeline(runtime.workspace, name).pipeline, { ...around, within })
    known.set(name, found)
    const { problems: own, height: below } = await found
    inside.push(...own.map(problem => `Step '${id}': in the pipeline '${name}': ${problem}`))
    // It may have been looked at where it lies less deep.
    if (within.length + below > DEEPEST) inside.push(tooDeep)
    height = Math.max(height, below + 1)
  }
  const lines = pipeline.steps.flatMap(step => {
    const problem = problemOfLine(step, runtime.registry)
    return problem === undefined ? [] : [`Step '${step.id}': ${problem}`]
  })
  const problems = inside.length > 0 ? inside : [...checkPipeline(pipeline, factsFrom(runtime)), ...lines]
  const denied = problems.length > 0 ? [] : await findDenied(pipeline, runtime)
  // Names in it are whatever the file says: a line break in one must not begin a line of ours.
  return { problems: [...problems, ...denied].map(problem => toLine(problem)), height }
}

const DEEPEST = 5

function factsFrom(runtime: Runtime): PipelineFacts {
  const { registry, workspace } = runtime
  const panels = new Set(listPanels(workspace))
  const pipelines = new Set(listPipelines(workspace))
  const entry = (tool: string): Entry | undefined => registry.candidates(tool)[0]
  const toolFacts = (tool: string): WorkerFacts => ({
    isHighRisk: entry(tool)?.risk !== 'low',
    isUntrustedSource: isForeign(tool, entry(tool)),
  })
  const lookAtPanel = (name: string): ReturnType<PipelineFacts['panel']> => {
    const panel = readPanel(workspace, name)
    const own = (panel.kind === 'ai' ? panel.tools : [])
      .filter(({ enabled }) => enabled)
      .map(({ tool }) => toolFacts(tool))
    return {
      kind: panel.kind,
      variables: variablesOf(panel),
      isHighRisk: own.some(({ isHighRisk }) => isHighRisk),
      isUntrustedSource: own.some(({ isUntrustedSource }) => isUntrustedSource),
    }
  }
  // Each file is read once, however many steps name it.
  const knownPanels = new Map<string, ReturnType<PipelineFacts['panel']>>()
  const known = new Map<string, ReturnType<PipelineFacts['pipeline']>>()
  const facts: PipelineFacts = {
    tool(name) {
      const found = entry(name)
      if (found === undefined) return undefined
      return { ...toolFacts(name), checkArgs: args => checkArgs(found, args) }
    },
    panel(name) {
      if (!knownPanels.has(name)) knownPanels.set(name, panels.has(name) ? lookAtPanel(name) : undefined)
      return knownPanels.get(name)
    },
    pipeline(name) {
      if (!known.has(name))
        known.set(name, pipelines.has(name) ? lookInside(workspace, name, facts) : undefined)
      return known.get(name)
    },
  }
  return facts
}

/** `findProblems` has made sure that they do not contain each other. What stands behind a gate there needs none here. */
function lookInside(workspace: string, name: string, facts: PipelineFacts) {
  const { steps, input } = readPipeline(workspace, name).pipeline
  const own = steps.map(step => ({ ...workerOf(step, facts), gate: step.gate }))
  return {
    input,
    isHighRisk: own.some(({ isHighRisk, gate }) => isHighRisk === true && gate === undefined),
    isUntrustedSource: own.some(({ isUntrustedSource }) => isUntrustedSource === true),
  }
}

/** Tools of the web and of servers that belong to others. */
function isForeign(name: string, entry: Entry | undefined): boolean {
  return /^web_/.test(entry?.tool.name ?? name) || entry?.tool.label?.trusted === false
}

/** Values that come from references are not known yet; that they are there, and that nothing else is, can be said. */
function checkArgs({ tool }: Entry, args: Step['args']): string | undefined {
  try {
    validateInput(tool, args)
    return undefined
  } catch (error) {
    const { message } = toToolError(error)
    const isAboutNames = /(Missing required|Unknown) parameter/.test(message)
    return isAboutNames || referencesIn(args).length === 0 ? message : undefined
  }
}

/** Two values that have nothing in common: what is denied with both of them is denied whatever the value. */
const STAND_INS = ['a', 'kogu-stand-in/b.txt']

async function findDenied({ steps }: Pipeline, runtime: Runtime): Promise<string[]> {
  const problems: string[] = []
  for (const { id, tool, args } of steps) {
    if (tool === undefined) continue
    const reasons = await Promise.all(STAND_INS.map(text => reasonOfDenial(runtime, tool, args, text)))
    const [reason] = reasons
    if (reason !== undefined && reasons.every(each => each !== undefined))
      problems.push(`Step '${id}' will be denied: ${reason}`)
  }
  return problems
}

async function reasonOfDenial(
  runtime: Runtime,
  tool: string,
  args: Step['args'],
  standIn: string,
): Promise<string | undefined> {
  const input = withStandIns(args, standIn)
  try {
    const { decision, reasons, ref } = await runtime.explain({ tool, input })
    if (decision !== 'deny') return undefined
    return `${reasons[0] ?? 'by a rule'}${ref === null ? '' : ` (${ref.id})`}`
  } catch (error) {
    const { code, message } = toToolError(error)
    // A stand-in need not be a valid value.
    return code === 'not_enabled' || code === 'forbidden' ? message : undefined
  }
}

function withStandIns(value: unknown, standIn: string): unknown {
  if (typeof value === 'string') {
    if (referencesIn(value).length === 0) return value
    return value.replaceAll(/\{\{[^{}]*\}\}/g, standIn)
  }
  if (Array.isArray(value)) return value.map(item => withStandIns(item, standIn))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withStandIns(item, standIn)]))
}

/** What a person may have forgotten; it runs all the same. */
export function warningsOf({ steps }: Pipeline, { workspace }: Runtime, { config }: LoadedConfig): string[] {
  if (config.limits.max_cost !== undefined || config.limits.budget.day !== undefined) return []
  const known = new Set(listPanels(workspace))
  return steps.flatMap(({ id, panel }) => {
    const found = panel !== undefined && known.has(panel) ? readPanel(workspace, panel) : undefined
    if (found?.kind !== 'ai' || found.maxCostUsd !== undefined) return []
    return [
      toLine(
        `Step '${id}': the panel '${panel}' has no cost limit. Set max_cost under [limits] in it or in the configuration.`,
      ),
    ]
  })
}

/** What a person should know before steps are run a second time. */
export function describeRepeats({ steps }: Pipeline, repeats: readonly string[], runtime: Runtime): string[] {
  const facts = factsFrom(runtime)
  return steps
    .filter(({ id }) => repeats.includes(id))
    .flatMap(({ id, tool, panel, pipeline, args }) => {
      if (pipeline !== undefined) return [`${id}: what the pipeline '${pipeline}' does`]
      if (tool !== undefined && facts.tool(tool)?.isHighRisk !== false)
        return [`${id}: ${tool} ${JSON.stringify(withStandIns(args, '…'))}`]
      if (panel !== undefined && facts.panel(panel)?.isHighRisk !== false)
        return [`${id}: what the panel '${panel}' does with its tools`]
      return []
    })
    .map(line => toLine(line))
}
