import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ToolError } from '../core/errors.ts'
import { toBlock, toLine } from '../core/visible.ts'
import type { Runtime } from '../runtime.ts'
import { type CommandContext, flag, textOption, UsageError, unknownVerb } from './command.ts'
import { confirmed } from './confirm.ts'
import { EXIT } from './exit-codes.ts'
import { openRuntime } from './open-runtime.ts'
import { table } from './output.ts'

type LifeCycle = NonNullable<Runtime['dynamic']>
type CodeContext = Parameters<LifeCycle['verify']>[1]
type Verification = Awaited<ReturnType<LifeCycle['verify']>>

const VERBS = ['list', 'show', 'verify', 'edit', 'promote', 'quarantine', 'deprecate', 'export', 'import']
/** What makes, changes or widens a tool is a person's to do, never a command's that an agent started. */
const FOR_PERSONS = new Set(['edit', 'promote', 'quarantine', 'deprecate', 'import'])

/** `kogu tools dynamic …`: the life of tools that models made. */
export async function dynamicTools(context: CommandContext): Promise<number> {
  const [, verb = 'list', name] = context.positionals
  if (!VERBS.includes(verb)) throw unknownVerb('tools dynamic', verb, VERBS)
  if (FOR_PERSONS.has(verb) && context.environment.insideCall !== undefined)
    throw new ToolError('denied', 'Dynamic tools cannot be changed from inside a Kogu call.')
  const runtime = await openRuntime(context)
  try {
    const life = runtime.dynamic
    if (life === undefined)
      throw new ToolError('not_enabled', 'Dynamic tools are off.', {
        hint: 'Set [tools.dynamic] enabled = true.',
      })
    if (verb === 'list') return list(context, life)
    const wanted = name ?? missingName(verb)
    if (verb === 'show') return show(context, life, wanted)
    if (verb === 'verify')
      return report(context, await life.verify(wanted, await codeContext(context, runtime)))
    if (verb === 'edit') return report(context, await edit(context, life, wanted, runtime))
    if (verb === 'promote')
      return done(context, `${(await life.promote(wanted)).name} is a tool of all your workspaces now.`)
    if (verb === 'deprecate')
      return done(
        context,
        `${(await life.deprecate(wanted)).name} is deprecated: it still runs, and its description says so.`,
      )
    if (verb === 'quarantine') return await quarantine(context, life, wanted)
    if (verb === 'export') return exportTool(context, life, wanted)
    const text = readFileSync(resolve(context.cwd, wanted), 'utf8')
    return report(context, await life.import(text, await codeContext(context, runtime), consentOf(context)))
  } finally {
    await runtime.close()
  }
}

function missingName(verb: string): never {
  throw new UsageError(
    verb === 'import' ? 'Which file?' : 'Which tool?',
    `For example: kogu tools dynamic ${verb} NAME`,
  )
}

async function codeContext({ signal }: CommandContext, runtime: Runtime): Promise<CodeContext> {
  const run = await runtime.openRun()
  const { workspace, cwd } = runtime
  return { callId: `verify_${randomUUID()}`, caller: 'cli', run, cwd, workspace, signal }
}

function consentOf(context: CommandContext): (wishes: string) => Promise<boolean> {
  return async wishes => {
    const allows = flag(context.values, 'yes') || (await confirmed(context, `Allow ${toLine(wishes)}?`))
    if (!allows) context.output.note('Nothing was changed. To go ahead, add --yes.')
    return allows
  }
}

function list({ output }: CommandContext, life: LifeCycle): number {
  for (const problem of life.problems())
    output.note(`${output.noteStyle('yellow', 'warning:')} ${toLine(problem)}`)
  for (const words of life.attention()) output.note(`${output.noteStyle('yellow', 'look:')} ${toLine(words)}`)
  const stored = life.list()
  if (output.json) {
    output.object(stored.map(({ tool, scope }) => ({ ...tool, scope, metrics: life.metrics(tool) })))
    return EXIT.ok
  }
  const rows = stored.map(({ tool, scope }) => [
    toLine(tool.name),
    tool.id,
    String(tool.version),
    scope,
    tool.quarantined === undefined ? tool.verificationStatus : 'quarantined',
    tool.safety.score.toFixed(2),
    tool.quality.score.toFixed(2),
    tool.confidenceScore.toFixed(2),
    String(tool.usageCount),
  ])
  output.data(
    table([['NAME', 'ID', 'VERSION', 'SCOPE', 'STATUS', 'SAFETY', 'QUALITY', 'CONFIDENCE', 'USES'], ...rows]),
  )
  return EXIT.ok
}

