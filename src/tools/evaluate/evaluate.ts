import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { counted } from '../../core/counted.ts'
import { toShellLine } from '../../core/shell-words.ts'
import type { ToolContext, ToolOutput } from '../../core/tool.ts'
import { countFindings, type Findings } from './count-findings.ts'
import { CHECKS, type Check, findChecks } from './find-checks.ts'
import { readHistory, writeHistory } from './history.ts'
import type { EvaluateInput, EvaluateParts } from './self-eval.ts'

export interface CheckResult extends Findings {
  readonly passed: boolean
  readonly command?: string
  readonly exit_code?: number | null
  readonly stdout?: string
  readonly stderr?: string
  readonly error?: string
  /** There is no command for it. */
  readonly skipped?: true
  /** It was not run, because that was refused or is not possible. */
  readonly not_run?: true
  readonly duration_ms: number
  /** False if a person or a rule did not let its changes stay: it ran all the same. */
  readonly changes_kept?: boolean
  /** Bytes of what the build left in `dist`, `build` or `out`. */
  readonly bundle_bytes?: number
  /** Against the last time. */
  readonly change?: Readonly<Record<string, number>>
}

const TWO_MINUTES = 120_000

/** One check after another; a failure does not stop the rest. */
export async function evaluate(
  { checks, timeout_ms }: EvaluateInput,
  context: ToolContext,
  parts: EvaluateParts,
): Promise<ToolOutput> {
  const commands = findChecks(context.workspace, parts.commands)
  const before = readHistory(parts.historyPath)
  const results: Partial<Record<Check, CheckResult>> = {}
  const known = CHECKS.filter(check => checks.includes(check))
  const timeoutMs = Math.max(timeout_ms, TWO_MINUTES)
  for (const check of known) {
    context.signal.throwIfAborted()
    const words = commands[check]
    const result = words === undefined ? NO_COMMAND : await runCheck(check, words, timeoutMs, context)
    results[check] = withChange(result, before[check])
  }
  const ran = Object.values(results).filter(result => result.skipped !== true)
  const unknown = checks.filter(name => !CHECKS.some(check => check === name))
  writeHistory(parts.historyPath, { ...before, ...figuresOf(results) })
  return {
    text: [
      ...Object.entries(results).map(([check, result]) => describe(check, result)),
      ...(unknown.length === 0 ? [] : [`Not checks, so they were skipped: ${unknown.join(', ')}.`]),
    ].join('\n'),
    data: {
      all_passed: ran.length > 0 && ran.every(({ passed }) => passed),
      checks: results,
      total_checks: checks.length,
    },
    label: { origin: 'command', trusted: false },
    ...verdictOf(results),
  }
}

/** That nothing was checked is no success, and no failure either. */
function verdictOf(results: Partial<Record<Check, CheckResult>>): Pick<ToolOutput, 'verdict'> {
  const ran = Object.entries(results).filter(([, { skipped }]) => skipped !== true)
  if (ran.length === 0)
    return { verdict: { is: 'unknown', why: 'Nothing was checked: no command was found for any check.' } }
  const failed = ran.filter(([, { passed }]) => !passed)
  if (failed.length === 0) return {}
  const why = failed.map(([check, result]) => describe(check, result)).join('\n')
  return { verdict: { is: 'failed', why } }
}

const NO_COMMAND: CheckResult = {
  passed: false,
  skipped: true,
  error: 'No command found. Set one: [tools.self_eval]',
  duration_ms: 0,
}

const RAN = z.object({
  exit_code: z.number().nullable(),
  stdout: z.string(),
  stderr: z.string(),
  timed_out: z.boolean(),
  duration_ms: z.number(),
  changes_kept: z.boolean(),
})

async function runCheck(
  check: Check,
  words: readonly string[],
  timeoutMs: number,
  context: ToolContext,
): Promise<CheckResult> {
  const command = toShellLine(words)
  const started = performance.now()
  // A call of its own: judged, walled in, recorded and undone as every command.
  const result = await context.call({
    ...{ tool: 'run_command', input: { command, timeout_ms: timeoutMs } },
    ...{ caller: 'self_eval', isPart: true, onProgress: context.progress },
  })
  const elapsed = Math.round(performance.now() - started)
  const ran = RAN.safeParse(result.data)
  if (!result.ok || !ran.success) {
    const error = result.error?.message ?? 'The command gave no result.'
    return { passed: false, not_run: true, command, error, duration_ms: elapsed }
  }
  const { exit_code, stdout, stderr, timed_out, duration_ms, changes_kept } = ran.data
  if (timed_out) return { passed: false, command, error: 'Timeout', duration_ms }
  const passed = exit_code === 0
  const bundle = check === 'build' && passed ? bundleBytes(context.workspace) : undefined
  return {
    passed,
    command,
    exit_code,
    stdout: cut(stdout),
    stderr: cut(stderr),
    duration_ms,
    changes_kept,
    ...countFindings(`${stdout}\n${stderr}`),
    ...(bundle === undefined ? {} : { bundle_bytes: bundle }),
  }
}

