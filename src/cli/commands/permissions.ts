import { resolve } from 'node:path'
import { counted } from '../../core/counted.ts'
import type { Outcome } from '../../core/decision.ts'
import { toBlock, toLine } from '../../core/visible.ts'
import { grantedWords } from '../../permissions/command-grants.ts'
import { describeGrant, type Grant } from '../../permissions/grants.ts'
import { type DryRunReport, dryRun } from '../../permissions/rules/dry-run.ts'
import { lintRules } from '../../permissions/rules/lint.ts'
import type { Rule } from '../../permissions/rules/rules.ts'
import type { Runtime } from '../../runtime.ts'
import { readCalls } from '../../store/audit/calls.ts'
import { logFolders } from '../../store/places.ts'
import {
  type Command,
  type CommandContext,
  countOption,
  flag,
  textOption,
  UsageError,
  unknownVerb,
} from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openRuntime } from '../open-runtime.ts'
import { table } from '../output.ts'
import { readCallInput } from '../read-input.ts'
import { readTime } from '../read-time.ts'

export const permissions: Command = {
  help: `
List and test rules, try other rules on recorded calls, and manage remembered answers.

  kogu permissions list
  kogu permissions test run_command '{"command":"npm test"}' --exit-code    0 allow, 20 ask, 21 deny
  kogu permissions explain call_4f9c…                       what decided a recorded call
  kogu permissions dry-run --file new.toml --since 30d      judge recorded calls again with other rules; runs nothing
  kogu permissions dry-run --file new.toml --fail-on 'deny->allow'
  kogu permissions dry-run --mode auto                      the rules you have, in another mode
  kogu permissions lint                                     find rules that have no effect; exit 3 if there are any
  kogu permissions grants list | revoke ID | export         remembered answers; export prints them as rules

Order: hard limits, then deny, ask, allow over all files (the strictest wins), then grants, then the mode.
`,
  options: {
    mode: { type: 'string' },
    'exit-code': { type: 'boolean' },
    file: { type: 'string' },
    since: { type: 'string' },
    tool: { type: 'string' },
    limit: { type: 'string' },
    'fail-on': { type: 'string', multiple: true },
  },
  words: { list: 1, test: 3, explain: 2, 'dry-run': 1, lint: 1, grants: 3 },
  async run(context) {
    const [verb = 'list', ...rest] = context.positionals
    if (verb === 'dry-run') return tryRules(context)
    const runtime = await openRuntime(context)
    try {
      switch (verb) {
        case 'list':
          return list(context, runtime.rules)
        case 'test':
          return await test(context, runtime, rest)
        case 'explain':
          return await explain(context, runtime, rest[0])
        case 'lint':
          return lint(context, runtime)
        case 'grants':
          return await grants(context, runtime, rest)
        default:
          throw unknownVerb('permissions', verb, ['list', 'test', 'explain', 'dry-run', 'lint', 'grants'])
      }
    } finally {
      await runtime.close()
    }
  },
}

function list({ output }: CommandContext, rules: readonly Rule[]): number {
  const rows = rules.map(({ decision, ref, reason }) => ({ ...ref, decision, reason: reason ?? null }))
  if (output.json) output.object(rows)
  else if (rows.length === 0)
    output.note('Only the built-in rules are in force. See: kogu permissions --help')
  else
    output.data(
      table(
        rows.map(row => [
          toLine(row.id),
          row.decision,
          toLine(row.text),
          toLine(`${row.source}:${row.line ?? ''}`),
          toLine(row.reason ?? ''),
        ]),
      ),
    )
  return EXIT.ok
}

const EXIT_OF_OUTCOME: Readonly<Record<Outcome, number>> = { allow: 0, ask: 20, deny: 21 }

async function test(
  context: CommandContext,
  runtime: Runtime,
  [tool, json]: readonly string[],
): Promise<number> {
  if (tool === undefined)
    throw new UsageError('Which tool?', `kogu permissions test run_command '{"command":"ls"}'`)
  const explanation = await runtime.explain({ tool, input: await readCallInput(json, context) })
  const { output } = context
  const { decision, reasons, ref } = explanation
  if (output.json) output.object(explanation)
  else
    output.data(
      [`${decision}  ${toLine(ref?.id ?? '')}`, ...reasons.map(reason => toBlock(reason))].join('\n'),
    )
  return flag(context.values, 'exit-code') ? EXIT_OF_OUTCOME[decision] : EXIT.ok
}

async function explain(
  { output }: CommandContext,
  { places }: Runtime,
  id: string | undefined,
): Promise<number> {
  if (id === undefined) throw new UsageError('Which call?', 'See: kogu audit list')
  for await (const { finished } of readCalls({ directory: logFolders(places), call: id })) {
    const { tool, decision, access } = finished
    if (output.json) output.object({ call: id, tool, decision, access: access ?? [] })
    else {
      const { outcome, by, ref, reason, also = [] } = decision
      const place =
        ref === null
          ? ''
          : ` ${toLine(ref.id)} (${toLine(ref.source)}${ref.line === undefined ? '' : `:${ref.line}`})`
      const others = also.map(
        other => `  also matched: ${other.outcome} by ${toLine(other.id)}, ${other.why}`,
      )
      output.data(
        [`${outcome}  ${toLine(tool)}`, `  by ${by}${place}: ${toLine(reason)}`, ...others].join('\n'),
      )
    }
    return EXIT.ok
  }
  output.note(`No finished call '${toLine(id)}' is recorded.`)
  if (output.json)
    output.object({ ok: false, error: { code: 'not_found', message: 'No such call.', hint: null } })
  return EXIT.notFound
}