function show({ output }: CommandContext, life: LifeCycle, name: string): number {
  const { tool, scope } = life.find(name)
  const metrics = life.metrics(tool)
  if (output.json) {
    output.object({ ...tool, scope, metrics })
    return EXIT.ok
  }
  const { network, read, tools } = tool.capabilities
  const rate = metrics.successRate === null ? '-' : `${Math.round(metrics.successRate * 100)} %`
  output.data(
    [
      `${toLine(tool.name)}  ${tool.id}  version ${tool.version}  ${scope}`,
      toBlock(tool.description),
      '',
      `status      ${tool.quarantined === undefined ? tool.verificationStatus : `quarantined: ${toLine(tool.quarantined)}`}`,
      `safety      ${tool.safety.score.toFixed(2)}  ${tool.safety.issues.map(({ type, line }) => `${type} (line ${line})`).join(', ')}`,
      `quality     ${tool.quality.score.toFixed(2)}  ${tool.quality.issues.map(({ rule, line }) => `${rule} (line ${line})`).join(', ')}`,
      `confidence  ${tool.confidenceScore.toFixed(2)}`,
      `network     ${toLine(network.join(', ')) || '-'}`,
      `read        ${toLine(read.join(', ')) || '-'}`,
      `tools       ${toLine(tools.join(', ')) || '-'}`,
      `runs        ${metrics.runs} kept of ${tool.usageCount}, success ${rate}, median ${metrics.medianMs ?? '-'} ms`,
      ...Object.entries(metrics.errors).map(([kind, count]) => `            ${kind}: ${count}`),
      ...tool.previous.map(
        old =>
          `version ${old.version}   ${old.id}  safety ${old.safetyScore.toFixed(2)}, quality ${old.qualityScore.toFixed(2)}`,
      ),
      '',
      toBlock(tool.code),
    ].join('\n'),
  )
  return EXIT.ok
}

async function edit(
  context: CommandContext,
  life: LifeCycle,
  name: string,
  runtime: Runtime,
): Promise<Verification> {
  const file = textOption(context.values, 'code')
  const description = textOption(context.values, 'description')
  if (file === undefined && description === undefined)
    throw new UsageError('Say what changes: --code FILE or --description TEXT.')
  const change = {
    ...(file === undefined ? {} : { code: readFileSync(resolve(context.cwd, file), 'utf8') }),
    ...(description === undefined ? {} : { description }),
  }
  return await life.edit(name, change, await codeContext(context, runtime), consentOf(context))
}

/** What a version is worth, beside the one before it. */
function report({ output }: CommandContext, { tool, passed, total, failures }: Verification): number {
  const before = tool.previous.at(-1)
  if (output.json) output.object({ tool, passed, total, failures })
  else {
    const was =
      before === undefined
        ? ''
        : ` (version ${before.version}: safety ${before.safetyScore.toFixed(2)}, quality ${before.qualityScore.toFixed(2)})`
    output.data(
      [
        `${toLine(tool.name)}  ${tool.id}  version ${tool.version}  ${tool.verificationStatus}`,
        `safety ${tool.safety.score.toFixed(2)}, quality ${tool.quality.score.toFixed(2)}${was}`,
        `examples: ${passed} of ${total} passed`,
        ...failures.map(line => `  ${toLine(line)}`),
      ].join('\n'),
    )
  }
  return failures.length === 0 ? EXIT.ok : EXIT.failed
}

async function quarantine(context: CommandContext, life: LifeCycle, name: string): Promise<number> {
  const isLifted = flag(context.values, 'lift')
  const reason = isLifted ? undefined : (textOption(context.values, 'reason') ?? 'by hand')
  const tool = await life.quarantine(name, reason)
  return done(
    context,
    isLifted ? `${tool.name} may run again.` : `${tool.name} is quarantined: it does not run.`,
  )
}

function exportTool(context: CommandContext, life: LifeCycle, name: string): number {
  const [, , , file] = context.positionals
  const text = life.export(name)
  if (file === undefined) context.output.data(text.trimEnd())
  else writeFileSync(resolve(context.cwd, file), text, { flag: 'wx' })
  return EXIT.ok
}

function done({ output }: CommandContext, sentence: string): number {
  if (output.json) output.object({ ok: true })
  else output.data(toLine(sentence))
  return EXIT.ok
}
