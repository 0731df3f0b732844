import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { generateText, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import * as z from 'zod'
import { localProvider, PRIORITY } from '../src/core/provider.ts'
import { createRedactor } from '../src/core/redact.ts'
import { defineTool } from '../src/core/tool.ts'
import { run as measureAudit } from './audit.ts'
import { interleave, spreadOf } from './measure.ts'
import { type Row, showTime, toPlainRow, toRow, verdict } from './table.ts'
import { openTemporaryRuntime } from './temporary-runtime.ts'

const input = z.object({ text: z.string(), times: z.int().min(1).default(1) })

/** The work itself, on every side. */
function repeat({ text, times }: z.output<typeof input>): string {
  return text.repeat(times)
}

/** What a call costs besides its tool: validation, decision, audit, time limit, result. */
export async function measureCalls(): Promise<Row[]> {
  const { runtime, call, close } = await openTemporaryRuntime()
  try {
    const repeatText = defineTool({
      name: 'repeat_text',
      title: 'Repeat',
      description: 'Repeat a text.',
      category: 'ReadOnly',
      risk: 'low',
      input,
      access: () => [],
      run: async wanted => ({ text: repeat(wanted) }),
    })
    await runtime.registry.add(localProvider('bench', 'Benchmark', PRIORITY.custom, [repeatText]))
    const samples = await interleave(3000, {
      kogu: { run: () => call('repeat_text', { text: 'ab', times: 2 }) },
      bare: { run: async () => repeat({ text: 'ab', times: 2 }), batch: 100 },
      sdk: { run: oneStepOfTheSdk() },
    })
    const name = 'call of a trivial tool'
    return [
      toRow({
        name,
        kogu: samples.kogu,
        peer: { name: 'bare function', samples: samples.bare },
        tail: true,
      }),
      toRow({
        name,
        kogu: samples.kogu,
        peer: { name: 'AI SDK step', samples: samples.sdk },
        // As much as before runs had authorities, limits and labels of their own.
        target: { ratio: 0.49 },
        tail: true,
      }),
      ...(await measureAuditLog()),
      await measureRedaction(),
      measureRuns(),
    ]
  } finally {
    await close()
  }
}

/** `generateText` with a model that asks for the tool at once: one step, and the tool runs in it. */
function oneStepOfTheSdk(): () => Promise<void> {
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({
      content: [
        {
          type: 'tool-call',
          toolCallId: 'call',
          toolName: 'repeat_text',
          input: '{"text":"ab","times":2}',
        },
      ],
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    }),
  })
  const tools = {
    repeat_text: tool({
      description: 'Repeat a text.',
      inputSchema: input,
      execute: async wanted => repeat(wanted),
    }),
  }
  return async () => {
    const { toolResults } = await generateText({ model, tools, prompt: 'Repeat ab twice.' })
    if (toolResults[0]?.output !== 'abab') throw new Error('The AI SDK did not run the tool.')
    // The mock keeps every call it got.
    model.doGenerateCalls.length = 0
  }
}

const REDACTION_TARGET_US = 20

/** What is recorded and what is returned of every call passes it. */
async function measureRedaction(): Promise<Row> {
  const { value } = createRedactor({ values: [], patterns: [] })
  const ordinary = {
    path: '/home/kim/project/src/components/header.tsx',
    command: 'npm run build -- --watch && git status --short | head -20',
    description: 'Build the project again and look at what changed since the last commit of today',
  }
  const { redaction } = await interleave(200, {
    redaction: { run: async () => void value(ordinary), batch: 100 },
  })
  const { median } = spreadOf(redaction)
  return toPlainRow({
    name: 'redaction of an ordinary input',
    kogu: showTime(median),
    target: `< ${REDACTION_TARGET_US} µs`,
    verdict: verdict(median * 1000 < REDACTION_TARGET_US),
  })
}

const runsResult = z.object({ runs: z.number(), ms: z.number(), leftBytes: z.number() })

/** Opened, used and closed, half of them below the other half. */
function measureRuns(): Row {
  const program = join(import.meta.dirname, 'runs.ts')
  const { stdout, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    encoding: 'utf8',
  })
  if (stdout === '') throw new Error(`runs.ts failed: ${stderr}`)
  const { runs, ms, leftBytes } = runsResult.parse(JSON.parse(stdout))
  return toPlainRow({
    name: `${runs} runs opened, used and closed`,
    kogu: `${(leftBytes / 1024 ** 2).toFixed(1)} MB left on the heap, ${showTime(ms / runs)} a run`,
    target: `< ${LEFT_TARGET_MB} MB`,
    verdict: verdict(leftBytes < LEFT_TARGET_MB * 1024 ** 2),
  })
}

const LEFT_TARGET_MB = 2

const AUDIT_TARGET_US = 100

async function measureAuditLog(): Promise<Row[]> {
  const [call, ...others] = await measureAudit()
  const append = others.find(row => row.name.includes('appendFileSync'))
  if (call === undefined || append === undefined) throw new Error('bench/audit.ts measures something else.')
  const show = (row: typeof call): string =>
    `${showTime(row.medianUs / 1000)} (p99 ${showTime(row.p99Us / 1000)})`
  return [
    toPlainRow({
      name: 'audit of one call: two events',
      kogu: show(call),
      // Two events, so two bare lines.
      peer: `two appendFileSync ${showTime((append.medianUs * 2) / 1000)}`,
      ratio: `${(call.medianUs / (append.medianUs * 2)).toFixed(2)}×`,
      target: `< ${showTime(AUDIT_TARGET_US / 1000)}`,
      verdict: verdict(call.medianUs < AUDIT_TARGET_US),
    }),
  ]
}
