// What the conformance suite calls, as tools of a provider behind the real door. Never in the product's own list.
import * as z from 'zod'
import { laterApprover } from '../../src/core/approval.ts'
import { fromJsonSchema } from '../../src/core/json-schema.ts'
import { localProvider } from '../../src/core/provider.ts'
import type { JsonSchema } from '../../src/core/schema.ts'
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '../../src/core/tool.ts'
import { type HttpDoor, serveHttp } from '../../src/mcp/serve-http.ts'
import { openTestRuntime } from './runtime.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

const fixture = (
  name: string,
  run: (context: ToolContext) => Promise<ToolOutput>,
  risk: 'low' | 'high' = 'low',
) =>
  defineTool({
    name,
    title: name,
    description: `Conformance fixture ${name}.`,
    category: 'ReadOnly',
    risk,
    input: z.object({}),
    access: () => (risk === 'low' ? [] : [{ kind: 'custom' as const, name: 'fixture', details: name }]),
    run: (_input, context) => run(context),
  })

/** Need a yes, so that the door asks the client: the one thing that Kogu asks for. */
const ASKING = ['elicitation', 'request_state', 'tampered_state'].map(name =>
  fixture(`test_input_required_result_${name}`, async () => ({ text: 'approved' }), 'high'),
)

/** Asks the person for values, as a server under Kogu does. */
const form = (name: string, properties: JsonSchema, rounds = 1) => ({
  ...fixture(name, async ({ elicit }) => {
    for (let round = 1; ; round += 1) {
      const message = `Round ${round} of ${rounds}`
      const answer = await elicit?.({ message, schema: { type: 'object', properties, required: [] } })
      if (round === rounds || answer?.action !== 'accept') return { text: JSON.stringify(answer) }
    }
  }),
  input: fromJsonSchema({ type: 'object', properties: { message: { type: 'string' } } }),
})

const options = (name: string) =>
  [1, 2, 3].map(number => ({ const: `value${number}`, title: `${name} ${number}` }))
const choices = ['option1', 'option2', 'option3']

const FORMS: AnyTool[] = [
  form('test_elicitation', { username: { type: 'string' }, email: { type: 'string', format: 'email' } }),
  form('test_elicitation_sep1034_defaults', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }),
  form('test_elicitation_sep1330_enums', {
    untitledSingle: { type: 'string', enum: choices },
    titledSingle: { type: 'string', oneOf: options('First') },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: choices } },
    titledMulti: { type: 'array', items: { anyOf: options('Choice') } },
  }),
  form('test_input_required_result_multi_round', { name: { type: 'string' } }, 2),
]

const FIXTURES: AnyTool[] = [
  ...FORMS,
  ...ASKING,
  fixture('test_streaming_elicitation', async () => ({ text: 'approved' }), 'high'),
  fixture('test_logging_tool', async () => ({ text: 'Kogu logs to standard error only.' })),
  fixture('test_simple_text', async () => ({ text: 'This is a simple text response for testing.' })),
  fixture('test_image_content', async () => ({
    text: '',
    images: [{ mimeType: 'image/png', base64: PIXEL }],
  })),
  fixture('test_error_handling', () =>
    Promise.reject(new Error('This tool intentionally returns an error for testing')),
  ),
  fixture('test_tool_with_progress', async ({ progress }) => {
    for (const step of [0, 50, 100]) {
      progress(`Completed step ${step} of 100\n`)
      await new Promise(resolve => setTimeout(resolve, 250))
    }
    return { text: 'done' }
  }),
  {
    ...fixture('json_schema_2020_12_tool', async () => ({ text: 'valid' })),
    input: fromJsonSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    }),
  },
]

export async function openConformanceServer(): Promise<HttpDoor> {
  const box = await openTestRuntime('[tools.dynamic]\nenabled = false\n', laterApprover)
  const { registry } = box.runtime
  const change = fixture('test_trigger_tool_change', async () => {
    const remove = await registry.add(
      localProvider('late', 'Late', 75, [fixture('late_tool', async () => ({ text: 'late' }))]),
    )
    await remove()
    return { text: 'changed' }
  })
  await registry.add(localProvider('fixtures', 'Fixtures', 75, [...FIXTURES, change]))
  const door = await serveHttp(box.runtime, {
    version: '0',
    names: 'kogu',
    budget: 1_000_000,
    mayApprove: true,
    port: 0,
    token: null,
    onError: () => undefined,
  })
  return {
    url: door.url,
    async close() {
      await door.close()
      await box.close()
    },
  }
}

if (process.argv[2] === 'serve') console.log((await openConformanceServer()).url)
