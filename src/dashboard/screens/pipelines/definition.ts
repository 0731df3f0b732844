import { type Changes, withChanges } from '../../components/saved/with-changes.ts'
import type { Definition, Edge, Step, StepRun } from './types.ts'

// Changes of a pipeline, as functions from one definition to the next. Keys that this does not know stay where they are.

/** The edges that count: those of the file, or from each step to the next. */
export function edgesOf({ step, edge = [] }: Definition): readonly Edge[] {
  return edge.length > 0 ? edge : inFileOrder(step)
}

/** All ways from step to step: the edges, and where conditions lead. */
export function flowOf(definition: Definition): readonly Edge[] {
  const branches = definition.step.flatMap(({ id: from, if_true: yes, if_false: no }) => [
    ...(yes === undefined ? [] : [{ from, to: yes, when: 'equals:true' }]),
    ...(no === undefined ? [] : [{ from, to: no, when: 'equals:false' }]),
  ])
  return [...edgesOf(definition), ...branches]
}

/** The same for a picture of it. */
export function waysOf(definition: Definition) {
  const at = new Map(definition.step.map(({ id }, index) => [id, index]))
  return flowOf(definition).map(({ from, to, when, max_retries = 0 }) => ({
    from,
    to,
    isDashed: max_retries > 0,
    isLoop: max_retries > 0 && (at.get(to) ?? 0) <= (at.get(from) ?? 0),
    ...(when === undefined ? {} : { label: when }),
  }))
}

/** Each step follows the one before it. What a condition leads to follows that alone, and behind it the ways join again. */
function inFileOrder(steps: readonly Step[]): Edge[] {
  const conditions = new Map(
    steps.flatMap(step =>
      [step.if_true, step.if_false].flatMap(to => (to === undefined ? [] : [[to, step] as const])),
    ),
  )
  const edges: Edge[] = []
  let ends: string[] = []
  for (const { id: to } of steps) {
    const condition = conditions.get(to)
    if (condition === undefined) {
      edges.push(...ends.map(from => ({ from, to })))
      ends = [to]
    } else {
      const hasBoth = condition.if_true !== undefined && condition.if_false !== undefined
      ends = [...ends.filter(end => !(hasBoth && end === condition.id)), to]
    }
  }
  return edges
}

export function hasOwnEdges({ edge = [] }: Definition): boolean {
  return edge.length > 0
}

/** Puts a step behind `after`, or first. It takes its place in the flow: what led on from there now leads on from it. */
export function insertStep(definition: Definition, after: string | null, step: Step): Definition {
  const index = definition.step.findIndex(({ id }) => id === after) + 1
  const steps = definition.step.toSpliced(index, 0, step)
  if (!hasOwnEdges(definition)) return { ...definition, step: steps }
  const next = definition.step[index]?.id
  const edges = edgesOf(definition)
  if (after === null)
    return withEdges({ ...definition, step: steps }, [
      ...(next === undefined ? [] : [{ from: step.id, to: next }]),
      ...edges,
    ])
  const through = edges.find(({ from, to }) => from === after && to === next)
  const rest = edges.filter(edge => edge !== through)
  const added =
    through === undefined || next === undefined
      ? [{ from: after, to: step.id }]
      : [
          { ...through, to: step.id },
          { from: step.id, to: next },
        ]
  return withEdges({ ...definition, step: steps }, [...rest, ...added])
}

/** What led to it leads on to what came after it. */
export function removeStep(definition: Definition, id: string): Definition {
  const steps = definition.step
    .filter(step => step.id !== id)
    .map(step =>
      withChanges(step, {
        ...(step.if_true === id ? { if_true: undefined } : {}),
        ...(step.if_false === id ? { if_false: undefined } : {}),
      }),
    )
  if (!hasOwnEdges(definition)) return { ...definition, step: steps }
  const edges = edgesOf(definition)
  const before = edges.filter(({ to, from }) => to === id && from !== id)
  const behind = edges.filter(({ from, to }) => from === id && to !== id)
  const kept = edges.filter(({ from, to }) => from !== id && to !== id)
  const bridges = before.flatMap(({ from }) =>
    behind
      .filter(({ to, max_retries = 0 }) => to !== from && max_retries === 0)
      .map(({ to }) => ({ from, to }))
      .filter(made => !kept.some(edge => edge.from === made.from && edge.to === made.to)),
  )
  return withEdges({ ...definition, step: steps }, [...kept, ...bridges])
}

export function moveStep(definition: Definition, id: string, by: number): Definition {
  const from = definition.step.findIndex(step => step.id === id)
  const to = Math.max(0, Math.min(definition.step.length - 1, from + by))
  const moved = definition.step[from]
  if (moved === undefined || to === from) return definition
  return { ...definition, step: definition.step.toSpliced(from, 1).toSpliced(to, 0, moved) }
}

/** `undefined` takes a key out. A new id is carried into edges and references. */
export function changeStep(definition: Definition, id: string, values: Changes<Step>): Definition {
  const step = definition.step.map(each => (each.id === id ? withChanges(each, values) : each))
  const changed = { ...definition, step }
  return values.id === undefined || values.id === id ? changed : renamed(changed, id, values.id)
}

function renamed(definition: Definition, before: string, now: string): Definition {
  const end = (id: string): string => (id === before ? now : id)
  const step = definition.step.map(each => {
    const other = renameReferences(each, before, now) as Step
    return {
      ...other,
      ...(other.if_true === undefined ? {} : { if_true: end(other.if_true) }),
      ...(other.if_false === undefined ? {} : { if_false: end(other.if_false) }),
    }
  })
  const edge = definition.edge?.map(each => ({ ...each, from: end(each.from), to: end(each.to) }))
  return { ...definition, step, ...(edge === undefined ? {} : { edge }) }
}

