import { ToolError } from '../../core/errors.ts'

// `{{input.topic}}`, `{{steps.search.results[0].title}}`, `{{run.week}}`: a path into what is there, and nothing else. No operators, no
// calls: a pipeline file is data that somebody else may have written.

export interface Scope {
  readonly input: Readonly<Record<string, unknown>>
  /** What each finished step produced. */
  readonly steps: Readonly<Record<string, StepValue>>
  readonly vars?: Readonly<Record<string, unknown>>
  /** Of the run itself: id, date, month, week. */
  readonly run?: Readonly<Record<string, unknown>>
}

export interface StepValue {
  readonly text: string
  readonly data: unknown
  /** Whose words are in it, when they are not those of the workspace. */
  readonly untrusted?: string | undefined
}

const REFERENCE = /\{\{\s*([^{}]*?)\s*\}\}/g
const PATH = /^(input|steps|vars|run)((?:\.[A-Za-z_][\w-]*|\[\d{1,6}\])+)$/

/** Every reference of a value with the step or input that it names, for checks before anything runs. */
export function referencesIn(value: unknown): string[][] {
  if (typeof value === 'string') return [...value.matchAll(REFERENCE)].map(match => toPath(match[1] ?? ''))
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(referencesIn)
}

/** Fills references in. A text that is only one reference becomes the value itself; inside a longer text it is written out. */
export function fillIn(value: unknown, scope: Scope): unknown {
  if (typeof value === 'string') {
    const [only, ...more] = value.matchAll(REFERENCE)
    if (only !== undefined && more.length === 0 && only[0] === value.trim())
      return lookUp(toPath(only[1] ?? ''), scope)
    return value.replaceAll(REFERENCE, (_, path: string) => toText(lookUp(toPath(path), scope)))
  }
  if (Array.isArray(value)) return value.map(item => fillIn(item, scope))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillIn(item, scope)]))
}

function toPath(source: string): string[] {
  const match = PATH.exec(source)
  if (match === null) {
    throw new ToolError('invalid_input', `{{${source}}} is not a reference.`, {
      hint: 'Write {{input.NAME}}, {{vars.NAME}}, {{run.date}} or {{steps.STEP.field}}; lists by [0].',
    })
  }
  return [match[1] ?? '', ...(match[2] ?? '').split(/[.[\]]+/).filter(part => part !== '')]
}

function lookUp([root = '', ...path]: readonly string[], scope: Scope): unknown {
  const { input, steps, vars = {}, run = {} } = scope
  let value: unknown =
    root === 'steps' ? stepRoot(path[0] ?? '', steps) : root === 'vars' ? vars : root === 'run' ? run : input
  for (const part of root === 'steps' ? path.slice(1) : path) {
    // Own properties only: `constructor` and `__proto__` are not values of anybody.
    const found = typeof value === 'object' && value !== null && Object.hasOwn(value, part)
    if (!found)
      throw new ToolError(
        'not_found',
        `{{${[root, ...path].join('.')}}} has no value: there is no '${part}'.`,
      )
    value = Reflect.get(value as object, part)
  }
  return value
}

/** `text` is always there; the fields of its data stand beside it. */
function stepRoot(id: string, steps: Scope['steps']): Record<string, unknown> {
  const step = Object.hasOwn(steps, id) ? steps[id] : undefined
  if (step === undefined) throw new ToolError('not_found', `Step '${id}' has no output.`)
  const fields =
    typeof step.data === 'object' && step.data !== null && !Array.isArray(step.data) ? step.data : {}
  return { ...fields, text: step.text, data: step.data }
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
