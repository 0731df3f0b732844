// Kogu's tools in the AI SDK's own loop: node ai-sdk.ts FOLDER
import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { createRuntime, loadConfig, noApprover, readEnvironment, toAiSdkTools } from '../src/index.ts'

const environment = readEnvironment()
const loaded = loadConfig({ cwd: process.argv[2] ?? '.', environment })
const runtime = await createRuntime({ loaded, environment, approver: noApprover('nobody is here') })

// In your program: anthropic('claude-…') or any other model of the AI SDK.
const call = (toolName: string, input: object) => ({
  content: [{ type: 'tool-call' as const, toolCallId: toolName, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: 'tool-calls' as const, raw: undefined },
  usage: USAGE,
  warnings: [],
})
const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 }
const USAGE = { inputTokens: none, outputTokens: none }
const answers = [
  call('read_file', { path: 'prices.json' }),
  call('write_file', { path: 'notes.md', content: 'x' }),
  {
    content: [{ type: 'text' as const, text: 'Tea costs 120.' }],
    finishReason: { unified: 'stop' as const, raw: undefined },
    usage: USAGE,
    warnings: [],
  },
]
const model = new MockLanguageModelV4({ doGenerate: answers })
try {
  const run = await runtime.openRun({ authority: { mode: 'read-only' } })
  const tools = toAiSdkTools(runtime, run)
  const result = await generateText({
    model,
    tools,
    prompt: 'What is the price of tea?',
    stopWhen: stepCountIs(5),
  })
  for (const { content } of result.steps) {
    for (const part of content) {
      if (part.type === 'tool-result') console.log(`${part.toolName}: ok`)
      if (part.type === 'tool-error') console.log(`${part.toolName}: ${String(part.error).slice(0, 20)}`)
    }
  }
  console.log(result.text)
} finally {
  await runtime.close()
}