function renameReferences(value: unknown, before: string, now: string): unknown {
  if (typeof value === 'string') {
    const pattern = new RegExp(`(\\{\\{\\s*steps\\.)${before}(?=[.[\\s}])`, 'g')
    return value.replaceAll(pattern, `$1${now}`)
  }
  if (Array.isArray(value)) return value.map(item => renameReferences(item, before, now))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, renameReferences(item, before, now)]),
  )
}

/** Writes an edge down; those that were only implied by the order become explicit with it. */
export function setEdge(definition: Definition, index: number, edge: Edge | undefined): Definition {
  const edges = edgesOf(definition)
  const next =
    edge === undefined
      ? edges.toSpliced(index, 1)
      : edges.toSpliced(index, index < edges.length ? 1 : 0, edge)
  return withEdges(definition, next)
}

/** Back to the order of the list. */
export function dropEdges(definition: Definition): Definition {
  return withEdges(definition, [])
}

function withEdges(definition: Definition, edges: readonly Edge[]): Definition {
  const { edge: _before, ...rest } = definition
  return edges.length === 0 ? rest : { ...rest, edge: edges }
}

/** A name that no other step has, from what the step does. */
export function freshId({ step }: Definition, wish: string): string {
  const base =
    wish
      .toLowerCase()
      .replaceAll(/[^a-z0-9_-]+/g, '-')
      .replaceAll(/^[^a-z]+|-+$/g, '')
      .slice(0, 40) || 'step'
  const taken = new Set(step.map(({ id }) => id))
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`
    if (!taken.has(id)) return id
  }
}

export type StepKind = 'tool' | 'panel' | 'pipeline' | 'condition' | 'transform' | 'text' | 'folder'

export function kindOf(step: Step): StepKind {
  if (step.tool !== undefined) return 'tool'
  if (step.panel !== undefined) return 'panel'
  if (step.pipeline !== undefined) return 'pipeline'
  if (step.condition !== undefined) return 'condition'
  if (step.transform !== undefined) return 'transform'
  return step.folder === undefined ? 'text' : 'folder'
}

/** What a step does, on one line. */
export function summaryOf(step: Step): string {
  const each = step.for_each === undefined ? '' : `${step.for_each} → `
  return `${each}${workOf(step)}`
}

function workOf(step: Step): string {
  if (step.condition !== undefined) return [step.value, step.condition].filter(Boolean).join(' ')
  if (step.transform !== undefined)
    return typeof step.transform === 'string' ? step.transform : JSON.stringify(step.transform)
  if (step.pipeline !== undefined)
    return Object.entries(step.input ?? {})
      .map(([key, value]) => `${key} = ${String(value)}`)
      .join(' · ')
  if (step.tool !== undefined)
    return Object.entries(step.args ?? {})
      .map(([key, value]) => `${key} = ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(' · ')
  if (step.panel !== undefined)
    return (
      step.prompt ??
      Object.entries(step.vars ?? {})
        .map(([key, value]) => `${key} = ${String(value)}`)
        .join(' · ')
    )
  return step.text ?? step.folder ?? ''
}

/** Steps whose output is there when this one begins: all on the ways that lead to it. */
export function stepsBefore(definition: Definition, id: string): string[] {
  const edges = flowOf(definition)
  const found = new Set<string>()
  const open = [id]
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const { from, to } of edges) {
      if (to !== next || found.has(from)) continue
      found.add(from)
      open.push(from)
    }
  return definition.step.map(step => step.id).filter(step => found.has(step))
}

const PATH_KEY = /^[A-Za-z_][\w-]*$/

/** Paths into a value that a person could want, with what is there now: two levels deep, the first items of a list. */
export function pathsIn(value: unknown, prefix: string, depth = 0): { path: string; about: string }[] {
  if (typeof value !== 'object' || value === null || depth > 2) return []
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.slice(0, 2).map((item, index) => [`${prefix}[${index}]`, item])
    : Object.entries(value)
        .filter(([key]) => PATH_KEY.test(key))
        .slice(0, 20)
        .map(([key, item]) => [`${prefix}.${key}`, item])
  return entries.flatMap(([path, item]) => [
    { path, about: typeof item === 'string' ? item : (JSON.stringify(item) ?? '') },
    ...pathsIn(item, path, depth + 1),
  ])
}

/** The same of what a tool says that it hands over. A server of somebody else may have written it. */
export function pathsOfSchema(schema: unknown, prefix: string, depth = 0): { path: string; about: string }[] {
  if (!isTable(schema) || depth > 2) return []
  if (isTable(schema.items)) return pathsOfSchema(schema.items, `${prefix}[0]`, depth + 1)
  const fields = isTable(schema.properties) ? Object.entries(schema.properties) : []
  return fields
    .filter(([key]) => PATH_KEY.test(key))
    .slice(0, 20)
    .flatMap(([key, field]) => {
      const path = `${prefix}.${key}`
      const { description, type } = isTable(field) ? field : {}
      const about = [description, type].find(each => typeof each === 'string') ?? ''
      return [{ path, about: String(about) }, ...pathsOfSchema(field, path, depth + 1)]
    })
}

/**
 * What a step said, as its file can keep it: its data where another step names a part of that, else its text. Undefined: nothing was
 * said, or it would be read as a reference.
 */
export function pinOf(
  definition: Definition,
  id: string,
  { status, text, data }: StepRun,
): Step['rehearsal'] {
  const names = new RegExp(String.raw`\{\{\s*steps\.${id}(?!\.text\b|[\w-])`)
  const isData = isTable(data) && names.test(JSON.stringify(definition))
  const said = isData ? data : text
  return status !== 'done' || said === undefined || JSON.stringify(said).includes('{{') ? undefined : said
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
