// A source of tools whose list changes while it runs: node own-provider.ts FOLDER
import {
  type AnyTool,
  createRuntime,
  fromJsonSchema,
  loadConfig,
  noApprover,
  type Provider,
  readEnvironment,
} from '../src/index.ts'

/** Greetings, one tool per language. Foreign tools bring their schema as JSON Schema. */
function greeting(language: string, word: string): AnyTool {
  return {
    name: `greet_${language}`,
    aliases: [],
    parameterAliases: {},
    title: `Greet (${language})`,
    description: `Greet somebody in ${language}.`,
    category: 'ReadOnly',
    risk: 'low',
    input: fromJsonSchema({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }),
    // It touches nothing, so there is nothing to decide about.
    access: () => [],
    run: async ({ name }: { name: string }) => ({ text: `${word}, ${name}` }),
  }
}

const learned = Promise.withResolvers<void>()
const greetings: Provider = {
  id: 'greetings',
  displayName: 'Greetings',
  priority: 60,
  start(signal, onTools) {
    onTools([greeting('english', 'Hello')])
    void learned.promise.then(() => {
      if (!signal.aborted) onTools([greeting('english', 'Hello'), greeting('japanese', 'こんにちは')])
    })
  },
  close: () => console.log('closed'),
}

const environment = readEnvironment()
const runtime = await createRuntime({
  loaded: loadConfig({ cwd: process.argv[2] ?? '.', environment }),
  environment,
  approver: noApprover('nobody is there'),
})
const call = async (tool: string): Promise<void> => {
  const result = await runtime.call({ tool, input: { name: 'Kim' } })
  console.log(result.ok ? result.text : `${result.error?.code}: ${result.error?.message}`)
}
try {
  await runtime.registerProvider(greetings)
  await call('greet_english')
  await call('greet_japanese')
  learned.resolve()
  await learned.promise
  await call('greet_japanese')
} finally {
  await runtime.close()
}