const SHOWN = 5000

/** The beginning says what ran, the end what came of it. */
function cut(text: string): string {
  if (text.length <= SHOWN) return text
  const mark = `\n… ${text.length - SHOWN} characters left out …\n`
  return `${text.slice(0, 1000)}${mark}${text.slice(-(SHOWN - 1000 - mark.length))}`.toWellFormed()
}

const MOST_FILES = 20_000

function bundleBytes(workspace: string): number | undefined {
  for (const name of ['dist', 'build', 'out']) {
    try {
      const entries = readdirSync(join(workspace, name), { recursive: true, withFileTypes: true })
      const files = entries.filter(entry => entry.isFile())
      if (files.length === 0 || files.length > MOST_FILES) continue
      return files.reduce((total, file) => total + statSync(join(file.parentPath, file.name)).size, 0)
    } catch {
      // Not there, or it changed just now.
    }
  }
  return undefined
}

export type Figures = Readonly<Record<string, number>>

function figuresOf(results: Partial<Record<Check, CheckResult>>): Partial<Record<Check, Figures>> {
  const ran = Object.entries(results).filter(
    ([, { skipped, exit_code }]) => skipped !== true && exit_code !== undefined,
  )
  return Object.fromEntries(ran.map(([check, result]) => [check, figures(result)]))
}

function figures({ errors, warnings, tests, bundle_bytes }: CheckResult): Figures {
  const all = { errors, warnings, failed_tests: tests?.failed, passed_tests: tests?.passed, bundle_bytes }
  return Object.fromEntries(Object.entries(all).filter(each => each[1] !== undefined)) as Figures
}

function withChange(result: CheckResult, before: Figures | undefined): CheckResult {
  if (before === undefined || result.exit_code === undefined) return result
  const changes = Object.entries(figures(result)).flatMap(([name, value]) => {
    const old = before[name]
    return old === undefined || old === value ? [] : [[name, value - old] as const]
  })
  return changes.length === 0 ? result : { ...result, change: Object.fromEntries(changes) }
}

/** Each check begins a line, and only it: what it printed is set in, so it cannot pass for what another check said. */
const describe = (check: string, result: CheckResult): string =>
  describeLines(check, result).replaceAll('\n', '\n  ')

function describeLines(check: string, result: CheckResult): string {
  const {
    passed,
    skipped,
    not_run,
    error,
    tests,
    errors,
    warnings,
    duration_ms,
    exit_code,
    change,
    bundle_bytes,
  } = result
  if (skipped === true) return `${check}: skipped. ${error}`
  if (not_run === true) return `${check}: could not run. ${error}`
  const facts = [
    errors === undefined ? '' : counted(errors, 'error'),
    warnings === undefined ? '' : counted(warnings, 'warning'),
    tests === undefined ? '' : `${tests.passed} passed, ${tests.failed} failed`,
    bundle_bytes === undefined ? '' : `${counted(bundle_bytes, 'byte')} built`,
    ...Object.entries(change ?? {}).map(describeChange),
    result.changes_kept === false ? 'its changes were not kept' : '',
    error ?? '',
  ].filter(fact => fact !== '')
  const head = `${check}: ${passed ? 'passed' : 'failed'} in ${(duration_ms / 1000).toFixed(1)} s`
  const output =
    passed || exit_code === undefined
      ? ''
      : `\n${[result.stdout, result.stderr].filter(Boolean).join('\n').trim()}`
  return `${head}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}${output}`
}

const NOUNS: Readonly<Record<string, string>> = {
  errors: 'error',
  warnings: 'warning',
  failed_tests: 'failed test',
  passed_tests: 'passed test',
  bundle_bytes: 'byte',
}

function describeChange([name, difference]: [string, number]): string {
  const amount = counted(Math.abs(difference), NOUNS[name] ?? name)
  const isFound = name === 'errors' || name === 'warnings' || name === 'failed_tests'
  if (difference > 0) return isFound ? amount.replace(' ', ' new ') : `${amount} more`
  return `${amount} fewer`
}
