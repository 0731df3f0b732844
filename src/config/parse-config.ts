import type * as z from 'zod'
import type { Table } from './read-source.ts'
import { type ParsedConfig, sectionNames, sectionSchema } from './schema.ts'

export type ParseResult =
  | { ok: true; config: ParsedConfig }
  | { ok: false; issues: z.core.$ZodIssue[]; unknownSections: string[] }

/** Checks the sections that are there. The others get their defaults when somebody looks at them. */
export function parseConfig(data: Table): ParseResult {
  const issues: z.core.$ZodIssue[] = []
  const unknownSections: string[] = []
  const sections = new Map<string, unknown>()
  for (const [name, value] of Object.entries(data)) {
    const schema = sectionSchema(name)
    if (schema === undefined) {
      unknownSections.push(name)
      continue
    }
    const result = parseSection(schema, value)
    if (result.success) sections.set(name, result.data)
    else issues.push(...result.error.issues.map(issue => ({ ...issue, path: [name, ...issue.path] })))
  }
  if (issues.length > 0 || unknownSections.length > 0) return { ok: false, issues, unknownSections }
  return { ok: true, config: withDefaults(sections) }
}

function withDefaults(sections: Map<string, unknown>): ParsedConfig {
  const config = {}
  for (const name of sectionNames()) {
    Object.defineProperty(config, name, {
      enumerable: true,
      configurable: true,
      get() {
        if (!sections.has(name)) sections.set(name, defaultOf(name))
        return sections.get(name)
      },
    })
  }
  return config as ParsedConfig // every section has just been given its property
}

/** Each section's default as JSON. In the built program only: making the schemas takes 8 ms of every start. */
declare const BUILT_DEFAULTS: Readonly<Record<string, string>>

function defaultOf(name: string): unknown {
  const built = typeof BUILT_DEFAULTS === 'undefined' ? undefined : BUILT_DEFAULTS[name]
  if (built !== undefined) return JSON.parse(built)
  const schema = sectionSchema(name)
  return schema === undefined ? undefined : parseSection(schema, undefined).data
}

/** Compiling a schema's checks costs more than the few values of a configuration can win back. */
function parseSection(schema: z.ZodType, value: unknown): z.ZodSafeParseResult<unknown> {
  return schema.safeParse(value, { jitless: true })
}
