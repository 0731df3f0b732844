import { ToolError } from '../../core/errors.ts'
import { fenceUntrusted } from '../../core/fence.ts'
import { toFileText } from '../without-fence.ts'

// `{{input.topic}}`, `{{steps.search.results[0].title}}`, `{{run.week}}`: a path into what is there, and nothing else. `[*]` is all
// items of a list. No operators, no calls: a pipeline file is data that somebody else may have written.

export interface Scope {
  readonly input: Readonly<Record<string, unknown>>
  /** Whose words are in the input, when it comes from another pipeline. */
  readonly inputFrom?: string | undefined
  /** What each finished step produced. */
  readonly steps: Readonly<Record<string, StepValue>>
  readonly vars?: Readonly<Record<string, unknown>>
  /** Of the run itself: id, date, month, week. */
  readonly run?: Readonly<Record<string, unknown>>
  /** Of a step that is done for each item of a list. */
  readonly each?: { readonly item: unknown; readonly index: number; readonly untrusted?: string | undefined }
}

export interface StepValue {
  readonly text: string
  readonly data: unknown
  /** Whose words are in it, when they are not those of the workspace. */
  readonly untrusted?: string | undefined
  /** The text is what a panel answered. */
  readonly isAnswer?: boolean
}

const REFERENCE = /\{\{\s*([^{}]*?)\s*\}\}/g
const PATH =
  /^(?:(input|steps|vars|run)((?:\.[A-Za-z_][\w-]*|\[(?:\d{1,6}|\*)\])+)|(item)((?:\.[A-Za-z_][\w-]*|\[(?:\d{1,6}|\*)\])*)|(index))$/
/** Of everything that one step is filled in with: a text that doubles in every step would otherwise fill the memory. */
const MOST_CHARACTERS = 1_000_000

/** Every reference of a value with the step or input that it names, for checks before anything runs. */
export function referencesIn(value: unknown): string[][] {
  if (typeof value === 'string') return [...value.matchAll(REFERENCE)].map(match => toPath(match[1] ?? ''))
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(referencesIn)
}

/** Whose words a value takes in by its references, when they are not those of the workspace. */
export function untrustedIn(value: unknown, scope: Scope): string | undefined {
  return referencesIn(value)
    .map(path => sourceOf(path, scope))
    .find(source => source !== undefined)
}

function sourceOf(
  [root, name = '']: readonly string[],
  { steps, inputFrom, each }: Scope,
): string | undefined {
  if (root === 'steps') return Object.hasOwn(steps, name) ? steps[name]?.untrusted : undefined
  if (root === 'input') return inputFrom
  return root === 'item' ? each?.untrusted : undefined
}

/**
 * Fills references in. A text that is only one reference becomes the value itself; inside a longer text it is written out.
 * `forModel`: words of others are fenced, so that a model can tell them from those of the pipeline. `file`: the value becomes
 * the content of that file, so an answer is bared of the code block that it came in.
 */
export function fillIn(
  value: unknown,
  scope: Scope,
  { forModel = false, file }: { forModel?: boolean; file?: string | undefined } = {},
): unknown {
  const room = { left: MOST_CHARACTERS }
  const take = (reference: string): { found: unknown; text: string } => {
    const path = toPath(reference)
    const value = lookUp(path, scope)
    const source = forModel ? sourceOf(path, scope) : undefined
    const bare = file !== undefined && isAnswer(path, scope) ? toFileText(toText(value), file) : undefined
    const found = source === undefined ? (bare ?? value) : fenceUntrusted(toText(value), source)
    // Inside a longer text, the line end is that of the text.
    const text = bare === undefined ? toText(found) : bare.replace(/\n$/, '')
    room.left -= text.length
    if (room.left < 0)
      throw new ToolError(
        'invalid_input',
        `The values of this step have more than ${MOST_CHARACTERS} characters together.`,
      )
    return { found, text }
  }
  return fill(value, take)
}

function isAnswer([root, name = '', field, ...more]: readonly string[], { steps }: Scope): boolean {
  return root === 'steps' && field === 'text' && more.length === 0 && steps[name]?.isAnswer === true
}

function fill(value: unknown, take: (path: string) => { found: unknown; text: string }): unknown {
  if (typeof value === 'string') {
    const [only, ...more] = value.matchAll(REFERENCE)
    if (only !== undefined && more.length === 0 && only[0] === value) return take(only[1] ?? '').found
    return value.replaceAll(REFERENCE, (_, path: string) => take(path).text)
  }
  if (Array.isArray(value)) return value.map(item => fill(item, take))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, take)]))
}

function toPath(source: string): string[] {
  const match = PATH.exec(source)
  if (match === null) {
    throw new ToolError('invalid_input', `{{${source}}} is not a reference.`, {
      hint: 'Write {{input.NAME}}, {{vars.NAME}}, {{run.date}} or {{steps.STEP.field}}; lists by [0], or [*] for all items.',
    })
  }
  const [, root, path, item, itemPath, index] = match
  return [
    root ?? item ?? index ?? '',
    ...(path ?? itemPath ?? '').split(/[.[\]]+/).filter(part => part !== ''),
  ]
}

function lookUp(path: readonly string[], scope: Scope): unknown {
  const [root = '', ...rest] = path
  const { input, steps, vars = {}, run = {}, each } = scope
  const missing = (part: string): ToolError =>
    new ToolError('not_found', `{{${path.join('.')}}} has no value: there is no '${part}'.`)
  if ((root === 'item' || root === 'index') && each === undefined) throw missing(root)
  if (root === 'index') return each?.index
  const from =
    root === 'steps' ? stepRoot(rest[0] ?? '', steps) : { vars, run, input, item: each?.item }[root]
  return follow(from, root === 'steps' ? rest.slice(1) : rest, missing)
}

/** Own properties only: `constructor` and `__proto__` are not values of anybody. Of a list, `*` is what its items have there. */
function follow(value: unknown, path: readonly string[], missing: (part: string) => ToolError): unknown {
  const [part, ...rest] = path
  if (part === undefined) return value
  if (part === '*') {
    if (!Array.isArray(value)) throw missing(part)
    const found = value.flatMap(item => {
      try {
        return [follow(item, rest, missing)]
      } catch {
        return []
      }
    })
    return rest.includes('*') ? found.flat() : found
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) throw missing(part)
  return follow(Reflect.get(value, part), rest, missing)
}

/** `text` is always there; the fields of its data stand beside it. */
function stepRoot(id: string, steps: Scope['steps']): Record<string, unknown> {
  const step = Object.hasOwn(steps, id) ? steps[id] : undefined
  if (step === undefined) throw new ToolError('not_found', `Step '${id}' has no output.`)
  const fields =
    typeof step.data === 'object' && step.data !== null && !Array.isArray(step.data) ? step.data : {}
  return { ...fields, text: step.text, data: step.data }
}

export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
