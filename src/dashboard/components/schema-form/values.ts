import { type Field, isSchema } from './fields.ts'

// Values of a form. Undefined is *not set*: it is left out of what is saved, never written as "", [] or null.

export type Path = readonly (string | number)[]

/** A copy with the value at `path` changed. Undefined takes a key out. Objects that are not there yet are made. */
export function setAt(value: unknown, path: Path, next: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return next
  if (typeof key === 'number' || Array.isArray(value)) {
    const list = Array.isArray(value) ? [...value] : []
    list[Number(key)] = setAt(list[Number(key)], rest, next)
    return list
  }
  const object = isSchema(value) ? value : {}
  const inner = setAt(Object.hasOwn(object, key) ? object[key] : undefined, rest, next)
  const others = Object.entries(object)
  const changed = others.some(([name]) => name === key)
    ? others.map(([name, each]) => [name, name === key ? inner : each] as const)
    : [...others, [key, inner] as const]
  return Object.fromEntries(changed.filter(([, each]) => each !== undefined))
}

/** `/tools/0/name` */
export function toPointer(path: Path): string {
  return path.map(key => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Keys of an object that its fields do not name. They are kept and shown. */
export function otherKeys(field: Field & { kind: 'object' }, value: unknown): string[] {
  if (!isSchema(value)) return []
  const known = new Set(field.fields.map(({ name }) => name))
  return Object.keys(value).filter(key => !known.has(key))
}

/** Whether a key can be added to a map: one of its own fields, or an entry that is there, would be overwritten. */
export function isFreeKey(field: Field & { kind: 'object' }, value: unknown, key: string): boolean {
  const isThere = isSchema(value) && Object.hasOwn(value, key)
  return key !== '' && !isThere && field.fields.every(({ name }) => name !== key)
}

/** What a text is that somebody has emptied. A required one may be empty; an entry of a map would be gone otherwise. */
export function emptied(required: boolean): '' | undefined {
  return required ? '' : undefined
}

/** A secret, and what is typed in its place. */
export interface SecretDraft {
  readonly before: unknown
  /** What the field has made of it. */
  readonly now: unknown
  readonly typed: string
  readonly isOpen: boolean
}

/** Begins anew where the value is not what the field made of it: it was taken out, or another item of its list stands here. */
export function secretDraft(value: unknown, draft?: SecretDraft): SecretDraft {
  if (draft !== undefined && draft.now === value) return draft
  // A new entry of a map or a list begins empty.
  return { before: value, now: value, typed: '', isOpen: value === undefined || value === '' }
}

/** Nothing typed leaves the one that was there. */
export function typeSecret({ before }: SecretDraft, typed: string, required: boolean): SecretDraft {
  const now = typed !== '' ? typed : before === undefined ? emptied(required) : before
  return { before, now, typed, isOpen: true }
}

/** Which option of a union a value belongs to; -1: none, or there is no value. */
export function optionOf(options: readonly Field[], value: unknown): number {
  return value === undefined ? -1 : options.findIndex(option => fits(option, value))
}

/** By its shape: good enough to choose what to show. Whether it is valid is the server's question. */
function fits(field: Field, value: unknown): boolean {
  if (value === null) return field.nullable
  switch (field.kind) {
    case 'text':
    case 'secret':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number' && (!field.integer || Number.isInteger(value))
    case 'boolean':
      return typeof value === 'boolean'
    case 'choice':
      return field.options.some(option => option === value)
    case 'const':
      return JSON.stringify(value) === JSON.stringify(field.value)
    case 'list':
      return Array.isArray(value) && value.every(item => fits(field.items, item))
    case 'object':
      return (
        isSchema(value) &&
        field.fields.every(({ name, required, field: own }) =>
          Object.hasOwn(value, name) ? fits(own, value[name]) : !required,
        )
      )
    case 'union':
      return field.options.some(option => fits(option, value))
    case 'json':
      return true
  }
}

/** What a field begins with once somebody sets it: what cannot be otherwise, and nothing else. */
export function startOf(field: Field): unknown {
  if (field.default !== undefined) return field.default
  switch (field.kind) {
    case 'const':
      return field.value
    case 'boolean':
      return false
    case 'text':
    case 'secret':
      return ''
    case 'number':
      return field.min ?? 0
    case 'choice':
      return field.options[0]
    case 'list':
      return []
    case 'object':
      return Object.fromEntries(
        field.fields.flatMap(({ name, required, field: own }) => {
          const start = required && own.kind === 'const' ? startOf(own) : undefined
          return start === undefined ? [] : [[name, start]]
        }),
      )
    case 'union':
      return field.options[0] === undefined ? undefined : startOf(field.options[0])
    case 'json':
      return null
  }
}

/** A name for an option of a union: its title, the constant that tells it from the others, or its kind. */
export function nameOfOption(option: Field, index: number): string {
  if (option.title !== undefined) return option.title
  if (option.kind === 'object') {
    const mark = option.fields.find(({ field }) => field.kind === 'const')?.field
    if (mark?.kind === 'const') return String(mark.value)
  }
  return option.kind === 'const' ? String(option.value) : `${option.kind} ${index + 1}`
}

export interface Mistake {
  readonly pointer: string
  readonly rule: 'required' | 'pattern' | 'format' | 'min' | 'max' | 'integer' | 'json'
  readonly limit?: string
}

/** What a person can see is wrong before the server says so. Texts with `{{…}}` are not known yet. */
export function mistakesIn(field: Field, value: unknown, path: Path = [], required = false): Mistake[] {
  const at = (rule: Mistake['rule'], limit?: unknown): Mistake[] => [
    { pointer: toPointer(path), rule, ...(limit === undefined ? {} : { limit: String(limit) }) },
  ]
  if (value === undefined) return required && field.default === undefined ? at('required') : []
  if (value === null || isReference(value)) return []
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' ? textMistakes(field, value, at) : []
    case 'number':
      if (typeof value !== 'number') return []
      if (field.integer && !Number.isInteger(value)) return at('integer')
      if (field.min !== undefined && value < field.min) return at('min', field.min)
      return field.max !== undefined && value > field.max ? at('max', field.max) : []
    case 'list': {
      if (!Array.isArray(value)) return []
      const own =
        field.min !== undefined && value.length < field.min
          ? at('min', field.min)
          : field.max !== undefined && value.length > field.max
            ? at('max', field.max)
            : []
      return [
        ...own,
        ...value.flatMap((item, index) => mistakesIn(field.items, item, [...path, index], true)),
      ]
    }
    case 'object':
      if (!isSchema(value)) return []
      return [
        ...field.fields.flatMap(({ name, required: needed, field: own }) =>
          mistakesIn(own, Object.hasOwn(value, name) ? value[name] : undefined, [...path, name], needed),
        ),
        ...otherKeys(field, value).flatMap(key =>
          field.extra === null ? [] : mistakesIn(field.extra, value[key], [...path, key], true),
        ),
      ]
    case 'union': {
      const option = field.options[optionOf(field.options, value)]
      return option === undefined ? [] : mistakesIn(option, value, path, required)
    }
    default:
      return []
  }
}

function textMistakes(
  field: Field & { kind: 'text' },
  value: string,
  at: (rule: Mistake['rule'], limit?: unknown) => Mistake[],
): Mistake[] {
  if (field.minLength !== undefined && value.length < field.minLength) return at('min', field.minLength)
  if (field.maxLength !== undefined && value.length > field.maxLength) return at('max', field.maxLength)
  if (field.format !== undefined && !hasFormat(field.format, value)) return at('format', field.format)
  return field.pattern !== undefined && !matches(field.pattern, value) ? at('pattern', field.pattern) : []
}

/** Formats that a browser can judge. What it does not know it lets through: the server decides. */
function hasFormat(format: string, value: string): boolean {
  if (format === 'uri') return URL.canParse(value)
  if (format === 'email') return /^[^\s@]+@[^\s@]+$/.test(value)
  if (format === 'date') return /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
  return format !== 'date-time' || (/^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)))
}

/**
 * A pattern of a foreign schema can be made so that it never ends (`(a+)+$`). Those with a repetition of a repetition, and long
 * texts, are left to the server, whose engine is linear.
 */
function matches(pattern: string, value: string): boolean {
  if (pattern.length > 200 || value.length > 1_000 || /[+*}]\)?[^)]*\)[+*{]|\\\d/.test(pattern)) return true
  try {
    return new RegExp(pattern, 'u').test(value)
  } catch {
    return true
  }
}

export function isReference(value: unknown): boolean {
  return typeof value === 'string' && /\{\{[^{}]*\}\}/.test(value)
}

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string }

/** An empty text is *not set*. */
export function parseJson(text: string): ParsedJson {
  if (text.trim() === '') return { ok: true, value: undefined }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) }
  }
}

export function printJson(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}
