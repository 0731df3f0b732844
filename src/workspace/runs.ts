import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { type Authority, narrow } from '../core/authority.ts'
import { isSystemError, ToolError } from '../core/errors.ts'
import { makeFolders } from '../core/make-folders.ts'
import { createRun, type Run, type RunOptions } from '../core/run.ts'
import type { Seal } from '../core/seal.ts'
import { writeWhole } from '../core/write-whole.ts'
import { openRunLabels } from './run-labels.ts'
import { openRunSpending } from './run-spending.ts'

/** More receipts than this are not kept; the oldest go. A forgotten one only means that a file is read again. */
const MAX_RECEIPTS = 20_000

const commands = { timeoutMs: z.number().exactOptional() }
const savedAuthority = z.object({
  agent: z.string().exactOptional(),
  mode: z.enum(['read-only', 'auto', 'ask', 'accept-edits']),
  writeScope: z.array(z.string()),
  tools: z.union([z.literal('all'), z.array(z.string())]),
  commands: z.union([
    z.object({ ...commands, profile: z.literal('shell') }),
    z.object({
      ...{ ...commands, profile: z.literal('restricted'), allowed: z.array(z.string()) },
      forTools: z.literal(true).exactOptional(),
    }),
  ]),
  git: z.enum(['disabled', 'read-only', 'read-write']),
  hosts: z.union([z.literal('any'), z.array(z.string())]),
  limits: z.object({
    timeMs: z.number().exactOptional(),
    calls: z.number().exactOptional(),
    money: z.number().exactOptional(),
  }),
  confirm: z.literal(true).exactOptional(),
})

const savedLabel = z.object({
  origin: z.enum(['workspace', 'outside', 'command', 'web', 'mcp', 'dynamic', 'kogu', 'other']),
  trusted: z.boolean(),
  source: z.string().exactOptional(),
})

const savedRun = z.object({
  format: z.literal(1),
  authority: savedAuthority.optional(),
  /** Wall clock: the time of a run goes on while no process has it. */
  startedAt: z.number().exactOptional(),
  // Both also stand in files that are only appended to and have no seal: what was there once is not forgotten when a
  // checkout puts other files in their place.
  spent: z.object({ calls: z.number(), money: z.number() }).default({ calls: 0, money: 0 }),
  labels: z.array(savedLabel).default([]),
  receipts: z.array(z.tuple([z.string(), z.string()])),
  partialViews: z.array(z.tuple([z.string(), z.string(), z.array(z.tuple([z.int(), z.int()]))])).default([]),
  cwd: z.string().optional(),
  variables: z.record(z.string(), z.string()),
})

/** Sealed, because an agent's name in a file that came with a repository would open the rules for that agent. */
export interface RunsFolder {
  readonly directory: string
  readonly seal: Seal
}

/**
 * The run of an earlier process, or a new one under this id. It has no more authority than it was opened with: whoever
 * knows its id could otherwise have its next call judged under more.
 */
export async function loadRun(
  { directory, seal }: RunsFolder,
  id: string,
  options: RunOptions,
): Promise<Run> {
  const path = runPath(directory, id)
  const kept = openRunLabels(path.replace(/json$/, 'labels'))
  const saved = await readSaved(path, seal)
  const spending = openRunSpending(path.replace(/json$/, 'spent'), saved?.spent)
  const authority = narrow(options.authority, saved?.authority ?? {})
  const began = saved?.startedAt === undefined ? {} : { startedAt: saved.startedAt }
  const run = createRun(id, { ...options, ...began, authority, kept, spending, isNamed: true })
  spending.refresh(run.spent)
  run.labels.push(...(saved?.labels ?? []))
  kept.refresh(run.labels)
  if (saved === undefined) return run
  for (const [file, hash] of saved.receipts) run.receipts.set(file, hash)
  for (const [file, sha256, lines] of saved.partialViews) run.partialViews.set(file, { sha256, lines })
  for (const [name, value] of Object.entries(saved.variables)) run.variables.set(name, value)
  if (saved.cwd !== undefined) run.cwd = saved.cwd
  return run
}

/** Of two processes that save the same run at once, the later one wins; what was used up and what entered is not lost. */
export async function saveRun({ directory, seal }: RunsFolder, run: Run): Promise<void> {
  const path = runPath(directory, run.id)
  const earlier = await readSaved(path, seal)
  const saved: z.input<typeof savedRun> = {
    format: 1,
    // As it was opened: a later process with another mode narrows its own calls and not those of the next one.
    authority: earlier?.authority ?? copyOf(run.authority),
    startedAt: earlier?.startedAt ?? run.startedAt,
    spent: {
      calls: Math.max(run.spent.calls, earlier?.spent.calls ?? 0),
      money: Math.max(run.spent.money, earlier?.spent.money ?? 0),
    },
    labels: run.labels,
    receipts: [...run.receipts.entries()].slice(-MAX_RECEIPTS),
    partialViews: [...run.partialViews]
      .slice(-MAX_RECEIPTS)
      .map(([file, { sha256, lines }]) => [file, sha256, lines.map(([first, end]) => [first, end])]),
    ...(run.cwd === undefined ? {} : { cwd: run.cwd }),
    variables: Object.fromEntries(run.variables),
  }
  makeFolders(directory)
  writeWhole(path, seal.add(JSON.stringify(saved)))
}

/** With lists that a schema may own. */
function copyOf(authority: Authority): z.input<typeof savedAuthority> {
  return structuredClone(authority) as z.input<typeof savedAuthority>
}

/** The id becomes the name of a file, so it may not lead anywhere else. */
function runPath(directory: string, id: string): string {
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(id)) {
    throw new ToolError('invalid_input', `Not a valid run id: ${JSON.stringify(id.slice(0, 100))}`, {
      hint: 'Use up to 64 letters, digits, dots, dashes and underscores; not a dot at the start.',
    })
  }
  return join(directory, `${id}.json`)
}

async function readSaved(path: string, seal: Seal): Promise<z.output<typeof savedRun> | undefined> {
  const text = await readIfThere(path)
  return text === undefined ? undefined : parse(seal.open(text), path)
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}

function parse(text: string | undefined, path: string): z.output<typeof savedRun> {
  try {
    return savedRun.parse(JSON.parse(text ?? ''))
  } catch (cause) {
    throw new ToolError('failed', `The saved run cannot be read: ${path}`, {
      hint: 'Remove the file, or use another run id.',
      cause,
    })
  }
}
