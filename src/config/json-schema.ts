import * as z from 'zod'
import { wholeSchema } from './schema.ts'

/** Editors: Taplo (Even Better TOML) reads draft-04 and nothing newer. */
export type SchemaDraft = 'draft-04' | 'draft-2020-12'

/** The schema of the configuration file, for editors and other programs. */
export function configJsonSchema(draft: SchemaDraft = 'draft-2020-12'): Record<string, unknown> {
  return z.toJSONSchema(wholeSchema(), {
    target: draft,
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      // TOML has dates and JSON has not; editors check them as text.
      if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date' })
    },
  })
}
