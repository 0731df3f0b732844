import { parse, TomlError } from 'smol-toml'
import * as z from 'zod'

/** What a script says about itself, in a comment at its head or in a file beside it. */
export type Declaration = z.output<typeof schema>

export const TOOL_NAME = /^[A-Za-z][\w-]{0,63}$/

const parameter = z.strictObject({
  type: z.enum(['string', 'integer', 'number', 'boolean', 'object', 'array']).default('string'),
  description: z.string().default(''),
  required: z.boolean().default(true),
  default: z.unknown().optional(),
  enum: z
    .array(z.union([z.string(), z.number()]))
    .min(1)
    .optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
})

const schema = z.strictObject({
  name: z
    .string()
    .regex(TOOL_NAME, 'A tool name has letters, digits, - and _, and begins with a letter.')
    .optional(),
  description: z.string().min(1),
  risk: z.enum(['low', 'high']).default('high'),
  parameters: z.record(z.string().regex(/^[A-Za-z_]\w*$/), parameter).default({}),
  /** Hosts that it contacts; none unless they are named. */
  network: z
    .array(z.string().regex(/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/, 'A host has no scheme, port or path.'))
    .default([]),
  /** Globs over paths in the workspace that it changes; none unless they are named. */
  writes: z.array(z.string().min(1)).default([]),
  timeout_seconds: z.int().min(1).max(600).default(120),
})

/** Undefined when the file says nothing about itself, so it is no tool. Throws with a sentence when it cannot be read. */
export function readDeclaration(text: string, kind: 'script' | 'toml' | 'json'): Declaration | undefined {
  const source = kind === 'script' ? headerOf(text) : text
  if (source === undefined) return undefined
  const parsed = schema.safeParse(kind === 'json' ? readJson(source) : readToml(source))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const key = issue?.path.map(String).join('.') ?? ''
  throw new Error(`its declaration is not valid: ${key === '' ? '' : `${key}: `}${issue?.message ?? ''}`)
}

const COMMENT = /^\s*(?:#|\/\/|--|;)\s?/
const MOST_HEADER_LINES = 200

/** The comment lines after `# kogu tool`, without their marks, as TOML, in the lines where they stand. */
function headerOf(text: string): string | undefined {
  const lines = text.split(/\r?\n/, MOST_HEADER_LINES)
  const start = lines.findIndex(
    line => COMMENT.test(line) && line.replace(COMMENT, '').trim() === 'kogu tool',
  )
  if (start === -1) return undefined
  const rest = lines.slice(start + 1)
  const end = rest.findIndex(line => !COMMENT.test(line))
  const header = (end === -1 ? rest : rest.slice(0, end)).map(line => line.replace(COMMENT, ''))
  return '\n'.repeat(start + 1) + header.join('\n')
}

function readToml(text: string): unknown {
  try {
    return parse(text, { unsafeKeyBehaviour: 'throw', maxDepth: 16 })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const message = error.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? ''
    throw new Error(`its declaration is not valid TOML in line ${error.line}: ${message}`)
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('its declaration is not valid JSON')
  }
}