function lint({ output }: CommandContext, runtime: Runtime): number {
  const findings = lintRules(runtime.rules, runtime.registry.names(), Date.now())
  if (output.json) output.object(findings)
  else if (findings.length === 0) output.data(`${runtime.rules.length} rules, no problems found`)
  else
    output.data(
      findings
        .map(({ file, line, kind, message }) => `${toLine(file)}:${line ?? ''}: ${kind}: ${toLine(message)}`)
        .join('\n'),
    )
  return findings.length === 0 ? EXIT.ok : EXIT.config
}

async function grants(context: CommandContext, runtime: Runtime, [verb = 'list', id]: readonly string[]) {
  const { output, environment } = context
  const { grants: store } = runtime
  const all = store.list()
  switch (verb) {
    case 'list':
      if (output.json) output.object(all)
      else if (all.length === 0) output.note('Nothing is remembered.')
      else output.data(table(all.map(toRow)))
      return EXIT.ok
    case 'revoke': {
      if (id === undefined) throw new UsageError('Which one?', 'See: kogu permissions grants list')
      if (environment.insideCall !== undefined)
        throw new UsageError('This is not available inside a Kogu call.')
      const removed = await store.remove(id)
      if (removed) runtime.note('grant-revoked', { grant: id })
      if (output.json) output.object({ ok: removed, id })
      else output.note(removed ? `Revoked ${toLine(id)}.` : `There is no grant '${toLine(id)}'.`)
      return removed ? EXIT.ok : EXIT.notFound
    }
    case 'export':
      output.data(all.map(toToml).join('\n'))
      return EXIT.ok
    default:
      throw new UsageError(`Unknown: kogu permissions grants ${verb}`, 'Use: list | revoke | export')
  }
}

function toRow({ id, decision, workspace, everywhere, spec, expiresAt, user }: Grant): string[] {
  const where = everywhere === true ? 'everywhere' : toLine(workspace)
  return [id, decision, toLine(describeGrant(spec)), where, expiresAt ?? '', toLine(user)]
}

/** A rule that says the same, for a configuration file. An exact call cannot be written as a rule. */
function toToml({ id, decision, spec }: Grant): string {
  const head = `[[permissions.rules]]\nid = ${JSON.stringify(id)}\ndecision = "${decision}"\n`
  switch (spec.kind) {
    case 'exact':
      return `# ${id}: ${decision} ${JSON.stringify(spec.text)} exactly; rules cannot say that.\n`
    case 'command':
      return `${head}tool = "run_command"\ncommand = ${JSON.stringify(grantedWords(spec, '**'))}\n`
    case 'path': {
      const tool = { file_read: 'read_file', file_write: 'write_file', file_delete: 'delete_file' }[
        spec.access
      ]
      return `${head}tool = "${tool}"\npath = ${JSON.stringify([spec.root, `${spec.root}/**`])}\n`
    }
    case 'host':
      return `${head}tool = "http"\nhost = ${JSON.stringify([`${spec.host}:${spec.port}`])}\nmethod = ["${spec.method}"]\n`
    case 'custom':
      return `# ${id}: ${decision} ${JSON.stringify(spec.details)}; rules cannot say that.\n`
  }
}

async function tryRules(context: CommandContext): Promise<number> {
  const { values, output } = context
  const file = textOption(values, 'file')
  if (file === undefined && values.mode === undefined)
    throw new UsageError(
      'Which rules, or which mode?',
      'For example: kogu permissions dry-run --file new.toml, or: kogu permissions dry-run --mode auto',
    )
  const path = file === undefined ? undefined : resolve(context.cwd, file)
  const withFile = path === undefined ? context : { ...context, values: { ...values, config: path } }
  const runtime = await openRuntime(withFile, undefined, path)
  try {
    const since = readTime(textOption(values, 'since') ?? '30d', 'since')
    const tool = textOption(values, 'tool')
    const calls = readCalls({
      directory: logFolders(runtime.places),
      ...(since === undefined ? {} : { since }),
      ...(tool === undefined ? {} : { tool }),
    })
    const report = await dryRun(
      calls,
      runtime.permissions,
      name => runtime.registry.candidates(name)[0],
      runtime.authority,
      textOption(values, 'mode') === undefined ? undefined : runtime.authority.mode,
    )
    const limit = countOption(values, 'limit') ?? 50
    if (output.json) output.object({ ...report, changed: report.changed.slice(0, limit) })
    else output.data(describeReport(report, limit))
    const forbidden = [values['fail-on'] ?? []].flat().map(String)
    return forbidden.some(transition => (report.transitions[transition] ?? 0) > 0) ? EXIT.config : EXIT.ok
  } finally {
    await runtime.close()
  }
}

function describeReport({ calls, changed, transitions, notComparable }: DryRunReport, limit: number): string {
  const counts = Object.entries(transitions).map(
    ([transition, count]) => `  ${transition.padEnd(14)} ${count}`,
  )
  const regretted = changed.filter(change => change.deniedByPerson && change.now === 'allow').length
  const rows = changed
    .slice(0, limit)
    .map(({ at, tool, input, was, now, by }) => [
      at.slice(0, 19).replace('T', ' '),
      `${was} → ${now}`,
      toLine(tool),
      toLine(by),
      toLine(JSON.stringify(input), 80),
    ])
  return [
    `${counted(calls, 'recorded call')}, ${counted(changed.length, 'decision')} would change`,
    ...counts,
    ...(regretted === 0 ? [] : [`  ${regretted} of them were denied by a person and would be allowed`]),
    ...(notComparable === 0
      ? []
      : [`  ${notComparable} not comparable (never judged, or arguments redacted)`]),
    ...(rows.length === 0 ? [] : [table(rows)]),
    ...(changed.length > limit ? [`… ${changed.length - limit} more: --limit ${changed.length}`] : []),
  ].join('\n')
}
