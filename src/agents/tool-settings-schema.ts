import type { JsonSchema } from '../core/schema.ts'

// What can be set for a tool in a panel or for an agent, as a schema for forms. `parseSettings` decides what is valid.

const folders = {
  type: 'array',
  title: 'Allowed folders',
  description: 'It writes below these folders only, relative to the workspace. Defaults to doc.',
  items: { type: 'string', minLength: 1 },
  examples: [['doc/', 'src/generated/']],
}

const hosts = {
  type: 'array',
  title: 'Allowed hosts',
  description: 'It reaches these hosts only. Defaults to any host that the rules allow.',
  items: { type: 'string', minLength: 1 },
  examples: [['*.wikipedia.org']],
}

const commands = {
  profile: {
    type: 'string',
    title: 'Profile',
    enum: ['restricted', 'shell'],
    default: 'restricted',
    description:
      'restricted: one simple command of the list. shell: whole command lines, analysed and decided by the rules.',
  },
  allowed_commands: {
    type: 'array',
    title: 'Allowed commands',
    description: 'For the profile restricted. Defaults to commands that only read.',
    items: { type: 'string', minLength: 1 },
    examples: [['git', 'npm test']],
  },
  timeout_ms: {
    type: 'integer',
    title: 'Time limit in milliseconds',
    minimum: 1,
    maximum: 600_000,
    'x-group': 'Advanced',
  },
}

const git = {
  type: 'string',
  title: 'Git',
  enum: ['Disabled', 'ReadOnly', 'ReadWrite'],
  default: 'ReadOnly',
  description: 'What it may do with the repository.',
}

export function toolSettingsSchema(tool: { readonly name: string; readonly category: string }): JsonSchema {
  return { type: 'object', properties: propertiesOf(tool), additionalProperties: false }
}

function propertiesOf({ name, category }: { name: string; category: string }): Record<string, unknown> {
  if (name === 'run_command') return { ...commands, allowed_dirs: folders }
  if (name.startsWith('web_')) return { allowed_hosts: hosts }
  if (category === 'VersionControl') return { git }
  return category === 'FileSystem' ? { allowed_dirs: folders } : {}
}
