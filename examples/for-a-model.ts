// Adds a tool that reads a file, and hands all tools to a model: node for-a-model.ts FOLDER
import * as z from 'zod'
import {
  createRuntime,
  defineTool,
  loadConfig,
  localProvider,
  noApprover,
  readEnvironment,
} from '../src/index.ts'

const countLines = defineTool({
  name: 'count_lines',
  title: 'Count lines',
  description: 'Count the lines of a file.',
  category: 'ReadOnly',
  risk: 'low',
  input: z.object({ path: z.string().describe('The file.') }),
  access: ({ path }) => [{ kind: 'file_read', path }],
  async run({ path }, { files }) {
    // `files` opens only what was declared and judged.
    const file = await files.open(path)
    try {
      const text = Buffer.from(await file.read(0, file.size)).toString()
      return { text: `${text.split('\n').length - 1} lines` }
    } finally {
      file.close()
    }
  },
})

const environment = readEnvironment()
const runtime = await createRuntime({
  loaded: loadConfig({ cwd: process.argv[2] ?? '.', environment }),
  environment,
  approver: noApprover('this program has nobody to ask'),
})
try {
  await runtime.registry.add(localProvider('counting', 'Counting', 75, [countLines]))
  // What the APIs of models take: a name, a description and a JSON Schema.
  const forModel = runtime.registry.list().map(({ tool }) => ({
    name: tool.name,
    description: tool.description,
    input_schema: tool.input.json,
  }))
  console.log(JSON.stringify(forModel.find(({ name }) => name === 'count_lines')?.input_schema))
  // What the model answers goes in as it is; an error says what to change.
  const answer: { name: string; input: unknown } = { name: 'count_lines', input: { path: 'prices.json' } }
  const result = await runtime.call({ tool: answer.name, input: answer.input })
  console.log(result.ok ? result.text : `${result.error?.message} ${result.error?.hint ?? ''}`)
} finally {
  await runtime.close()
}
