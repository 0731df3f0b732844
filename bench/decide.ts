import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'unbash'
import { noApprover } from '../src/core/approval.ts'
import type { JudgeRequest } from '../src/core/decision.ts'
import { validateInput } from '../src/core/input.ts'
import { createRedactor } from '../src/core/redact.ts'
import { createRun } from '../src/core/run.ts'
import { analyzeCommand } from '../src/permissions/commands/analyze.ts'
import { dryRun } from '../src/permissions/rules/dry-run.ts'
import type { Runtime } from '../src/runtime.ts'
import { readCalls } from '../src/store/audit/calls.ts'
import { openAuditLog } from '../src/store/audit/log.ts'
import { interleave } from './measure.ts'
import { type Row, toRow } from './table.ts'
import { openTemporaryRuntime, type TemporaryRuntime } from './temporary-runtime.ts'
import { TYPICAL_LINES } from './typical-lines.ts'

const MANY_RULES = 200
/** What a rule file has that people write by hand. */
const SOME_RULES = 20
const RECORDED_CALLS = 10_000
const FOLDERS = 40

export async function measureDecisions(): Promise<Row[]> {
  const plain = await openTemporaryRuntime()
  const { workspace } = plain
  const ruled = await openTemporaryRuntime({ workspace, userConfig: rulesOf(MANY_RULES) })
  const someRules = await openTemporaryRuntime({ workspace, userConfig: rulesOf(SOME_RULES) })
  try {
    if (ruled.runtime.rules.length < MANY_RULES) throw new Error('The rules were not loaded.')
    const path = join(workspace, 'a.ts')
    writeFileSync(path, 'const a = 1\n')
    return [
      await measureAnalysis(plain),
      ...(await measureJudging(plain, ruled, path)),
      ...(await measureDryRun(someRules, ruled)),
    ]
  } finally {
    await someRules.close()
    await ruled.close()
    await plain.close()
  }
}

async function measureAnalysis({ workspace, environment }: TemporaryRuntime): Promise<Row> {
  const context = { cwd: workspace, home: environment.home, workspace }
  const [ours, theirs] = [inTurn(TYPICAL_LINES), inTurn(TYPICAL_LINES)]
  const samples = await interleave(6000, {
    kogu: { run: () => void analyzeCommand(ours(), context) },
    parser: { run: () => void parse(theirs()) },
  })
  const peer = { name: 'unbash, parsing alone', samples: samples.parser }
  return toRow({
    name: `analysis of ${TYPICAL_LINES.length} typical command lines`,
    kogu: samples.kogu,
    peer,
    target: { ms: 0.06 },
    tail: true,
  })
}

async function measureJudging(
  plain: TemporaryRuntime,
  ruled: TemporaryRuntime,
  path: string,
): Promise<Row[]> {
  const read = await toRequest('read_file', { path }, plain)
  const commands = await Promise.all(
    TYPICAL_LINES.map(command => toRequest('run_command', { command }, plain)),
  )
  const [line, ruledLine] = [inTurn(commands), inTurn(commands)]
  const samples = await interleave(6000, {
    read: { run: () => plain.runtime.permissions.judge(read) },
    ruledRead: { run: () => ruled.runtime.permissions.judge(read) },
    command: { run: () => plain.runtime.permissions.judge(line()) },
    ruledCommand: { run: () => ruled.runtime.permissions.judge(ruledLine()) },
    realPath: { run: () => realpathSync.native(path) },
  })
  // The least that any decision about a real path costs.
  const realPath = { name: 'bare realpath', samples: samples.realPath }
  const withRules = `with ${MANY_RULES} rules`
  return [
    toRow({ name: 'decision on read_file', kogu: samples.read, peer: realPath, tail: true }),
    toRow({ name: 'decision on a known command line', kogu: samples.command, peer: realPath, tail: true }),
    toRow({
      name: `decision on read_file, ${withRules}`,
      kogu: samples.ruledRead,
      peer: { name: 'without rules', samples: samples.read },
      tail: true,
    }),
    toRow({
      name: `decision on a known command line, ${withRules}`,
      kogu: samples.ruledCommand,
      peer: { name: 'without rules', samples: samples.command },
      tail: true,
    }),
  ]
}

