import { existsSync, readdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { checkRules } from './check-rules.ts'
import { describeConfigError } from './config/describe-error.ts'
import type { Environment } from './config/environment.ts'
import { inspectConfig, type LoadedConfig, type LoadOptions } from './config/load.ts'
import { noApprover } from './core/approval.ts'
import { counted } from './core/counted.ts'
import { checkDatabase, checkModels, fixFileMode } from './doctor-services.ts'
import { createIsolates } from './sandbox/isolate/isolates.ts'
import { overlayProblem } from './sandbox/layer/overlay.ts'
import { findAbandonedRuns } from './sandbox/layer/run-folder.ts'
import { createProcesses } from './sandbox/processes/processes.ts'
import { detectSandbox, type Wall } from './sandbox/walls/detect.ts'
import { findUsableSystem } from './sandbox/walls/detect-usable.ts'
import { verifyLogs } from './store/audit/verify.ts'
import { logFolders, placesFor } from './store/places.ts'

export interface DoctorContext {
  /** Where and how the configuration is looked for. */
  readonly load: LoadOptions
  readonly version: string
}

export interface Diagnosis {
  readonly overall: 'ok' | 'warn' | 'fail'
  readonly checks: readonly Check[]
}

/** Looks at everything Kogu needs. Changes nothing. */
export async function diagnose(context: DoctorContext): Promise<Diagnosis> {
  const found = await runChecks(context)
  const checks = found.map(({ fix, ...check }) => check)
  const has = (status: Check['status']): boolean => checks.some(check => check.status === status)
  return { overall: has('fail') ? 'fail' : has('warn') ? 'warn' : 'ok', checks }
}

/** Does what can be done without a decision of the person. What was done, and what could not be. */
export async function repair(context: DoctorContext): Promise<{ id: string; done: string }[]> {
  const done: { id: string; done: string }[] = []
  for (const { id, fix } of await runChecks(context)) {
    if (fix !== undefined) done.push({ id, done: await fix().catch(error => `not done: ${String(error)}`) })
  }
  return done
}

export interface Check {
  readonly id: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly summary: string
  readonly remedy?: string
  readonly ms: number
}

export interface Finding extends Omit<Check, 'id' | 'ms'> {
  /** Repairs it, and says what it did. */
  fix?(): Promise<string>
}
type Probe = (context: DoctorContext) => Promise<Finding[]> | Finding[]

const PROBES: Readonly<Record<string, Probe>> = {
  runtime: checkRuntime,
  config: checkConfig,
  audit: checkAudit,
  system: checkSystem,
  sandbox: checkSandbox,
  isolate: checkIsolate,
  models: ({ load }) => withConfig(load, loaded => checkModels(loaded, load.environment)),
  database: ({ load }) => checkDatabase(load.environment),
  recovery: checkLeftovers,
  disk: checkDisk,
}

/** A probe that hangs is a finding, not a hanging doctor. */
const PROBE_MS = 3000

async function withConfig(
  load: LoadOptions,
  check: (loaded: LoadedConfig) => Promise<Finding[]>,
): Promise<Finding[]> {
  const { loaded } = inspectConfig(load)
  return loaded === undefined ? [] : check(loaded)
}

async function runChecks(context: DoctorContext): Promise<(Check & Pick<Finding, 'fix'>)[]> {
  const results = await Promise.all(
    Object.entries(PROBES).map(async ([id, probe]) => {
      const started = performance.now()
      const findings = await withLimit(probe, context)
      const ms = Math.round(performance.now() - started)
      return findings.map(finding => ({ id, ...finding, ms }))
    }),
  )
  return results.flat()
}

async function withLimit(probe: Probe, context: DoctorContext): Promise<Finding[]> {
  const late = Promise.withResolvers<Finding[]>()
  const timer = setTimeout(() => {
    late.resolve([{ status: 'warn', summary: `did not answer within ${PROBE_MS / 1000} s` }])
  }, PROBE_MS)
  try {
    return await Promise.race([Promise.resolve(context).then(probe), late.promise])
  } catch (error) {
    return [{ status: 'fail', summary: error instanceof Error ? error.message : String(error) }]
  } finally {
    clearTimeout(timer)
  }
}

function checkRuntime({ load: { environment }, version }: DoctorContext): Finding[] {
  const summary = `node ${process.versions.node}, kogu ${version}, ${process.platform} ${process.arch}`
  const inside = environment.insideCall
  if (inside === undefined) return [{ status: 'ok', summary }]
  return [
    {
      status: 'warn',
      summary: `${summary}; started from inside a Kogu call: it cannot approve, trust or undo`,
    },
  ]
}

async function checkConfig(context: DoctorContext): Promise<Finding[]> {
  const { files, errors: found, warnings: noticed, loaded } = inspectConfig(context.load)
  const rules =
    loaded === undefined
      ? { errors: found, warnings: [] }
      : await checkRules(context.load.environment, loaded)
  const { errors } = rules
  const warnings = [...noticed, ...rules.warnings]
  const used = files.filter(file => file.status !== 'missing').length
  const untrusted = loaded?.trust.status === 'untrusted' || loaded?.trust.status === 'changed'
  return [
    ...errors.map(error => ({ status: 'fail' as const, summary: describeConfigError(error) })),
    ...warnings.map(warning => ({
      status: 'warn' as const,
      summary: warning.message,
      ...(/other users can write it/.test(warning.message) && warning.file !== undefined
        ? fixFileMode(warning.file)
        : {}),
    })),
    ...(untrusted
      ? [
          {
            status: 'warn' as const,
            summary: 'the project files are not trusted: only settings that make things stricter are used',
            remedy: 'kogu config trust',
          },
        ]
      : []),
    ...(errors.length === 0 ? [{ status: 'ok' as const, summary: `${used} files` }] : []),
  ]
}

async function checkAudit(context: DoctorContext): Promise<Finding[]> {
  const { loaded } = inspectConfig(context.load)
  if (loaded === undefined) return [{ status: 'warn', summary: 'not checked: the configuration has errors' }]
  const places = placesFor(loaded.workspace.root, context.load.environment.directories.state)
  const where = places.inWorkspace ? '.kogu/audit' : places.audit
  if (places.logs.every(({ directory }) => !existsSync(directory)))
    return [{ status: 'ok', summary: `nothing recorded yet (${where})` }]
  const report = await verifyLogs(places)
  const [problem] = report.problems
  if (problem !== undefined)
    return [{ status: 'fail', summary: problem.message, remedy: 'kogu audit verify' }]
  return [
    { status: 'ok', summary: `${report.events} events, chain intact (${logFolders(places).join(', ')})` },
  ]
}

const PARTS = [{ program: 'git', use: 'git tools', package: 'git' }]

/** Tries the walls for real: that bubblewrap is installed does not mean that it may be used here. */
async function checkSandbox(context: DoctorContext): Promise<Finding[]> {
  const { loaded } = inspectConfig(context.load)
  const processes = createProcesses({ spawner: 'direct' })
  try {
    const { walls, available } = await detectSandbox(processes)
    const findings: Finding[] = walls.map(({ name, ok, detail }) => ({
      status: ok ? 'ok' : 'warn',
      summary: `${name}: ${detail}`,
    }))
    if (!available) return [...findings, noSandbox(loaded?.config.sandbox.required === true)]
    return loaded === undefined ? findings : [...findings, howCommandsRun(loaded, walls)]
  } finally {
    await processes.close()
  }
}

/** Which of the two holds here, and why. */
function howCommandsRun({ config, workspace }: LoadedConfig, walls: readonly Wall[]): Finding {
  const asked = 'command lines ask before they run'
  if (config.permissions.commands === 'ask')
    return { status: 'ok', summary: `${asked}: permissions.commands = "ask"` }
  const unfiltered = walls.find(({ name, ok }) => name === 'system calls' && !ok)?.detail
  const problem = unfiltered ?? overlayProblem(workspace.root)
  if (problem !== null) return { status: 'warn', summary: `${asked}: ${problem}` }
  return { status: 'ok', summary: 'command lines run contained, then their changes are judged' }
}

/** Runs code in an isolate for real: the addon must fit this Node, and the walls must let it start. */
async function checkIsolate(context: DoctorContext): Promise<Finding[]> {
  const { loaded } = inspectConfig(context.load)
  if (loaded?.config.tools.dynamic.enabled === false) return []
  const system = findUsableSystem()
  const isolates = createIsolates(typeof system === 'string' ? undefined : system, 64)
  try {
    const outcome = await isolates.run({
      key: 'doctor',
      code: '() => 42',
      input: '{}',
      timeoutMs: PROBE_MS,
      memoryMb: 64,
      signal: AbortSignal.timeout(PROBE_MS),
      answer: () => Promise.reject(new Error('Nothing is answered.')),
    })
    if (!outcome.ok) {
      const words = outcome.message === '' ? outcome.reason : outcome.message
      return [{ status: 'warn', summary: `tools that models write cannot run here: ${words}` }]
    }
  } finally {
    isolates.close()
  }
  if (typeof system !== 'string')
    return [{ status: 'ok', summary: 'tools that models write run in an isolate, behind the sandbox' }]
  return [
    {
      status: 'warn',
      summary: `tools that models write run in an isolate without a sandbox around it: ${system}`,
      remedy: "install the package 'bubblewrap' and allow it to create user namespaces",
    },
  ]
}

/** What follows for commands, so that nobody has to find out by a refusal. */
function noSandbox(required: boolean): Finding {
  const summary = required
    ? 'no sandbox, so no command runs ([sandbox] required = true)'
    : 'no sandbox: commands that are not read-only ask every time, whatever rules and grants say, and cannot be undone'
  return {
    status: required ? 'fail' : 'warn',
    summary,
    remedy: "install the package 'bubblewrap' and allow it to create user namespaces",
  }
}

/** What a Kogu that was killed left behind; the next call cleans it up. */
async function checkLeftovers(context: DoctorContext): Promise<Finding[]> {
  const { loaded } = inspectConfig(context.load)
  if (loaded === undefined) return []
  const places = placesFor(loaded.workspace.root, context.load.environment.directories.state)
  const { overlays, undo, temporary } = places
  const names = existsSync(undo) ? readdirSync(undo, { recursive: true, encoding: 'utf8' }) : []
  const pending = names.filter(name => /(^|\/)pending\/[^/]+\.jsonl$/.test(name)).length
  const layers = existsSync(overlays) ? readdirSync(overlays) : []
  // Those with a note wait for an answer.
  const calls = layers.filter(name => !existsSync(join(overlays, name, 'held.json'))).length + pending
  const folders = findAbandonedRuns(temporary).length
  if (calls + folders === 0) return [{ status: 'ok', summary: 'no interrupted calls' }]
  const found = [
    ...(calls === 0 ? [] : [counted(calls, 'interrupted or running call')]),
    ...(folders === 0
      ? []
      : [counted(folders, 'temporary folder of a killed process', 'temporary folders of killed processes')]),
  ]
  return [
    {
      status: 'warn',
      summary: found.join(', '),
      remedy: 'kogu doctor --fix, or the next kogu call',
      fix: () => cleanUp(loaded, context.load.environment),
    },
  ]
}

async function cleanUp(loaded: LoadedConfig, environment: Environment): Promise<string> {
  const { createRuntime } = await import('./runtime.ts')
  const runtime = await createRuntime({ loaded, environment, approver: noApprover('nothing is called') })
  try {
    const said = await runtime.recover()
    return said.length === 0 ? 'cleaned up' : said.join(' ')
  } finally {
    await runtime.close()
  }
}

function checkSystem({ load: { environment } }: DoctorContext): Finding[] {
  return PARTS.map(({ program, use, package: name }) => {
    const found = environment.path.map(folder => join(folder, program)).find(path => existsSync(path))
    if (found !== undefined) return { status: 'ok', summary: `${program} (${use})` }
    return {
      status: 'warn',
      summary: `${program} is missing (${use})`,
      remedy: `install the package '${name}'`,
    }
  })
}

const LITTLE_SPACE = 1024 ** 3

function checkDisk(context: DoctorContext): Finding[] {
  const { bavail, bsize } = statfsSync(context.load.cwd)
  const free = bavail * bsize
  const summary = `${(free / 1024 ** 3).toFixed(1)} GB free`
  return [
    free < LITTLE_SPACE
      ? { status: 'warn', summary, remedy: 'free some disk space: undo needs up to 1 GB' }
      : { status: 'ok', summary },
  ]
}
