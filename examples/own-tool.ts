// Adds a tool of its own and answers the questions that its calls raise: node own-tool.ts FOLDER
import * as z from 'zod'
import {
  type Approver,
  createRuntime,
  defineTool,
  loadConfig,
  localProvider,
  readEnvironment,
} from '../src/index.ts'

const addNote = defineTool({
  name: 'add_note',
  title: 'Add a note',
  description: 'Add one line to notes.md.',
  category: 'FileSystem',
  risk: 'high',
  input: z.object({ text: z.string().min(1).describe('The line to add.') }),
  // What the call will touch, and nothing is done here: the engine decides on it.
  access: () => [{ kind: 'file_write', path: 'notes.md' }],
  async run({ text }, { files }) {
    // `files` writes only what was judged, atomically, and keeps the old bytes for undo.
    await files.update('notes.md', before => Buffer.concat([before ?? Buffer.of(), Buffer.from(`${text}\n`)]))
    return { text: `Noted: ${text}` }
  },
})

/** Says yes once to notes, and no to everything else. */
const approver: Approver = {
  async ask({ tool, decision }) {
    console.log(`asked: ${tool.name}, because of ${decision.ref?.text}`)
    return tool.name === 'add_note'
      ? { kind: 'once', user: 'own-tool' }
      : { kind: 'deny', user: 'own-tool', message: 'only notes may be written' }
  },
}

const environment = readEnvironment()
const runtime = await createRuntime({
  loaded: loadConfig({ cwd: process.argv[2] ?? '.', environment }),
  environment,
  approver,
})
try {
  await runtime.registry.add(localProvider('notes', 'Notes', 75, [addNote]))
  for (const [tool, input] of [
    ['add_note', { text: 'Buy tea' }],
    ['add_note', { txet: 'Buy tea' }],
    ['write_file', { path: 'other.md', content: 'x' }],
  ] as const) {
    const result = await runtime.call({ tool, input })
    console.log(result.ok ? result.text : `${result.error?.code}: ${result.error?.message}`)
  }
} finally {
  await runtime.close()
}