async function toRequest(
  name: string,
  input: Record<string, unknown>,
  { runtime, workspace }: TemporaryRuntime,
): Promise<JudgeRequest> {
  const [entry] = runtime.registry.candidates(name)
  if (entry === undefined) throw new Error(`There is no tool '${name}'.`)
  const run = createRun('run_bench', {
    authority: runtime.authority,
    approver: noApprover('this is a benchmark'),
  })
  const parsed = validateInput(entry.tool, input)
  const access = await entry.tool.access(parsed, { cwd: workspace, workspace, receipts: run.receipts })
  const { tool, fingerprint, names: toolNames, risk } = entry
  return { tool, toolNames, fingerprint, input: parsed, access, risk, cwd: workspace, run }
}

async function measureDryRun(some: TemporaryRuntime, many: TemporaryRuntime): Promise<Row[]> {
  await recordCalls(some.runtime)
  const calls = () => readCalls({ directory: some.runtime.places.audit })
  const decideAgain = async ({ runtime }: TemporaryRuntime): Promise<void> => {
    const report = await dryRun(
      calls(),
      runtime.permissions,
      name => runtime.registry.candidates(name)[0],
      runtime.authority,
    )
    if (report.calls !== RECORDED_CALLS || report.notComparable > 0) {
      throw new Error(`Of ${report.calls} calls, ${report.notComparable} could not be compared.`)
    }
  }
  const samples = await interleave(3, {
    some: { run: () => decideAgain(some) },
    many: { run: () => decideAgain(many) },
    reading: {
      run: async () => {
        for await (const _ of calls());
      },
    },
  })
  const name = `dry run of ${RECORDED_CALLS.toLocaleString('en')} recorded calls`
  const peer = { name: 'reading them', samples: samples.reading }
  return [
    toRow({ name: `${name}, ${SOME_RULES} rules`, kogu: samples.some, peer, target: { ms: 2000 } }),
    toRow({ name: `${name}, ${MANY_RULES} rules`, kogu: samples.many, peer }),
  ]
}

/** As many calls as a busy month has: half of them reads of different files, half of them command lines. */
async function recordCalls({ places, workspace }: Runtime): Promise<void> {
  const log = openAuditLog({
    directory: places.audit,
    anchorDirectory: places.anchors,
    redact: createRedactor(),
  })
  const line = inTurn(TYPICAL_LINES)
  const folders = Array.from({ length: FOLDERS }, (_, i) => join(workspace, `src/folder-${i}`))
  for (const folder of folders) mkdirSync(folder, { recursive: true })
  const files = Array.from({ length: 700 }, (_, i) => join(folders[i % FOLDERS] ?? '', `file-${i}.ts`))
  for (const file of files) writeFileSync(file, '')
  const nextFile = inTurn(files)
  for (let i = 0; i < RECORDED_CALLS; i += 1) {
    const isCommand = i % 2 === 1
    const tool = isCommand ? 'run_command' : 'read_file'
    const command = `${line()} # ${i % 1000}`
    const path = nextFile()
    const call = { call: `call_${i}`, run: 'run_bench' }
    const input = isCommand ? { command } : { path }
    log.record({ type: 'call-started', ...call, tool, input, caller: 'bench', cwd: workspace })
    log.record({
      type: 'call-finished',
      ...call,
      tool,
      provider: 'builtin',
      access: isCommand ? [{ kind: 'execute', command }] : [{ kind: 'file_read', path }],
      ok: true,
      decision: { outcome: 'allow', by: 'rule', ref: null, reason: '' },
      risk: 'low',
      effects: [],
      runMs: 1,
      waitMs: 0,
    })
  }
  await log.close()
}

/** Rules of every kind, none of which is about the calls that are measured: all of them have to be looked at. */
function rulesOf(count: number): string {
  const kinds = [
    (i: number) => `decision = "deny"\ntool = "write_file"\npath = ["legacy-${i}/**"]`,
    (i: number) => `decision = "ask"\ntool = "read_file"\npath = ["private-${i}/**", "**/*.secret${i}"]`,
    (i: number) => `decision = "allow"\ntool = "run_command"\ncommand = ["make", "target-${i}", "**"]`,
    (i: number) => `decision = "deny"\ntool = "http"\nhost = ["*.tracker-${i}.example"]`,
  ]
  return Array.from({ length: count }, (_, i) => {
    const body = kinds[i % kinds.length]?.(i) ?? ''
    return `[[permissions.rules]]\nid = "rule-${i}"\n${body}\n`
  }).join('\n')
}

function inTurn<T>(values: readonly T[]): () => T {
  let at = -1
  return () => {
    at = (at + 1) % values.length
    // Taken from within the list, which is not empty.
    return values[at] as T
  }
}
