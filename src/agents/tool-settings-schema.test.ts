import { expect, test } from 'vitest'
import { parseSettings } from './agent-authority.ts'
import { toolSettingsSchema } from './tool-settings-schema.ts'

test('what the form offers is what settings can say', () => {
  for (const [name, category] of [
    ['run_command', 'Execution'],
    ['web_fetch', 'ReadOnly'],
    ['git_ops', 'VersionControl'],
    ['write_file', 'FileSystem'],
  ] as const) {
    const { properties } = toolSettingsSchema({ name, category }) as { properties: Record<string, unknown> }
    expect(Object.keys(properties)).not.toEqual([])
    for (const [key, schema] of Object.entries(properties)) {
      const { enum: values, type, minimum } = schema as { enum?: string[]; type: string; minimum?: number }
      for (const value of values ?? [type === 'array' ? ['x'] : minimum])
        expect(() => parseSettings(name, { [key]: value })).not.toThrow()
    }
  }
})
